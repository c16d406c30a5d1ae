#include <heatpp_io/stream/save_rows.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/redistribute.hpp>
#include <heatpp_io/detail/elements/save_array.hpp>
#include <heatpp_io/detail/formats.hpp>
#include <heatpp_io/stream/detail/row_pieces.hpp>

#include <algorithm>
#include <numeric>

namespace heatpp::io {

using heatpp::detail::raise;

namespace detail {

const Communicator& comm_of(const RowsToSave& x) { return comm_of(x.comm); }

std::int64_t bytes_of(const RowsToSave& x) { return bytes_of(x.shape, x.dtype); }

void each_piece(const char* op, const RowsToSave& x, std::int64_t unit, const WritePiece& write) {
  const auto both = std::lcm(unit, std::max<std::int64_t>(1, x.unit_rows));
  const auto whole = both <= x.piece_rows ? both : unit;
  const auto step = std::max(whole, x.piece_rows / whole * whole);
  for (std::int64_t first = 0; first < x.shape[0]; first += step) {
    auto expected = x.shape;
    expected[0] = std::min(step, x.shape[0] - first);
    DNDarray rows;
    all_or_none(comm_of(x), [&] { rows = x.rows(first, expected[0]); });
    if (rows.shape() != expected || rows.dtype() != x.dtype)
      raise<ValueError>(op, "got rows of shape {} and {} from row {} on; expected shape {} and {}",
                        heatpp::to_string(rows.shape()), name(rows.dtype()), first, heatpp::to_string(expected),
                        name(x.dtype));
    write(first, !rows.layout().is_grid() && rows.split().value_or(0) == 0 ? rows : resplit(rows, 0));
  }
}

}  // namespace detail

void save_rows(const RowsToSave& x, const std::filesystem::path& path, const SaveOptions& options) {
  constexpr auto op = "save_rows";
  auto settings = detail::settings_of(path, options);
  settings.push_back({"piece_rows", heatpp::detail::formatted("{}", x.piece_rows)});
  heatpp::detail::check_agreed(op, detail::comm_of(x), settings, [&] {
    if (!detail::format_of(path, op).save_rows)
      raise<ValueError>(op, "got \"{}\"; expected a format that is written in pieces, or an array that save() writes",
                        path.string());
    if (x.shape.empty() || options.shards)
      raise<ValueError>(op, "got {}; expected rows for one file", options.shards ? "shards" : "an array without axes");
    if (x.piece_rows < 1) raise<ValueError>(op, "got piece_rows {}; expected 1 or more", x.piece_rows);
  });
  detail::format_of(path, op).save_rows(x, path, options);
}

}  // namespace heatpp::io
