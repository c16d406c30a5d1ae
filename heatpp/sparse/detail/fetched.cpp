#include <heatpp/sparse/detail/fetched.hpp>

#include <heatpp/core/detail/route.hpp>
#include <heatpp/sparse/detail/named.hpp>
#include <heatpp/sparse/detail/placed.hpp>

#include <algorithm>
#include <numeric>
#include <utility>

namespace heatpp::sparse::detail {
namespace {

std::span<const std::int64_t> numbers_of(const at::Tensor& x) {
  return {x.const_data_ptr<std::int64_t>(), static_cast<std::size_t>(x.numel())};
}

/// Returns how many entries the rows of each rank have; `lengths` has those of each row.
std::vector<heatpp::detail::RowsOfRank> entries_of(const at::Tensor& lengths,
                                                   std::vector<heatpp::detail::RowsOfRank> rows) {
  const auto* length = lengths.const_data_ptr<std::int64_t>();
  for (auto& [rank, count] : rows) {
    const auto* const first = std::exchange(length, length + count);
    count = std::accumulate(first, length, std::int64_t{0});
  }
  return rows;
}

at::Tensor pointers(const at::Tensor& lengths) { return at::cat({at::zeros({1}, at::kLong), lengths.cumsum(0)}); }

CsrBlock from_owners(const std::vector<std::int64_t>& ids, const DCSRMatrix& b) {
  const auto& comm = b.comm();
  const auto route = heatpp::detail::route_in_order(heatpp::detail::rows_of_owners(ids, b.layout().cut()), comm);
  const at::Tensor wanted = route.there(at::tensor(ids, at::kLong)) - b.layout().offset(comm.rank());
  const auto answer = taken_rows(block_of(b), numbers_of(wanted.contiguous()));
  const at::Tensor mine = answer.row_ptr.diff().contiguous();
  const auto lengths = route.back(mine);
  const auto send = entries_of(mine, route.received), receive = entries_of(lengths, route.sent);
  return {pointers(lengths), heatpp::detail::exchange_rows(answer.columns, send, receive, comm),
          heatpp::detail::exchange_rows(answer.values, send, receive, comm)};
}

CsrBlock no_rows_like(const CsrBlock& block) {
  return {at::zeros({1}, at::kLong), block.columns.narrow(0, 0, 0), block.values.narrow(0, 0, 0)};
}

}  // namespace

CsrBlock taken_rows(const RowBlocks& blocks, std::span<const std::int64_t> rows) {
  const auto& [own, others] = blocks;
  const auto each = [&, count = own.rows(), of_own = own.ptr(), of_others = others.ptr()](auto f) {
    for (const auto row : rows)
      if (row < count) f(own, of_own[row], of_own[row + 1]);
      else f(others, of_others[row - count], of_others[row - count + 1]);
  };
  auto row_ptr = at::zeros({std::ssize(rows) + 1}, at::kLong);
  auto* end = row_ptr.data_ptr<std::int64_t>();
  each([&](const CsrBlock&, std::int64_t first, std::int64_t last) {
    end[1] = end[0] + last - first;
    ++end;
  });
  CsrBlock result{row_ptr, at::empty({*end}, own.columns.options()), at::empty({*end}, own.values.options())};
  const auto copy = [&](at::Tensor CsrBlock::*member) {
    const auto size = static_cast<std::int64_t>((own.*member).element_size());
    auto* out = static_cast<std::byte*>((result.*member).data_ptr());
    each([&](const CsrBlock& block, std::int64_t first, std::int64_t last) {
      const auto* const from = static_cast<const std::byte*>((block.*member).const_data_ptr());
      out = std::copy(from + first * size, from + last * size, out);
    });
  };
  copy(&CsrBlock::columns);
  copy(&CsrBlock::values);
  return result;
}

CsrBlock taken_rows(const CsrBlock& block, std::span<const std::int64_t> rows) {
  return taken_rows({block, no_rows_like(block)}, rows);
}

CsrBlock FetchedRows::places_in(const CsrBlock& a) const {
  auto result = a;
  result.columns = renumbered(a.columns, first, blocks.own.rows(), ids, at::kLong);
  return result;
}

FetchedRows fetched_rows(const CsrBlock& a, bool cut, const DCSRMatrix& b) {
  const auto& own = block_of(b);
  if (!b.split()) return {{own, no_rows_like(own)}};
  if (!cut) {
    const auto whole = block_of(relayout("fetch", b, b.layout().replicated(b.shape())));
    return {{whole, no_rows_like(whole)}};
  }
  const auto first = first_row(b);
  auto ids = named_of_others(a.columns, first, own.rows());
  auto others = from_owners(ids, b);
  return {{own, std::move(others)}, first, std::move(ids)};
}

}  // namespace heatpp::sparse::detail
