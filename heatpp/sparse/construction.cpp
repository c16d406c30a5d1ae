#include <heatpp/sparse/construction.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/adopt.hpp>
#include <heatpp/core/detail/bounds.hpp>
#include <heatpp/core/detail/cuts/layout_of.hpp>
#include <heatpp/core/detail/relayout.hpp>
#include <heatpp/core/promotion.hpp>
#include <heatpp/core/redistribute.hpp>
#include <heatpp/random/detail/draws.hpp>
#include <heatpp/sparse/detail/adopted.hpp>
#include <heatpp/sparse/detail/placed.hpp>

#include <algorithm>
#include <cmath>
#include <set>

namespace heatpp::sparse {

using detail::CsrBlock;
using detail::Duplicates;
using detail::raise;
using detail::Triples;

namespace {

template <class Indices>
at::Tensor adopted(const Indices& indices) {
  return std::visit(
      [](const auto& numbers) {
        constexpr auto type = sizeof(numbers[0]) == 4 ? at::kInt : at::kLong;
        using Number = std::remove_const_t<typename std::remove_cvref_t<decltype(numbers)>::element_type>;
        return at::from_blob(const_cast<Number*>(numbers.data()), {std::ssize(numbers)}, type);
      },
      indices);
}

template <class Column>
void check_columns(const CsrBlock& block, const Column* column, std::int64_t columns) {
  for (std::int64_t row = 0; row < block.rows(); ++row) {
    std::int64_t last = -1;
    for (auto i = block.ptr()[row]; i < block.ptr()[row + 1]; last = column[i++])
      if (column[i] <= last || column[i] >= columns)
        raise<ValueError>("from_local",
                          "got column {} after {} in this rank's row {}; expected increasing columns of 0 to {}",
                          column[i], last, row, columns - 1);
  }
}

void check_block(const CsrBlock& block, std::int64_t columns) {
  if (columns < 0 || block.row_ptr.numel() == 0)
    raise<ValueError>("from_local", "got {} columns and {} row pointers; expected none below 0 and one more than rows",
                      columns, block.row_ptr.numel());
  const auto* const ptr = block.ptr();
  if (ptr[0] != 0) raise<ValueError>("from_local", "got row pointers from {}; expected them to begin at 0", ptr[0]);
  for (std::int64_t row = 0; row < block.rows(); ++row)
    if (ptr[row + 1] < ptr[row] || ptr[row + 1] > block.entries())
      raise<ValueError>("from_local",
                        "got the pointers {} and {} for this rank's row {} of {} entries; expected them to "
                        "increase to that number",
                        ptr[row], ptr[row + 1], row, block.entries());
  if (ptr[block.rows()] != block.entries())
    raise<ValueError>("from_local", "got pointers up to {} for {} columns; expected as many", ptr[block.rows()],
                      block.entries());
  if (block.columns.scalar_type() == at::kInt)
    check_columns(block, block.columns.const_data_ptr<std::int32_t>(), columns);
  else check_columns(block, block.columns.const_data_ptr<std::int64_t>(), columns);
}

CsrBlock block_of_arrays(const CsrArrays& arrays) {
  CsrBlock block{adopted(arrays.row_ptr).to(at::kLong), adopted(arrays.columns), {}};
  if (!arrays.values && block.entries() > 0)
    raise<ValueError>("from_local", "got no memory for the values of {} entries; expected some", block.entries());
  block.values = at::from_blob(arrays.values, {block.entries()}, heatpp::detail::to_torch(arrays.dtype));
  return block;
}

at::Tensor whole_numbers(const char* op, const at::Tensor& x) {
  if (at::isFloatingType(x.scalar_type()) || x.is_complex() || x.scalar_type() == at::kBool)
    raise<TypeError>(op, "got places of {}; expected whole numbers", name(heatpp::detail::from_torch(x.scalar_type())));
  return x.to(at::kCPU, at::kLong).contiguous();
}

/// Makes sparse matrices from functions of this rank's rows.
struct Rows {
  std::vector<std::int64_t> row_ptr{0}, columns;
  void end_row() { row_ptr.push_back(std::ssize(columns)); }
};

Layout matrix_layout(const char* op, const Shape& shape, std::optional<int> split, const Communicator& comm) {
  if (shape.size() != 2 || (split && *split != 0 && *split != -2))
    raise<ValueError>(op, "got shape {} with {}; expected two axes, cut along the first or not at all",
                      heatpp::to_string(shape), heatpp::to_string(split));
  return detail::rows_layout(shape, split.has_value(), comm.size());
}

/// Throws ValueError on all ranks if one of the numbers differs.
void check_alike(const char* op, const heatpp::detail::Bounds& numbers, const std::vector<const char*>& names) {
  for (std::size_t i = 0; i < names.size(); ++i)
    if (!numbers.equal(i))
      raise<ValueError>(op, "got {} to {} as the {} on the ranks; expected the same on all", numbers.least[i],
                        numbers.most[i], names[i]);
}

/// Returns the layout that all ranks request, and whether they add duplicates.
Layout agreed_layout(const char* op, const Shape& shape, std::optional<int> split, const Communicator& comm,
                     bool sum_duplicates = false) {
  std::optional<Layout> layout;
  const auto asked = heatpp::detail::bounds_or_error(comm, 4, [&] {
    layout.emplace(matrix_layout(op, shape, split, comm));
    return std::vector<std::int64_t>{shape[0], shape[1], split.has_value(), sum_duplicates};
  });
  check_alike(op, asked, {"rows", "columns", "number of axes that are cut", "sum_duplicates"});
  return *std::move(layout);
}

/// Returns the layout of a matrix made without arrays. If it is whole, each rank makes it on its own.
Layout new_layout(const char* op, const Shape& shape, const ArrayOptions& options, const Communicator& comm) {
  heatpp::detail::check_rows_only(op, options.grid);
  return options.split ? agreed_layout(op, shape, options.split, comm) : matrix_layout(op, shape, options.split, comm);
}

std::pair<std::int64_t, std::int64_t> rows_of(const Layout& layout, const Communicator& comm) {
  return {layout.split() ? layout.offset(comm.rank()) : 0, layout.local_shape(comm.rank())[0]};
}

}  // namespace

DCSRMatrix detail::adopted_rows(const std::function<CsrBlock()>& make, std::int64_t columns,
                                const LocalOptions& options) {
  const auto comm = comm_of(options.comm);
  CsrBlock block;
  const std::vector<const char*> alike{"number of the dtype", "columns", "number of axes that are cut", "rows"};
  const auto numbers = heatpp::detail::bounds_or_error(comm, alike.size(), [&] {
    heatpp::detail::check_rows_only("from_local", options.grid);
    if (options.split && *options.split != 0 && *options.split != -2)
      raise<ValueError>("from_local", "got split {}; expected rows, 0, or none", *options.split);
    block = make();
    check_block(block, columns);
    return std::vector<std::int64_t>{static_cast<std::int64_t>(heatpp::detail::from_torch(block.values.scalar_type())),
                                     columns, options.split.has_value(), options.split ? 0 : block.rows()};
  });
  check_alike("from_local", numbers, alike);
  auto layout = options.split ? heatpp::detail::layout_of_blocks({block.rows(), columns}, 0, comm)
                              : Layout({block.rows(), columns}, std::nullopt, comm.size());
  return detail::wrap(std::move(block), std::move(layout), comm);
}

DCSRMatrix from_local(const CsrArrays& arrays, std::int64_t columns, const LocalOptions& options) {
  return detail::adopted_rows([&] { return block_of_arrays(arrays); }, columns, options);
}

DCSRMatrix from_coo(const DNDarray& rows, const DNDarray& columns, const DNDarray& values, const Shape& shape,
                    const CooOptions& options) {
  const auto layout = agreed_layout("from_coo", shape, options.split, rows.comm(), options.sum_duplicates);
  if (rows.ndim() != 1 || columns.shape() != rows.shape() || values.shape() != rows.shape())
    raise<ValueError>("from_coo",
                      "got rows, columns and values of shapes {}, {} and {}; expected vectors of one length",
                      to_string(rows.shape()), to_string(columns.shape()), to_string(values.shape()));
  for (const auto* x : {&columns, &values}) heatpp::detail::check_same_comm("from_coo", rows.comm(), x->comm());
  const auto beside = [&](const DNDarray& x) { return heatpp::detail::relayout(x, rows.layout()); };
  Triples triples{whole_numbers("from_coo", rows.larray()), whole_numbers("from_coo", beside(columns)),
                  beside(values).cpu().contiguous()};
  return detail::placed("from_coo", std::move(triples), layout, rows.comm(), rows.split().has_value(),
                        options.sum_duplicates ? Duplicates::summed : Duplicates::refused);
}

DCSRMatrix from_dense(const DNDarray& x) {
  if (x.ndim() != 2) raise<ValueError>("from_dense", "got shape {}; expected two axes", to_string(x.shape()));
  const auto by_rows = x.layout().is_grid() || x.split() == 1 ? resplit(x, 0) : x;
  const auto block = by_rows.larray().cpu();
  const auto places = at::nonzero(block);
  const auto rows = places.select(1, 0).contiguous(), columns = places.select(1, 1).contiguous();
  auto entries = detail::block_from("from_dense", {rows, columns, block.index({rows, columns})}, 0, block.size(0),
                                    Duplicates::refused);
  return detail::wrap(std::move(entries), by_rows.layout(), x.comm());
}

DCSRMatrix identity(std::int64_t n, const ArrayOptions& options) {
  const auto comm = comm_of(options.comm);
  const auto layout = new_layout("identity", {n, n}, options, comm);
  const auto [first, rows] = rows_of(layout, comm);
  CsrBlock block{at::arange(rows + 1, at::kLong), at::arange(first, first + rows, at::kLong),
                 at::ones({rows}, heatpp::detail::to_torch(options.dtype.value_or(get_default_dtype())))};
  return detail::wrap(std::move(block), layout, comm);
}

DCSRMatrix diags(const std::vector<DNDarray>& values, const std::vector<std::int64_t>& offsets, const Shape& shape,
                 const ArrayOptions& options) {
  if (values.empty() || values.size() != offsets.size() ||
      std::set(offsets.begin(), offsets.end()).size() != offsets.size())
    raise<ValueError>("diags", "got {} vectors for offsets {}; expected at least one, and different offsets for all",
                      values.size(), heatpp::detail::tuple_text(offsets));
  const auto comm = options.comm.value_or(values[0].comm());
  const auto layout = new_layout("diags", shape, options, comm);
  const auto [first, rows] = rows_of(layout, comm);
  std::vector<at::Tensor> at_rows, at_columns, of_all;
  auto dtype = values[0].dtype();
  for (const auto& one : values) dtype = promote_types(dtype, one.dtype());
  for (std::size_t d = 0; d < values.size(); ++d) {
    const auto k = offsets[d], begin = std::max<std::int64_t>(0, -k), end = std::min(shape[0], shape[1] - k);
    if (begin >= end || values[d].ndim() > 1 || (values[d].size() != end - begin && values[d].size() != 1))
      raise<ValueError>(
          "diags",
          "got shape {} for the diagonal {} of shape {}; expected {} elements, or one, on a diagonal that exists",
          to_string(values[d].shape()), k, to_string(shape), std::max<std::int64_t>(0, end - begin));
    const auto from = std::clamp(first, begin, end), to = std::clamp(first + rows, begin, end);
    const auto all = resplit(values[d], std::nullopt).larray().cpu().reshape(-1).to(heatpp::detail::to_torch(dtype));
    at_rows.push_back(at::arange(from, to, at::kLong));
    at_columns.push_back(at::arange(from + k, to + k, at::kLong));
    of_all.push_back(all.numel() == 1 ? all.expand({to - from}) : all.slice(0, from - begin, to - begin));
  }
  const Triples triples{at::cat(at_rows), at::cat(at_columns), at::cat(of_all)};
  auto block = detail::block_from("diags", triples, first, rows, Duplicates::refused);
  if (options.dtype) block.values = block.values.to(heatpp::detail::to_torch(*options.dtype));
  return detail::wrap(std::move(block), layout, comm);
}

DCSRMatrix random(const Shape& shape, const RandomOptions& options) {
  if (!(options.density >= 0 && options.density <= 1))
    raise<ValueError>("random", "got the density {}; expected 0 to 1", options.density);
  const auto comm = comm_of(options.array.comm);
  const auto layout = new_layout("random", shape, options.array, comm);
  const auto [first, rows] = rows_of(layout, comm);
  const heatpp::random::detail::Key key(
      heatpp::random::detail::derived(options.seed, 0, heatpp::random::detail::Purpose::spawn));
  Rows made;
  std::vector<double> values;
  const auto gap = std::log1p(-options.density);  // distance between entries: geometric
  for (auto row = first; row < first + rows; ++row) {
    heatpp::random::detail::Draws draws(key, static_cast<std::uint64_t>(row));
    const auto step = [&] { return options.density == 1 ? 0. : std::floor(std::log(draws.uniform()) / gap); };
    for (auto column = step(); options.density > 0 && column < static_cast<double>(shape[1]); column += 1 + step()) {
      made.columns.push_back(static_cast<std::int64_t>(column));
      values.push_back(draws.uniform());
    }
    made.end_row();
  }
  CsrBlock block{
      at::tensor(made.row_ptr, at::kLong), at::tensor(made.columns, at::kLong),
      at::tensor(values, at::kDouble).to(heatpp::detail::to_torch(options.array.dtype.value_or(get_default_dtype())))};
  return detail::wrap(std::move(block), layout, comm);
}

}  // namespace heatpp::sparse
