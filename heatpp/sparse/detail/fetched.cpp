#include <heatpp/core/detail/route.hpp>
#include <heatpp/sparse/detail/fetched.hpp>
#include <heatpp/sparse/detail/placed.hpp>

#include <algorithm>

namespace heatpp::sparse::detail {
namespace {

std::vector<std::int64_t> different(const at::Tensor& columns) {
  const auto numbers = columns.to(at::kLong).contiguous();
  const auto* const first = numbers.const_data_ptr<std::int64_t>();
  std::vector<std::int64_t> ids(first, first + numbers.numel());
  std::ranges::sort(ids);
  const auto [begin, end] = std::ranges::unique(ids);
  ids.erase(begin, end);
  return ids;
}

std::span<const std::int64_t> numbers_of(const at::Tensor& x) {
  return {x.const_data_ptr<std::int64_t>(), static_cast<std::size_t>(x.numel())};
}

/// Sums of `lengths` over the consecutive parts of these counts.
std::vector<std::int64_t> sums_of(const at::Tensor& lengths, std::span<const std::int64_t> counts) {
  std::vector<std::int64_t> sums;
  const auto* length = lengths.const_data_ptr<std::int64_t>();
  for (const auto count : counts) {
    sums.push_back(std::accumulate(length, length + count, std::int64_t{0}));
    length += count;
  }
  return sums;
}

at::Tensor pointers(const at::Tensor& lengths) { return at::cat({at::zeros({1}, at::kLong), lengths.cumsum(0)}); }

CsrBlock from_owners(const std::vector<std::int64_t>& ids, const DCSRMatrix& b) {
  const auto& comm = b.comm();
  const auto offsets = b.layout().offsets();
  std::vector<std::int64_t> asked;
  for (std::size_t r = 0; r + 1 < offsets.size(); ++r)
    asked.push_back(std::ranges::lower_bound(ids, offsets[r + 1]) - std::ranges::lower_bound(ids, offsets[r]));
  const auto route = heatpp::detail::route_in_order(std::move(asked), comm);
  const at::Tensor wanted = route.there(at::tensor(ids, at::kLong)) - b.layout().offset(comm.rank());
  const auto answer = taken_rows(block_of(b), numbers_of(wanted.contiguous()));
  const at::Tensor mine = answer.row_ptr.diff().contiguous();
  const auto lengths = route.back(mine);
  const auto send = sums_of(mine, route.received), receive = sums_of(lengths, route.sent);
  return {pointers(lengths), heatpp::detail::exchange_rows(answer.columns, send, receive, comm),
          heatpp::detail::exchange_rows(answer.values, send, receive, comm)};
}

}  // namespace

CsrBlock taken_rows(const CsrBlock& block, std::span<const std::int64_t> rows) {
  auto row_ptr = at::zeros({std::ssize(rows) + 1}, at::kLong);
  auto* const out_ptr = row_ptr.data_ptr<std::int64_t>();
  const auto* const ptr = block.ptr();
  for (std::size_t i = 0; i < rows.size(); ++i) out_ptr[i + 1] = out_ptr[i] + ptr[rows[i] + 1] - ptr[rows[i]];
  auto positions = at::empty({out_ptr[rows.size()]}, at::kLong);
  auto* out = positions.data_ptr<std::int64_t>();
  for (const auto row : rows)
    for (auto i = ptr[row]; i < ptr[row + 1]; ++i) *out++ = i;
  return {row_ptr, block.columns.index_select(0, positions), block.values.index_select(0, positions)};
}

CsrBlock FetchedRows::places_in(const CsrBlock& a) const {
  auto result = a;
  if (!ids) return result.columns = a.columns.to(at::kLong), result;
  const auto columns = a.columns.to(at::kLong).contiguous();
  result.columns = at::empty_like(columns);
  auto* const out = result.columns.data_ptr<std::int64_t>();
  const auto numbers = numbers_of(columns);
  std::ranges::transform(numbers, out, [&](auto c) { return std::ranges::lower_bound(*ids, c) - ids->begin(); });
  return result;
}

FetchedRows fetched_rows(const CsrBlock& a, bool cut, const DCSRMatrix& b) {
  if (!b.split()) return {block_of(b), std::nullopt};
  if (!cut) return {block_of(relayout("fetch", b, b.layout().replicated(b.shape()))), std::nullopt};
  auto ids = different(a.columns);
  auto block = from_owners(ids, b);
  return {std::move(block), std::move(ids)};
}

}  // namespace heatpp::sparse::detail
