#include <heatpp/ops/creation/diagonal.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/ownership.hpp>
#include <heatpp/ops/elementwise/elementwise.hpp>
#include <heatpp/ops/indexing/nonzero.hpp>
#include <heatpp/ops/operands/detail/align.hpp>
#include <heatpp/ops/operands/detail/origin.hpp>
#include <heatpp/ops/shape/axes_moves.hpp>
#include <heatpp/ops/shape/detail/along.hpp>
#include <heatpp/ops/shape/reshape.hpp>

#include <algorithm>

namespace heatpp {
namespace {

using detail::extent_of;

/// Returns `offset`, or if it is beyond all elements, the nearest one that cannot overflow.
std::int64_t within_reach(const DNDarray& x, int rows, int columns, std::int64_t offset) {
  return std::clamp(offset, -extent_of(x, rows), extent_of(x, columns));
}

/// Returns the diagonal of this rank's block that lies on the array's diagonal `offset`.
std::int64_t offset_in_block(const DNDarray& x, int rows, int columns, std::int64_t offset) {
  const auto first = x.layout().local_offset(x.comm().rank());
  return offset + first[static_cast<std::size_t>(rows)] - first[static_cast<std::size_t>(columns)];
}

/// Return how many elements of a diagonal precede row `row` and column `column`.
std::int64_t before_row(std::int64_t row, std::int64_t offset, std::int64_t length) {
  return std::clamp<std::int64_t>(row - std::max<std::int64_t>(0, -offset), 0, length);
}
std::int64_t before_column(std::int64_t column, std::int64_t offset, std::int64_t length) {
  return before_row(column, -offset, length);
}

std::int64_t diagonal_length(std::int64_t rows, std::int64_t columns, std::int64_t offset) {
  return std::max<std::int64_t>(
      0, std::min(rows + std::min<std::int64_t>(0, offset), columns - std::max<std::int64_t>(0, offset)));
}

Layout diagonal_layout(const DNDarray& x, int rows, int columns, std::int64_t offset) {
  Shape shape;
  std::optional<int> split;
  for (int axis = 0; axis < x.ndim(); ++axis) {
    if (axis == rows || axis == columns) continue;
    if (x.split() == axis) split = static_cast<int>(shape.size());
    shape.push_back(extent_of(x, axis));
  }
  const auto length = diagonal_length(extent_of(x, rows), extent_of(x, columns), offset);
  shape.push_back(length);
  if (!x.split() || split) return x.layout().with(std::move(shape), split);
  std::vector<std::int64_t> offsets;
  for (const auto first : x.layout().offsets())
    offsets.push_back(x.split() == rows ? before_row(first, offset, length) : before_column(first, offset, length));
  const auto last = static_cast<int>(shape.size()) - 1;
  return {std::move(shape), last, std::move(offsets)};
}

DNDarray matrix_of(const DNDarray& x, std::int64_t offset) {
  const auto n = extent_of(x, 0) + std::abs(offset);
  const auto above = std::max<std::int64_t>(0, -offset);  // rows above the first element
  std::optional<Layout> layout = x.layout().replicated({n, n});
  if (x.split()) {
    auto offsets = x.layout().offsets();
    for (std::size_t rank = 1; rank < offsets.size(); ++rank) offsets[rank] += above;
    offsets.back() = n;
    layout = Layout({n, n}, 0, std::move(offsets));
  }
  auto block = at::zeros(layout->local_shape(x.comm().rank()), x.larray().options());
  const auto mine = x.split() ? x.layout().offset(x.comm().rank()) : 0;
  const auto first_row = layout->split() ? layout->offset(x.comm().rank()) : 0;
  // Element i is in row i + above, column i + above + offset.
  const auto rows = block.narrow(0, mine + above - first_row, x.larray().size(0));
  rows.narrow(1, mine + above + offset, x.larray().size(0)).diagonal().copy_(x.larray());
  return detail::wrap(std::move(block), *layout, x.comm());
}

void check_matrix(const char* op, const DNDarray& x) {
  if (x.ndim() != 2) detail::raise<ValueError>(op, "got an array of shape {}; expected a matrix", to_string(x.shape()));
}

DNDarray triangle(const char* op, const DNDarray& x, std::int64_t k, bool lower) {
  if (x.ndim() == 0) detail::raise<ValueError>(op, "got an array without axes; expected at least one");
  if (x.ndim() == 1) return triangle(op, copy(broadcast_to(x, {x.size(), x.size()})), k, lower);
  const int rows = x.ndim() - 2, columns = x.ndim() - 1;
  const auto shift = offset_in_block(x, rows, columns, within_reach(x, rows, columns, k));
  return detail::wrap(lower ? at::tril(x.larray(), shift) : at::triu(x.larray(), shift), x.layout(), x.comm());
}

}  // namespace

DNDarray diagonal(const DNDarray& array, const DiagonalOptions& options) {
  const auto x = detail::one_cut("diagonal", array);
  if (x.ndim() < 2)
    detail::raise<ValueError>("diagonal", "got an array of shape {}; expected two axes or more", to_string(x.shape()));
  const auto rows = sanitize_axis(options.axis1, x.ndim(), "diagonal"),
             columns = sanitize_axis(options.axis2, x.ndim(), "diagonal");
  if (rows == columns) detail::raise<ValueError>("diagonal", "got axis {} twice; expected two different axes", rows);
  const auto offset = within_reach(x, rows, columns, options.offset);
  return detail::wrap(at::diagonal(x.larray(), offset_in_block(x, rows, columns, offset), rows, columns),
                      diagonal_layout(x, rows, columns, offset), x.comm());
}

DNDarray diag(const DNDarray& x, std::int64_t offset) {
  if (x.ndim() != 1 && x.ndim() != 2)
    detail::raise<ValueError>("diag", "got an array of shape {}; expected a vector or a matrix", to_string(x.shape()));
  return x.ndim() == 1 ? matrix_of(detail::one_cut("diag", x), offset) : diagonal(x, {.offset = offset});
}

DNDarray diagflat(const DNDarray& x, std::int64_t offset) { return matrix_of(flatten(x), offset); }

void fill_diagonal(DNDarray& x, const Operand& value, const FillDiagonalOptions& options) {
  const bool alike = std::ranges::all_of(x.shape(), [&](auto extent) { return extent == x.shape().front(); });
  if (x.ndim() < 2 || (x.ndim() > 2 && !alike))
    detail::raise<ValueError>("fill_diagonal", "got an array of shape {}; expected a matrix or equal extents",
                              to_string(x.shape()));
  detail::check_value("fill_diagonal", value, x.dtype());
  if (value.array() && value.array()->size() == 0) return;
  if (x.layout().is_grid()) {
    auto recut = detail::one_cut("fill_diagonal", x);
    fill_diagonal(recut, value, options);
    detail::own("fill_diagonal", x, value.temporary());
    x.larray().copy_(detail::relayout(recut, x.layout()));
    return;
  }
  std::int64_t written = 0;
  detail::own("fill_diagonal", x, value.temporary());
  const auto fill = [&](DNDarray places) {
    if (!value.array() || value.array()->ndim() == 0) return places.index_put({all_of}, value);
    const auto elements = flatten(*value.array());
    const auto n = arange(places.size(), {.comm = x.comm()}) + written;
    places.index_put({all_of}, elements.index({n % elements.size()}));
    written += places.size();
  };
  auto places = x;  // x[i, i, i, ...] as one diagonal after another
  while (places.ndim() > 1) places = diagonal(places, {.axis1 = places.ndim() - 2, .axis2 = places.ndim() - 1});
  fill(detail::written_through(places));
  const auto next = extent_of(x, 1) + 1;
  for (auto row = next; options.wrap && x.ndim() == 2 && row < extent_of(x, 0); row += next)
    fill(detail::written_through(diagonal(x, {.offset = -row})));
}
void fill_diagonal(Selection&& x, const Operand& value, const FillDiagonalOptions& options) {
  detail::changed(
      std::move(x), [&](DNDarray& part) { fill_diagonal(part, value, options); }, value.temporary());
}

DNDarray tril(const DNDarray& x, std::int64_t k) { return triangle("tril", x, k, true); }
DNDarray triu(const DNDarray& x, std::int64_t k) { return triangle("triu", x, k, false); }
DNDarray tri(std::int64_t rows, const TriOptions& options) {
  return tril(ones({rows, options.columns.value_or(rows)}, options.array), options.k);
}

DNDarray eye(std::int64_t rows, const TriOptions& options) {
  auto result = zeros({rows, options.columns.value_or(rows)}, options.array);
  auto ones = detail::written_through(diagonal(result, {.offset = options.k}));
  ones.index_put({all_of}, 1);
  return result;
}

std::vector<DNDarray> diag_indices(std::int64_t n, int ndim) {
  return std::vector<DNDarray>(static_cast<std::size_t>(std::max(0, ndim)), arange(n));
}
std::vector<DNDarray> tril_indices(std::int64_t rows, const TriIndicesOptions& options) {
  return nonzero(tri(rows, {.columns = options.columns, .k = options.k}));
}
std::vector<DNDarray> triu_indices(std::int64_t rows, const TriIndicesOptions& options) {
  return nonzero(triu(ones({rows, options.columns.value_or(rows)}), options.k));
}

std::vector<DNDarray> diag_indices_from(const DNDarray& x) {
  const bool alike = std::ranges::all_of(x.shape(), [&](auto extent) { return extent == x.shape().front(); });
  if (x.ndim() < 2 || !alike)
    detail::raise<ValueError>("diag_indices_from",
                              "got an array of shape {}; expected equal extents along two axes or more",
                              to_string(x.shape()));
  return diag_indices(x.shape().front(), x.ndim());
}
std::vector<DNDarray> tril_indices_from(const DNDarray& x, std::int64_t k) {
  check_matrix("tril_indices_from", x);
  return tril_indices(extent_of(x, 0), {.k = k, .columns = extent_of(x, 1)});
}
std::vector<DNDarray> triu_indices_from(const DNDarray& x, std::int64_t k) {
  check_matrix("triu_indices_from", x);
  return triu_indices(extent_of(x, 0), {.k = k, .columns = extent_of(x, 1)});
}
std::vector<DNDarray> mask_indices(std::int64_t n,
                                   const std::function<DNDarray(const DNDarray&, std::int64_t)>& mask_function,
                                   std::int64_t k) {
  return nonzero(mask_function(ones({n, n}), k));
}

}  // namespace heatpp
