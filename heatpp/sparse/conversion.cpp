#include <heatpp/sparse/conversion.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/relayout.hpp>
#include <heatpp/core/printing.hpp>
#include <heatpp/ops/operands/index.hpp>
#include <heatpp/sparse/detail/entry_lines.hpp>
#include <heatpp/sparse/detail/placed.hpp>

#include <algorithm>
#include <numeric>
#include <ostream>

namespace heatpp::sparse {

using namespace detail;

namespace {

/// Cuts before the rows at which the number of entries reaches r / P of all.
std::vector<std::int64_t> even_entries(const at::Tensor& counts, int ranks) {
  const auto sums = counts.cumsum(0);
  const std::span<const std::int64_t> up_to(sums.const_data_ptr<std::int64_t>(),
                                            static_cast<std::size_t>(sums.numel()));
  const auto total = up_to.empty() ? 0 : up_to.back();
  std::vector<std::int64_t> offsets{0};
  for (int r = 1; r < ranks; ++r) {
    const auto wanted = total / ranks * r + total % ranks * r / ranks;
    offsets.push_back(std::max(offsets.back(), std::ranges::lower_bound(up_to, wanted) - up_to.begin() + (wanted > 0)));
  }
  offsets.push_back(counts.numel());
  for (auto& offset : offsets) offset = std::min(offset, counts.numel());
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
  return relayout("resplit", a, split ? Layout(a.shape(), 0, a.comm().size()) : a.layout().replicated(a.shape()));
}

DCSRMatrix balance(const DCSRMatrix& a, Balance by) {
  if (!a.split()) return a;
  if (by == Balance::rows) return resplit(a, 0);
  const auto counts = a.row_counts();
  const auto all = heatpp::detail::relayout(counts, counts.layout().replicated(counts.shape()));
  return relayout("balance", a, Layout(a.shape(), 0, even_entries(all, a.comm().size())));
}

DCSRMatrix redistribute(const DCSRMatrix& a, const std::vector<std::int64_t>& counts) {
  constexpr auto op = "redistribute";
  const Layout rows(a.shape(), 0, a.comm().size());
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
