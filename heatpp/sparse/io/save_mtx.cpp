#include <heatpp/comm/detail/numbers/place.hpp>
#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/promotion.hpp>
#include <heatpp/sparse/io/detail/compressed.hpp>
#include <heatpp/sparse/io/files.hpp>
#include <heatpp_io/csv/detail/csv_numbers.hpp>
#include <heatpp_io/detail/elements/save_array.hpp>

#include <ATen/Dispatch.h>
#include <algorithm>

namespace heatpp::sparse {

using namespace detail;

namespace {

constexpr auto op = "save_mtx";
constexpr std::int64_t entries_of_a_piece = std::int64_t{1} << 16;

template <class T>
void append_value(std::string& text, T value) {
  if constexpr (io::detail::ComplexNumber<T>) {
    append_value(text, value.real());
    append_value(text, value.imag());
  } else {
    text.push_back(' ');
    io::detail::append_number(text, value, std::nullopt);
  }
}

/// Returns the lines of entries, in pieces.
std::vector<std::string> lines_of(const Triples& triples) {
  std::vector<std::string> pieces;
  AT_DISPATCH_ALL_TYPES_AND_COMPLEX_AND3(at::kBool, at::kHalf, at::kBFloat16, triples.values.scalar_type(), op, [&] {
    const auto* const row = triples.rows.const_data_ptr<std::int64_t>();
    const auto* const column = triples.columns.const_data_ptr<std::int64_t>();
    const auto* const value = triples.values.template const_data_ptr<scalar_t>();
    for (std::int64_t i = 0; i < triples.count(); ++i) {
      if (i % entries_of_a_piece == 0) pieces.emplace_back();
      auto& text = pieces.back();
      io::detail::append_number(text, row[i] + 1, std::nullopt);
      text.push_back(' ');
      io::detail::append_number(text, column[i] + 1, std::nullopt);
      append_value(text, value[i]);
      text.push_back('\n');
    }
  });
  return pieces;
}

std::string header_of(const DCSRMatrix& a) {
  const auto* const field = is_complex(a.dtype()) ? "complex" : is_floating(a.dtype()) ? "real" : "integer";
  return heatpp::detail::formatted("%%MatrixMarket matrix coordinate {} general\n{} {} {}\n", field, a.rows(),
                                   a.columns(), a.nnz());
}

io::detail::Transfer write_text(const io::detail::SaveJob& job, const DCSRMatrix& a) {
  const auto& comm = a.comm();
  std::vector<std::string> pieces;
  all_or_none(comm, [&] {
    if (comm.rank() == 0) pieces.push_back(header_of(a));
    if (!a.split() && comm.rank() > 0) return;  // rank 0 writes replicated data
    for (auto& piece : lines_of(triples_of(block_of(a), first_row(a)))) pieces.push_back(std::move(piece));
  });
  std::int64_t mine = 0;
  for (const auto& piece : pieces) mine += std::ssize(piece);
  const auto place = heatpp::detail::place_in_whole(comm, mine);
  auto at = place.offset;
  std::optional<io::detail::FileWriter> file;
  all_or_none(comm, [&] {
    file.emplace(job.path, job.shown, op);
    if (comm.rank() == 0) io::detail::Room(job.path, job.shown, op).reserve(place.total);
  });
  all_or_none(comm, [&] {
    for (const auto& piece : pieces) {
      file->write(at, std::ssize(piece), piece.data());
      at += std::ssize(piece);
    }
  });
  return {false, "independent: each rank writes its rows"};
}

}  // namespace

void save_mtx(const DCSRMatrix& a, const std::filesystem::path& path, const SaveOptions& options) {
  check_options(op, options, {});
  const io::detail::Recorder recorder(op);
  const auto bytes = a.nnz() * static_cast<std::int64_t>(itemsize(a.dtype()));
  const io::detail::NewFile file{op, a.comm(), path, bytes};
  recorder.finish(bytes, 1,
                  io::detail::save_one(file, [&](const io::detail::SaveJob& job) { return write_text(job, a); }));
}

}  // namespace heatpp::sparse
