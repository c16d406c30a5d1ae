#include <ATen/ATen.h>

#include <heatpp/comm/communicator.hpp>
#include <heatpp_io/detail/elements/numpy_type.hpp>
#include <heatpp_io/detail/files/byte_file.hpp>
#include <heatpp_io/netcdf/detail/netcdf_classic.hpp>
#include <heatpp_io/netcdf/detail/new_variable.hpp>

#include <netcdf.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace heatpp::io::detail {
namespace {

// Elements whose bytes were reversed should still be in the cache when they are written.
constexpr std::int64_t staging_bytes = std::int64_t{1} << 20;

/// netCDF writes the header, because it moves existing data, and sets the length of the file. On one rank.
void define_alone(const NewVariable& x, const SaveJob& job) {
  const auto mode = x.format == NetcdfFormat::cdf5   ? NC_64BIT_DATA
                    : x.format == NetcdfFormat::cdf2 ? NC_64BIT_OFFSET
                                                     : 0;
  int id = -1, ignored = 0;
  check_netcdf(
      x.options.append ? nc_open(job.path.c_str(), NC_WRITE, &id) : nc_create(job.path.c_str(), NC_CLOBBER | mode, &id),
      job.shown, x.op);
  NetcdfFile file(id);
  if (x.options.append) check_netcdf(nc_redef(id), job.shown, x.op);
  if (!x.options.replace)  // its rows may lengthen other variables
    check_netcdf(nc_set_fill(id, NC_NOFILL, &ignored), job.shown, x.op);
  const auto made = define(x, id, job);
  end_definitions(x, id, job);
  if ((x.options.unlimited || x.options.replace) && size_of(x.shape) > 0) {  // their number is what was written
    std::vector<std::size_t> last;
    for (const auto extent : x.shape) last.push_back(static_cast<std::size_t>(extent) - 1);
    const std::array<std::byte, 8> zero{};
    check_netcdf(nc_put_var1(id, made.id, last.data(), zero.data()), job.shown, x.op);
  }
  check_netcdf(file.close(), job.shown, x.op);
}

/// Returns where the variable is in the file that rank 0 has made.
ClassicPlace made_on_root(const NewVariable& x, const SaveJob& job) {
  std::array<std::int64_t, 2> numbers{};
  all_or_none(x.comm, [&] {
    if (x.comm.rank() != 0) return;
    define_alone(x, job);
    Room(job.path, job.shown, x.op).reserve(0);
    FileReader file(job.path, x.op);
    const auto place = classic_place(file, x.name, job.shown, x.op);
    numbers = {place.begin, place.record};
  });
  x.comm.broadcast(numbers, 0);
  return {numbers[0], numbers[1]};
}

/// Writes elements in the byte order of the classic formats.
void write_run(const FileWriter& file, std::int64_t offset, const at::Tensor& elements) {
  const auto bytes = elements.element_size(), limit = staging_bytes / bytes;
  const StoredType type{{}, elements.scalar_type(), bytes, bytes};
  const auto staging = at::empty({std::min(limit, elements.numel())}, elements.options());
  for (std::int64_t first = 0; first < elements.numel(); first += limit) {
    const auto part = elements.narrow(0, first, std::min(limit, elements.numel() - first));
    std::memcpy(staging.data_ptr(), part.const_data_ptr(), static_cast<std::size_t>(part.numel() * bytes));
    to_native(type, staging.data_ptr(), part.numel());
    file.write(offset + first * bytes, part.numel() * bytes, staging.const_data_ptr());
  }
}

/// Writes elements from `first` on of the variable. Each row has `of_row` elements, and may be in a record.
void write_elements(const FileWriter& file, const ClassicPlace& place, std::int64_t of_row, std::int64_t first,
                    const at::Tensor& elements) {
  const auto bytes = elements.element_size();
  if (place.record == 0 || place.record == of_row * bytes)
    return write_run(file, place.begin + first * bytes, elements);
  for (std::int64_t done = 0, count = 0; done < elements.numel(); done += count) {
    const auto row = (first + done) / of_row, at = (first + done) % of_row;
    count = std::min(of_row - at, elements.numel() - done);
    write_run(file, place.begin + row * place.record + at * bytes, elements.narrow(0, done, count));
  }
}

}  // namespace

Transfer write_classic(const NewVariable& x, const SaveJob& job, const std::function<void(const WriteAt&)>& write) {
  const auto place = made_on_root(x, job);
  std::optional<FileWriter> file;
  all_or_none(x.comm, [&] { file.emplace(job.path, job.shown, x.op); });
  write([&](const DNDarray& piece, std::int64_t begin) {
    if (piece.size() == 0) return;
    const auto blocks = blocks_of(piece);
    const auto of_row = piece.size() / blocks.layout.shape()[0];
    each_run(blocks.layout, blocks.mine, x.comm, [&](std::int64_t first, const at::Tensor& elements) {
      write_elements(*file, place, of_row, begin * of_row + first, elements);
    });
  });
  return {false, "independent: each rank writes its rows"};
}

}  // namespace heatpp::io::detail
