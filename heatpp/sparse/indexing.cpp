#include <heatpp/sparse/indexing.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/relayout.hpp>
#include <heatpp/core/promotion.hpp>
#include <heatpp/ops/indexing/nonzero.hpp>
#include <heatpp/sparse/detail/fetched.hpp>
#include <heatpp/sparse/detail/placed.hpp>

#include <algorithm>

namespace heatpp::sparse {

using namespace detail;

namespace {

ResolvedSlice rising(const Slice& slice, std::int64_t extent) {
  const auto resolved = resolve(slice, extent, "submatrix");
  if (resolved.step < 0) raise<ValueError>("submatrix", "got the step {}; expected one above 0", resolved.step);
  return resolved;
}

/// Returns how many of the slice's places lie before `position`.
std::int64_t places_before(const ResolvedSlice& slice, std::int64_t position) {
  return std::clamp<std::int64_t>((position - slice.start + slice.step - 1) / slice.step, 0, slice.count);
}

Layout sliced(const Layout& layout, const ResolvedSlice& rows, std::int64_t columns) {
  if (!layout.split()) return layout.replicated({rows.count, columns});
  std::vector<std::int64_t> offsets;
  for (const auto offset : layout.offsets()) offsets.push_back(places_before(rows, offset));
  return {{rows.count, columns}, 0, heatpp::detail::Cut::at(std::move(offsets))};
}

/// Returns `first`, `first + step`, ...: `count` numbers.
std::vector<std::int64_t> steps(std::int64_t first, std::int64_t step, std::int64_t count) {
  std::vector<std::int64_t> numbers(static_cast<std::size_t>(count));
  for (auto& number : numbers) number = std::exchange(first, first + step);
  return numbers;
}

/// Puts the entries of the matrices, with rows and columns shifted as given, into one matrix of `shape`.
DCSRMatrix combined(const char* op, const std::vector<DCSRMatrix>& matrices, const std::vector<std::int64_t>& rows,
                    const std::vector<std::int64_t>& columns, const Layout& layout) {
  std::vector<at::Tensor> at_rows, at_columns, values;
  auto dtype = matrices[0].dtype();
  for (const auto& a : matrices) dtype = promote_types(dtype, a.dtype());
  const bool apart = std::ranges::any_of(matrices, [](const auto& a) { return a.split().has_value(); });
  for (std::size_t i = 0; i < matrices.size(); ++i) {
    const auto& a = matrices[i];
    heatpp::detail::check_same_comm(op, matrices[0].comm(), a.comm());
    // Entries that every rank has are sent by one rank.
    const auto cut = apart && !a.split() ? relayout(op, a, rows_layout(a.shape(), true, a.comm().size())) : a;
    const auto triples = triples_of(block_of(cut), first_row(cut));
    at_rows.push_back(triples.rows + rows[i]);
    at_columns.push_back(triples.columns + columns[i]);
    values.push_back(triples.values.to(heatpp::detail::to_torch(dtype)));
  }
  return placed(op, {at::cat(at_rows), at::cat(at_columns), at::cat(values)}, layout, matrices[0].comm(), apart);
}

/// Returns where each matrix begins along an axis, and the end of the last one.
std::vector<std::int64_t> begins(const std::vector<DCSRMatrix>& matrices, std::size_t axis) {
  std::vector<std::int64_t> places{0};
  for (const auto& a : matrices) places.push_back(places.back() + a.shape()[axis]);
  return places;
}

void check_extents(const char* op, const std::vector<DCSRMatrix>& matrices, std::optional<std::size_t> equal_axis) {
  if (matrices.empty()) raise<ValueError>(op, "got no matrix; expected at least one");
  for (const auto& a : matrices)
    if (equal_axis && a.shape()[*equal_axis] != matrices[0].shape()[*equal_axis])
      raise<ValueError>(op, "got shapes {} and {}; expected as many {}", to_string(matrices[0].shape()),
                        to_string(a.shape()), *equal_axis == 0 ? "rows" : "columns");
}

Layout even(const std::vector<DCSRMatrix>& matrices, Shape shape) {
  const bool cut = std::ranges::any_of(matrices, [](const auto& a) { return a.split().has_value(); });
  return rows_layout(std::move(shape), cut, matrices[0].comm().size());
}

std::vector<std::int64_t> nowhere(const std::vector<DCSRMatrix>& matrices) {
  return std::vector<std::int64_t>(matrices.size(), 0);
}

/// Returns a vector of positions, for truth values of those that are true.
DNDarray as_positions(const char* op, const DCSRMatrix& a, const DNDarray& given, std::int64_t extent) {
  const bool mask = given.dtype() == Dtype::bool_;
  if (given.ndim() != 1 || is_floating(given.dtype()) || is_complex(given.dtype()) || (mask && given.size() != extent))
    raise<IndexError>(op, "got positions of {} and shape {}; expected a vector of whole numbers, or {} truth values",
                      name(given.dtype()), to_string(given.shape()), extent);
  heatpp::detail::check_same_comm(op, a.comm(), given.comm());
  return mask ? flatnonzero(given) : given;
}

/// Returns this rank's positions, counted from 0.
at::Tensor from_0(const char* op, const DNDarray& positions, std::int64_t extent) {
  const auto given = positions.larray().to(at::kCPU, at::kLong).contiguous();
  const auto check = [&] {
    if (given.numel() == 0) return;
    const auto [least, most] = at::aminmax(given);
    if (least.item<std::int64_t>() < -extent || most.item<std::int64_t>() >= extent)
      raise<IndexError>(op, "got positions {} to {}; expected {} to {}", least.item<std::int64_t>(),
                        most.item<std::int64_t>(), -extent, extent - 1);
  };
  if (positions.split()) all_or_none(positions.comm(), check);
  else check();
  return at::where(given.lt(0), given + extent, given);
}

}  // namespace

DCSRMatrix submatrix(const DCSRMatrix& a, const Slice& rows, const Slice& columns) {
  const auto down = rising(rows, a.rows()), across = rising(columns, a.columns());
  auto layout = sliced(a.layout(), down, across.count);
  const auto begin = layout.split() ? layout.offset(a.comm().rank()) : 0;
  const auto count = layout.local_shape(a.comm().rank())[0];
  const auto taken = taken_rows(block_of(a), steps(down.start + begin * down.step - first_row(a), down.step, count));
  const auto within = [&](auto, std::int64_t column, auto) {
    const auto place = column - across.start;
    return place >= 0 && place % across.step == 0 && place / across.step < across.count;
  };
  auto block = filtered(taken, within);
  block.columns = (block.columns.to(at::kLong) - across.start).floor_divide(across.step);
  return wrap(std::move(block), std::move(layout), a.comm());
}

DCSRMatrix take_rows(const DCSRMatrix& a, const DNDarray& given) {
  const auto positions = as_positions("take_rows", a, given, a.rows());
  const auto wanted = from_0("take_rows", positions, a.rows());
  const std::span<const std::int64_t> rows(wanted.const_data_ptr<std::int64_t>(),
                                           static_cast<std::size_t>(wanted.numel()));
  const auto as_columns = at::arange(rows.size() + 1, at::kLong);
  const CsrBlock asked{as_columns, wanted, wanted};
  const auto fetched = fetched_rows(asked, positions.split().has_value(), a);
  const auto places = fetched.places_in(asked).columns.contiguous();
  auto block = taken_rows(fetched.blocks, {places.const_data_ptr<std::int64_t>(), rows.size()});
  return wrap(std::move(block), positions.layout().with({positions.size(), a.columns()}, positions.split()), a.comm());
}

DCSRMatrix take_columns(const DCSRMatrix& a, const DNDarray& given) {
  const auto positions = as_positions("take_columns", a, given, a.columns());
  const auto everywhere = heatpp::detail::brought_to(positions, positions.layout().replicated(positions.shape()));
  const auto [sorted, places] = from_0("take_columns", everywhere, a.columns()).sort(0);
  const auto first = first_row(a);
  const auto entries = triples_of(block_of(a), first);
  const auto begin = at::searchsorted(sorted, entries.columns);
  const auto often = at::searchsorted(sorted, entries.columns, /*out_int32=*/false, /*right=*/true) - begin;
  const auto among = at::arange(often.sum().item<std::int64_t>(), at::kLong);  // index among those of one entry
  const auto place = among + (begin - (often.cumsum(0) - often)).repeat_interleave(often);
  auto block = block_from(
      "take_columns",
      {entries.rows.repeat_interleave(often), places.index_select(0, place), entries.values.repeat_interleave(often)},
      first, block_of(a).rows(), Duplicates::refused);
  return wrap(std::move(block), a.layout().with({a.rows(), positions.size()}, a.split()), a.comm());
}

DCSRMatrix DCSRMatrix::operator()(const Slice& rows, const Slice& columns) const {
  return submatrix(*this, rows, columns);
}

DCSRMatrix vstack(const std::vector<DCSRMatrix>& matrices) {
  check_extents("vstack", matrices, 1);
  const auto rows = begins(matrices, 0);
  return combined("vstack", matrices, rows, nowhere(matrices), even(matrices, {rows.back(), matrices[0].columns()}));
}

DCSRMatrix hstack(const std::vector<DCSRMatrix>& matrices) {
  check_extents("hstack", matrices, 0);
  const auto columns = begins(matrices, 1);
  const Shape shape{matrices[0].rows(), columns.back()};
  const auto layout = matrices[0].split() ? matrices[0].layout().with(shape, 0) : even(matrices, shape);
  return combined("hstack", matrices, nowhere(matrices), columns, layout);
}

DCSRMatrix block_diag(const std::vector<DCSRMatrix>& matrices) {
  check_extents("block_diag", matrices, std::nullopt);
  const auto rows = begins(matrices, 0), columns = begins(matrices, 1);
  return combined("block_diag", matrices, rows, columns, even(matrices, {rows.back(), columns.back()}));
}

}  // namespace heatpp::sparse
