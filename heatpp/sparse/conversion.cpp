#include <heatpp/sparse/conversion.hpp>

#include <heatpp/comm/detail/numbers/place.hpp>
#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/relayout.hpp>
#include <heatpp/core/printing.hpp>
#include <heatpp/ops/operands/index.hpp>
#include <heatpp/sparse/detail/entry_lines.hpp>
#include <heatpp/sparse/detail/placed.hpp>

#include <algorithm>
#include <ostream>

namespace heatpp::sparse {

using namespace detail;

namespace {

/// Cuts before the rows at which the number of entries reaches r / P of all.
std::vector<std::int64_t> even_entries(const DCSRMatrix& a) {
  const auto& row_ptr = block_of(a).row_ptr;
  const std::span<const std::int64_t> ends(row_ptr.const_data_ptr<std::int64_t>() + 1,
                                           static_cast<std::size_t>(row_ptr.numel() - 1));
  const auto mine = heatpp::detail::place_in_whole(a.comm(), a.lnnz());
  const auto ranks = a.comm().size();
  std::vector<std::int64_t> offsets(static_cast<std::size_t>(ranks) + 1, 0);
  for (int r = 1; r < ranks; ++r) {
    const auto wanted = mine.total / ranks * r + mine.total % ranks * r / ranks;
    if (wanted > mine.offset && wanted <= mine.offset + a.lnnz())  // the cut is behind a row of this rank
      offsets[static_cast<std::size_t>(r)] =
          first_row(a) + 1 + (std::ranges::lower_bound(ends, wanted - mine.offset) - ends.begin());
  }
  a.comm().allreduce(offsets);
  offsets.back() = a.rows();
  return offsets;
}

/// Writes one line for each of the first and last entries.
std::string entry_lines(const Coo& coo) {
  constexpr std::int64_t shown = 20;
  const auto n = coo.rows.size();
  std::vector<std::int64_t> places;
  for (std::int64_t i = 0; i < n; ++i) {
    if (i == shown) i = std::max(i, n - shown);
    places.push_back(i);
  }
  const auto wanted = array(places, {.comm = coo.rows.comm()});
  const auto of = [&](const DNDarray& x) {
    const auto taken = x.index({wanted});
    return heatpp::detail::relayout(taken, taken.layout().replicated(taken.shape())).cpu();
  };
  const auto rows = of(coo.rows), columns = of(coo.columns), values = of(coo.values);
  std::string text;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const auto k = static_cast<std::int64_t>(i);
    if (i > 0 && places[i] != places[i - 1] + 1) text += "\n  ...";
    const auto value = values[k];
    const auto number = value.is_complex()
                            ? formatted("{}{:+}j", at::real(value).item<double>(), at::imag(value).item<double>())
                        : at::isFloatingType(value.scalar_type()) ? formatted("{:g}", value.item<double>())
                                                                  : formatted("{}", value.item<std::int64_t>());
    text += formatted("\n  ({}, {})\t{}", rows[k].item<std::int64_t>(), columns[k].item<std::int64_t>(), number);
  }
  return text;
}

}  // namespace

DNDarray to_dense(const DCSRMatrix& a) {
  static_cast<void>(size_of(a.shape()));  // an array has as many elements
  const auto triples = triples_of(block_of(a), 0);
  auto dense = at::zeros(a.layout().local_shape(a.comm().rank()), triples.values.options());
  dense.index_put_({triples.rows, triples.columns}, triples.values);
  return heatpp::detail::wrap(dense, a.layout(), a.comm());
}

Coo to_coo(const DCSRMatrix& a) {
  const auto triples = triples_of(block_of(a), first_row(a));
  const auto& entries = Access::impl(a).entries;
  const auto array = [&](const at::Tensor& x) { return heatpp::detail::wrap(x, entries, a.comm()); };
  return {array(triples.rows), array(triples.columns), a.values(), a.shape()};
}

DCSRMatrix resplit(const DCSRMatrix& a, std::optional<int> split) {
  if (split && *split != 0 && *split != -2)
    raise<ValueError>("resplit", "got split {}; expected rows, 0, or none", *split);
  return relayout("resplit", a, rows_layout(a.shape(), split.has_value(), a.comm().size()));
}

DCSRMatrix balance(const DCSRMatrix& a, Balance by) {
  if (!a.split()) return a;
  if (by == Balance::rows) return resplit(a, 0);
  return relayout("balance", a, Layout(a.shape(), 0, heatpp::detail::Cut::at(even_entries(a))));
}

DCSRMatrix redistribute(const DCSRMatrix& a, const std::vector<std::int64_t>& counts) {
  constexpr auto op = "redistribute";
  const auto rows = rows_layout(a.shape(), true, a.comm().size());
  return relayout(op, a, heatpp::detail::agreed_layout(op, rows, counts, a.comm()));
}

std::string detail::matrix_text(std::string_view kind, std::optional<int> split, const Coo& coo) {
  return formatted("{} of shape {} with {} entries of {}, {}{}", kind, heatpp::to_string(coo.shape), coo.values.size(),
                   name(coo.values.dtype()), heatpp::to_string(split), entry_lines(coo));
}

std::string to_string(const DCSRMatrix& a) { return matrix_text("DCSRMatrix", a.split(), to_coo(a)); }
std::ostream& operator<<(std::ostream& out, const DCSRMatrix& a) { return out << to_string(a); }

}  // namespace heatpp::sparse

void heatpp::print(const sparse::DCSRMatrix& a) {
  const auto entries = a.values();
  detail::print_line({sparse::to_string(a)}, &entries);
}
