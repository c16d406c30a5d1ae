#include <heatpp/sparse/detail/placed.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/relayout.hpp>
#include <heatpp/core/detail/route.hpp>

#include <algorithm>

namespace heatpp::sparse::detail {
namespace {

void check_places(const char* op, const Triples& triples, const Shape& shape) {
  for (const auto& [places, axis] :
       {std::pair(triples.rows, std::size_t{0}), std::pair(triples.columns, std::size_t{1})}) {
    if (places.numel() == 0) continue;
    const auto [least, most] = at::aminmax(places);
    if (least.item<std::int64_t>() < 0 || most.item<std::int64_t>() >= shape[axis])
      raise<ValueError>(op, "got {} {} to {}; expected 0 to {}", axis == 0 ? "rows" : "columns",
                        least.item<std::int64_t>(), most.item<std::int64_t>(), shape[axis] - 1);
  }
}

/// Packs each triple as a row of bytes.
at::Tensor packed(const Triples& triples) {
  return at::cat({byte_rows(triples.rows), byte_rows(triples.columns), byte_rows(triples.values)}, 1);
}

Triples unpacked(const at::Tensor& rows, at::ScalarType type) {
  const auto column = [&](std::int64_t first, std::int64_t bytes, at::ScalarType as) {
    return rows.narrow(1, first, bytes).contiguous().view(-1).view(as);
  };
  return {column(0, 8, at::kLong), column(8, 8, at::kLong), column(16, rows.size(1) - 16, type)};
}

/// Returns the triples at the positions, without a copy if these are consecutive.
Triples selected(const Triples& triples, const at::Tensor& positions) {
  const auto count = positions.numel();
  const auto* const position = positions.const_data_ptr<std::int64_t>();
  const auto of = [&](const at::Tensor& x) {
    if (count == 0) return x.narrow(0, 0, 0);
    const bool side_by_side = position[count - 1] - position[0] == count - 1;
    return side_by_side ? x.narrow(0, position[0], count) : x.index_select(0, positions);
  };
  return {of(triples.rows), of(triples.columns), of(triples.values)};
}

/// Sends the triples that other ranks own. Returns those that this rank owns, in the order of the ranks that held them.
Triples at_owners(const Triples& triples, const Layout& layout, const Communicator& comm) {
  const auto owners = heatpp::detail::owners_of(triples.rows, layout.cut());
  const auto here = owners.eq(comm.rank());
  const auto own = selected(triples, at::nonzero(here).view(-1));
  const auto away = at::nonzero(here.logical_not()).view(-1);
  const auto route = heatpp::detail::route_to(owners.index_select(0, away), comm);
  const auto arrived = unpacked(route.there(packed(selected(triples, away))), triples.values.scalar_type());
  if (arrived.count() == 0) return own;
  std::int64_t before = 0;
  for (const auto& from : route.received) before += from.rank < comm.rank() ? from.count : 0;
  const auto together = [&](const at::Tensor& others, const at::Tensor& mine) {
    return at::cat({others.narrow(0, 0, before), mine, others.narrow(0, before, others.numel() - before)});
  };
  return {together(arrived.rows, own.rows), together(arrived.columns, own.columns),
          together(arrived.values, own.values)};
}

/// Gathers every rank's triples, in their order, on all.
Triples everywhere(const Triples& triples, const Communicator& comm) {
  const auto rows = packed(triples);
  const auto cut = Layout::from_counts({0, rows.size(1)}, 0, comm.allgather(rows.size(0)));
  const auto all = heatpp::detail::relayout(heatpp::detail::wrap(rows, cut, comm), cut.replicated(cut.shape()));
  return unpacked(all, triples.values.scalar_type());
}

Triples rows_within(const Triples& triples, std::int64_t first, std::int64_t last) {
  const auto kept = at::nonzero(triples.rows.ge(first).logical_and(triples.rows.lt(last))).view(-1);
  return {triples.rows.index_select(0, kept), triples.columns.index_select(0, kept),
          triples.values.index_select(0, kept)};
}

}  // namespace

Layout rows_layout(Shape shape, bool cut, int ranks) {
  if (std::ranges::any_of(shape, [](auto extent) { return extent < 0; }))
    raise<ValueError>("shape", "got {}; expected extents >= 0", heatpp::to_string(shape));
  if (!cut) return {std::move(shape), std::nullopt, ranks};
  const auto rows = heatpp::detail::Cut::even(shape[0], ranks);
  return {std::move(shape), 0, rows};
}

DCSRMatrix placed(const char* op, Triples triples, const Layout& layout, const Communicator& comm, bool apart,
                  Duplicates duplicates) {
  const bool cut = layout.split().has_value();
  const auto first = cut ? layout.offset(comm.rank()) : 0, rows = layout.local_shape(comm.rank())[0];
  CsrBlock block;
  const auto check = [&] { check_places(op, triples, layout.shape()); };
  if (apart) all_or_none(comm, check);
  else check();
  if (apart && comm.size() > 1) triples = cut ? at_owners(triples, layout, comm) : everywhere(triples, comm);
  else if (cut && comm.size() > 1) triples = rows_within(triples, first, first + rows);
  const auto make = [&] { block = block_from(op, triples, first, rows, duplicates); };
  if (duplicates == Duplicates::refused && cut) all_or_none(comm, make);
  else make();
  return wrap(std::move(block), layout, comm);
}

DCSRMatrix relayout(const char* op, const DCSRMatrix& a, const Layout& layout) {
  if (same_cut(a.layout(), layout)) return a;
  const auto first = first_row(a);
  return placed(op, triples_of(block_of(a), first), layout, a.comm(), a.split().has_value());
}

}  // namespace heatpp::sparse::detail
