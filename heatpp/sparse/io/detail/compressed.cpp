#include <heatpp/sparse/io/detail/compressed.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/allocated.hpp>
#include <heatpp/core/detail/simd.hpp>
#include <heatpp/core/promotion.hpp>
#include <heatpp/sparse/conversion.hpp>
#include <heatpp/sparse/elementwise.hpp>
#include <heatpp/sparse/product.hpp>

#include <algorithm>
#include <limits>

namespace heatpp::sparse::detail {
namespace {

void check_split(const char* op, std::optional<int> split) {
  if (split && *split != 0 && *split != -2) raise<ValueError>(op, "got split {}; expected rows, 0, or none", *split);
}

/// Throws if the arrays do not fit the matrix and each other.
void check_sizes(const Loading& file, const StoredMatrix& stored) {
  const auto major = stored.shape[stored.by_columns ? 1 : 0];
  if (stored.pointers.shape.size() != 1 || stored.indices.shape.size() != 1 || stored.values.shape.empty() ||
      stored.pointers.size() - 1 != major || stored.indices.size() != stored.values.size())
    raise<IoError>(
        file.op,
        "got {} pointers, {} indices and {} values in \"{}\" for shape {}; expected {} pointers, and as many "
        "indices as values",
        stored.pointers.size(), stored.indices.size(), stored.values.size(), file.path, heatpp::to_string(stored.shape),
        major + 1);
}

void check_pointers(const Loading& file, const at::Tensor& pointers, std::int64_t first, std::int64_t major,
                    std::int64_t entries) {
  const auto* const pointer = pointers.const_data_ptr<std::int64_t>();
  const auto count = pointers.numel() - 1;
  if (first == 0 && pointer[0] != 0)
    raise<IoError>(file.op, "got pointers from {} in \"{}\"; expected them to begin at 0", pointer[0], file.path);
  for (std::int64_t i = 0; i < count; ++i)
    if (pointer[i] < 0 || pointer[i + 1] < pointer[i] || pointer[i + 1] > entries)
      raise<IoError>(file.op, "got the pointers {} and {} at {} of \"{}\"; expected them to increase from 0 to {}",
                     pointer[i], pointer[i + 1], first + i, file.path, entries);
  if (first + count == major && pointer[count] != entries)
    raise<IoError>(file.op, "got pointers up to {} in \"{}\" with {} entries; expected as many", pointer[count],
                   file.path, entries);
}

/// The range of columns, and the number of columns that are not larger than their predecessor.
struct ColumnRange {
  std::int64_t least = 0, most = -1, falls = 0;
};

template <class T>
[[gnu::always_inline]] inline ColumnRange seen(const T* column, std::int64_t count) {
  T least = column[0], most = column[0];
  std::int64_t falls = 0;
  for (std::int64_t i = 1; i < count; ++i) {
    least = std::min(least, column[i]);
    most = std::max(most, column[i]);
    falls += column[i] <= column[i - 1];
  }
  return {least, most, falls};
}
HEATPP_SIMD ColumnRange look_at(const std::int32_t* column, std::int64_t count) { return seen(column, count); }
HEATPP_SIMD ColumnRange look_at(const std::int64_t* column, std::int64_t count) { return seen(column, count); }

/// Counts the columns at the beginning of a row that are not larger than their predecessor, which is in another row.
template <class T>
std::int64_t falls_between(const T* column, const std::int64_t* ptr, std::int64_t rows) {
  std::int64_t falls = 0;
  for (std::int64_t row = 1; row < rows; ++row)
    if (ptr[row] > 0 && ptr[row] < ptr[row + 1]) falls += column[ptr[row]] <= column[ptr[row] - 1];
  return falls;
}

/// Throws IoError for columns outside the shape. Returns whether columns increase in each row.
template <class T>
bool check_columns(const Loading& file, const StoredMatrix& stored, const StoredRun& run, std::int64_t minor) {
  const auto count = run.columns.numel();
  if (count == 0) return true;
  const auto* const column = run.columns.const_data_ptr<T>();
  const auto found = look_at(column, count);
  if (found.least < 0 || found.most >= minor)
    raise<IoError>(file.op, "got {} {} to {} in \"{}\"; expected 0 to {}", stored.by_columns ? "rows" : "columns",
                   found.least, found.most, file.path, minor - 1);
  return found.falls == falls_between(column, run.row_ptr.const_data_ptr<std::int64_t>(), run.row_ptr.numel() - 1);
}

DCSRMatrix finished(const Loading& file, const DCSRMatrix& a) {
  const auto cut = file.options.split ? resplit(a, 0) : resplit(a, std::nullopt);
  return file.options.dtype && *file.options.dtype != a.dtype() ? astype(cut, *file.options.dtype) : cut;
}

}  // namespace

Loading::Loading(const char* op_, const std::filesystem::path& path_, const LoadOptions& options_)
    : op(op_), path(path_.string()), options(options_), comm(comm_of(options_.comm)) {
  check_split(op, options.split);
}

at::Tensor StoredArray::numbers(const Loading& file, std::int64_t first, std::int64_t count, int axis) const {
  return whole_numbers(file, first, count, axis).to(at::kLong).contiguous();
}

at::Tensor StoredArray::whole_numbers(const Loading& file, std::int64_t first, std::int64_t count, int axis) const {
  if (!is_whole(dtype) || dtype == Dtype::bool_)
    raise<IoError>(file.op, "got {} of {} in \"{}\"; expected whole numbers", what, name(dtype), file.path);
  const auto numbers = read(axis, first, count).contiguous();
  return dtype == int32 ? numbers : numbers.to(at::kLong);
}

StoredArray flat_array(const Loading& file, std::string what, std::shared_ptr<io::detail::ByteReader> bytes,
                       io::detail::FlatArray array) {
  const auto dtype = array.type.element.dtype;
  const auto shape = array.shape;
  auto read = [op = file.op, path = file.path, bytes = std::move(bytes), array = std::move(array)](
                  int axis, std::int64_t first, std::int64_t count) {
    const auto whole = io::detail::select(array.shape, {}, op);
    const auto box = array.shape.empty() ? whole : io::detail::narrow(whole, axis, first, count);
    auto out = at::empty(io::detail::extents(box), heatpp::detail::to_torch(array.type.element.dtype));
    io::detail::read_flat({*bytes, array, path, op}, box, out);
    return out;
  };
  return {std::move(what), shape, dtype, std::move(read)};
}

void check_shape(const Loading& file, const Shape& shape) {
  constexpr auto most = std::int64_t{1} << 62;
  if (shape.size() != 2 || shape[0] < 0 || shape[1] < 0 || shape[0] > most || shape[1] > most)
    raise<IoError>(file.op, "got shape {} in \"{}\"; expected two numbers of 0 to 2^62", heatpp::to_string(shape),
                   file.path);
  const auto rows = file.options.split ? shape[0] / file.comm.size() : shape[0];
  static_cast<void>(
      heatpp::detail::block_or_error(file.op, {rows + 2}, [&] { return at::empty({rows + 2}, at::kLong); }));
}

StoredRun read_run(const Loading& file, const StoredMatrix& stored, std::int64_t minor, std::int64_t first,
                   std::int64_t count) {
  check_sizes(file, stored);
  const auto pointers = stored.pointers.numbers(file, first, count + 1);
  check_pointers(file, pointers, first, stored.pointers.size() - 1, stored.indices.size());
  const auto begin = pointers[0].item<std::int64_t>(), entries = pointers[count].item<std::int64_t>() - begin;
  StoredRun run{pointers - begin, stored.indices.whole_numbers(file, begin, entries),
                stored.values.read(0, begin, entries)};
  run.rising = run.columns.scalar_type() == at::kInt ? check_columns<std::int32_t>(file, stored, run, minor)
                                                     : check_columns<std::int64_t>(file, stored, run, minor);
  return run;
}

DCSRMatrix load_compressed(const Loading& file, const StoredMatrix& stored) {
  const auto& shape = stored.shape;
  const Shape as_rows = stored.by_columns ? Shape{shape[1], shape[0]} : shape;
  CsrBlock block;
  std::optional<Layout> layout;
  all_or_none(file.comm, [&] {
    check_shape(file, shape);
    layout = rows_layout(as_rows, true, file.comm.size());
    const auto rank = file.comm.rank();
    const auto run = read_run(file, stored, as_rows[1], layout->offset(rank), layout->count(rank));
    if (run.values.dim() != 1)
      raise<IoError>(file.op, "got values with {} axes in \"{}\"; expected one", run.values.dim(), file.path);
    block = {run.row_ptr, run.columns, run.values};
    if (!run.rising) block = block_from(file.op, triples_of(block, 0), 0, block.rows(), Duplicates::summed);
  });
  const auto a = wrap(std::move(block), *layout, file.comm);
  return finished(file, stored.by_columns ? transpose(a) : a);
}

DCSRMatrix load_triples(const Loading& file, const Shape& shape, Triples triples) {
  all_or_none(file.comm, [&] { check_shape(file, shape); });
  const auto layout = rows_layout(shape, file.options.split.has_value(), file.comm.size());
  return finished(file, placed(file.op, std::move(triples), layout, file.comm, true));
}

DNDarray whole_pointers(const DCSRMatrix& a) {
  const auto& block = block_of(a);
  if (!a.split()) return heatpp::detail::wrap(block.row_ptr, a.layout().replicated({a.rows() + 1}), a.comm());
  const auto& impl = Access::impl(a);
  const auto rank = a.comm().rank(), last = a.comm().size() - 1;
  const auto mine = block.row_ptr.narrow(0, 0, block.rows() + (rank == last)) + impl.entries.offset(rank);
  auto cuts = a.layout().offsets();
  ++cuts.back();
  return heatpp::detail::wrap(mine, Layout({a.rows() + 1}, 0, std::move(cuts)), a.comm());
}

StoredIndices indices_to_store(const DCSRMatrix& a) {
  const auto columns = a.column_indices();
  const auto dtype = a.nnz() <= std::numeric_limits<std::int32_t>::max() ? columns.dtype() : int64;
  return {columns.astype(dtype), whole_pointers(a).astype(dtype)};
}

void check_options(const char* op, const LoadOptions& options, const Has& has) {
  if (!options.group.empty() && !has.group)
    raise<ValueError>(op, "got the group \"{}\"; expected none but of HDF5 files", options.group);
}

void check_options(const char* op, const SaveOptions& options, const Has& has) {
  if ((!options.group.empty() || options.append) && !has.group)
    raise<ValueError>(op, "got {}; expected it only for HDF5 files", options.append ? "append" : "a group");
  if (options.compression && !has.compression)
    raise<ValueError>(op, "got compression; expected it only for .npz and HDF5 files");
}

}  // namespace heatpp::sparse::detail
