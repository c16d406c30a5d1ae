#include <heatpp/comm/detail/numbers/place.hpp>
#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/promotion.hpp>
#include <heatpp/sparse/elementwise.hpp>
#include <heatpp/sparse/io/detail/small_file.hpp>
#include <heatpp/sparse/io/files.hpp>
#include <heatpp_io/detail/elements/save_array.hpp>

#include <algorithm>
#include <limits>

namespace heatpp::sparse {

using namespace detail;

namespace {

constexpr std::int64_t matrix_class = 1211216;  // PETSc's MAT_FILE_CLASSID

/// The beginning of the file: the class, rows, columns, entries, and then the number of entries of each row.
struct Header {
  std::shared_ptr<io::detail::FileReader> bytes;
  std::int64_t of_number = 4;  ///< bytes of a whole number
  Shape shape = {};
  std::int64_t entries = 0, of_value = 8;
  const char* value_type = ">f8";
  [[nodiscard]] std::int64_t lengths_at() const { return 4 * of_number; }
  [[nodiscard]] std::int64_t columns_at() const { return lengths_at() + shape[0] * of_number; }
  [[nodiscard]] std::int64_t values_at() const { return columns_at() + entries * of_number; }
  [[nodiscard]] const char* number_type() const { return of_number == 4 ? ">i4" : ">i8"; }
};

StoredArray run_of(const Loading& file, const Header& header, const char* type, std::int64_t at, std::int64_t count) {
  return flat_array(file, "numbers", header.bytes,
                    {io::detail::stored_type(type, file.path, file.op), {count}, false, at});
}

/// Reads the four numbers at the beginning.
void read_numbers(const Loading& file, Header& header) {
  for (const std::int64_t of_number : {4, 8}) {
    header.of_number = of_number;
    if (header.bytes->size() < 4 * of_number) break;
    const auto found = run_of(file, header, header.number_type(), 0, 4).numbers(file, 0, 4);
    const auto* const numbers = found.const_data_ptr<std::int64_t>();
    if (numbers[0] != matrix_class) continue;
    header.shape = {numbers[1], numbers[2]}, header.entries = numbers[3];
    return;
  }
  raise<IoError>(file.op, "got \"{}\", which does not begin with {}; expected a matrix in PETSc's binary format",
                 file.path, matrix_class);
}

/// Whether another object, e.g. a vector, may begin at `at`: the classes of PETSc's objects are consecutive numbers.
bool another_begins(const Loading& file, const Header& header, std::int64_t at) {
  const auto number = run_of(file, header, header.number_type(), at, 1).numbers(file, 0, 1).item<std::int64_t>();
  return number >= matrix_class - 4 && number < matrix_class + 100;
}

Header read_header(const Loading& file) {
  Header header;
  header.bytes = std::make_shared<io::detail::FileReader>(file.path, file.op);
  read_numbers(file, header);
  check_shape(file, header.shape);
  const auto left = header.bytes->size() / header.of_number;
  if (header.entries < 0 || header.shape[0] > left || header.entries > left)
    raise<IoError>(file.op,
                   "got {} rows and {} entries in \"{}\" of {} bytes; expected entries, not a dense matrix, "
                   "and a complete file",
                   header.shape[0], header.entries, file.path, header.bytes->size());
  const auto of_values = header.bytes->size() - header.values_at();
  if (header.entries > 0 && of_values == 16 * header.entries &&
      !another_begins(file, header, header.values_at() + 8 * header.entries))
    header.of_value = 16, header.value_type = ">c16";
  if (header.entries > 0 && of_values == 4 * header.entries) header.of_value = 4, header.value_type = ">f4";
  if (of_values < header.of_value * header.entries)
    raise<IoError>(file.op, "got {} bytes of values in \"{}\"; expected {} for {} entries", of_values, file.path,
                   header.of_value * header.entries, header.entries);
  return header;
}

at::Tensor big_endian(const at::Tensor& x) {
  return detail::byte_rows(x.is_complex() ? at::view_as_real(x.contiguous()) : x).flip(1).contiguous();
}

void write(const io::detail::FileWriter& file, std::int64_t at, const at::Tensor& x) {
  const auto bytes = big_endian(x);
  if (bytes.numel() > 0) file.write(at, bytes.numel(), bytes.const_data_ptr());
}

io::detail::Transfer write_matrix(const io::detail::SaveJob& job, const DCSRMatrix& a, at::ScalarType number) {
  const auto of_number = static_cast<std::int64_t>(c10::elementSize(number));
  const auto& block = block_of(a);
  const bool writes = a.split() || a.comm().rank() == 0;  // rank 0 writes replicated data
  const auto lengths_at = 4 * of_number + first_row(a) * of_number;
  const auto columns_begin = (4 + a.rows()) * of_number, values_begin = columns_begin + a.nnz() * of_number;
  const auto before = a.split() ? Access::impl(a).entries.offset(a.comm().rank()) : 0;
  const auto of_value = static_cast<std::int64_t>(block.values.element_size());
  std::optional<io::detail::FileWriter> file;
  all_or_none(a.comm(), [&] {
    file.emplace(job.path, job.shown, job.op);
    if (a.comm().rank() == 0) io::detail::Room(job.path, job.shown, job.op).reserve(values_begin + a.nnz() * of_value);
  });
  all_or_none(a.comm(), [&] {
    if (a.comm().rank() == 0)
      write(*file, 0, at::tensor({matrix_class, a.rows(), a.columns(), a.nnz()}, at::kLong).to(number));
    if (!writes) return;
    write(*file, lengths_at, block.row_ptr.diff().to(number));
    write(*file, columns_begin + before * of_number, block.columns.to(number));
    write(*file, values_begin + before * of_value, block.values);
  });
  return {false, "independent: each rank writes its rows"};
}

DCSRMatrix load_part_of_petsc(const Loading& file) {
  Header header;
  at::Tensor pointers;
  all_or_none(file.comm, [&] {
    header = read_header(file);
    const auto layout = rows_layout(header.shape, true, file.comm.size());
    const auto first = layout.offset(file.comm.rank()), count = layout.count(file.comm.rank());
    const auto lengths =
        run_of(file, header, header.number_type(), header.lengths_at(), header.shape[0]).numbers(file, first, count);
    if (count > 0 && at::min(lengths).item<std::int64_t>() < 0)
      raise<IoError>(file.op, "got a row of {} entries in \"{}\"; expected none below 0",
                     at::min(lengths).item<std::int64_t>(), file.path);
    pointers = at::cat({at::zeros({1}, at::kLong), lengths.cumsum(0)});
  });
  pointers += heatpp::detail::place_in_whole(file.comm, pointers[-1].item<std::int64_t>()).offset;
  const StoredArray of_rows{
      "pointers", {header.shape[0] + 1}, Dtype::int64, [pointers](int, std::int64_t, std::int64_t) {
        return pointers;
      }};  // the rows of this rank
  return load_compressed(file, {header.shape, false, of_rows,
                                run_of(file, header, header.number_type(), header.columns_at(), header.entries),
                                run_of(file, header, header.value_type, header.values_at(), header.entries)});
}

}  // namespace

DCSRMatrix load_petsc(const std::filesystem::path& path, const LoadOptions& options) {
  const Loading file("load_petsc", path, options);
  check_options(file.op, options, {});
  return load_matrix(file, load_part_of_petsc);
}

void save_petsc(const DCSRMatrix& a, const std::filesystem::path& path, const SaveOptions& options) {
  constexpr auto op = "save_petsc";
  check_options(op, options, {});
  const io::detail::Recorder recorder(op);
  const auto numbers = astype(a, is_complex(a.dtype()) ? Dtype::complex128 : Dtype::float64);
  const auto most = std::max({a.rows(), a.columns(), a.nnz()});
  const auto number = most <= std::numeric_limits<std::int32_t>::max() ? at::kInt : at::kLong;
  const auto bytes = a.nnz() * 24 + a.rows() * 8;
  const io::detail::NewFile file{op, a.comm(), path, bytes};
  recorder.finish(bytes, 1, io::detail::save_one(file, [&](const io::detail::SaveJob& job) {
                    return write_matrix(job, numbers, number);
                  }));
}

}  // namespace heatpp::sparse
