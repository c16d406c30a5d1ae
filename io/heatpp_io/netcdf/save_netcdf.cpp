#include <ATen/ATen.h>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/interop/mpi.hpp>
#include <heatpp_io/detail/elements/pieces.hpp>
#include <heatpp_io/detail/options/fields.hpp>
#include <heatpp_io/detail/elements/save_array.hpp>
#include <heatpp_io/detail/files/first_error.hpp>
#include <heatpp_io/detail/formats.hpp>
#include <heatpp_io/hdf5/detail/handle.hpp>
#include <heatpp_io/netcdf/detail/new_variable.hpp>
#include <heatpp_io/stream/detail/row_pieces.hpp>

#include <netcdf.h>
#include <netcdf_par.h>

#include <array>

namespace heatpp::io {
namespace {

constexpr auto op = "save_netcdf";
constexpr std::int64_t most_bytes = std::int64_t{1} << 30;

/// A variable that all ranks write together through netCDF.
struct Target {
  const detail::NewVariable& x;
  const detail::SaveJob& job;
  detail::NetcdfVariable variable;
};

void check(const Target& to, int status) { detail::check_netcdf(status, to.job.shown, op); }

detail::NetcdfFile open_file(const Target& to) {
  const auto comm = to_mpi(to.x.comm);
  const bool append = to.x.options.append;
  int id = -1;
  check(to, append ? nc_open_par(to.job.path.c_str(), NC_WRITE, comm, MPI_INFO_NULL, &id)
                   : nc_create_par(to.job.path.c_str(), NC_NETCDF4 | NC_CLOBBER, comm, MPI_INFO_NULL, &id));
  if (append) nc_redef(id);
  return detail::NetcdfFile(id);
}

detail::NetcdfVariable define(const Target& to, int file) {
  const auto made = detail::define(to.x, file, to.job);
  const auto& options = to.x.options;
  if (!options.chunks.empty() && size_of(to.x.shape) > 0) {
    const std::vector<std::size_t> chunks(options.chunks.begin(), options.chunks.end());
    check(to, nc_def_var_chunking(made.group, made.id, NC_CHUNKED, chunks.data()));
  }
  if (options.compression && size_of(to.x.shape) > 0 && !to.x.shape.empty())
    check(to, nc_def_var_deflate(made.group, made.id, options.shuffle, 1, *options.compression));
  detail::end_definitions(to.x, file, to.job);
  check(to, nc_var_par_access(made.group, made.id, NC_COLLECTIVE));
  return made;
}

/// Writes a piece of a part that begins at these indices; writes nothing if there is no piece.
struct Part {
  const at::Tensor& values;
  Shape first;
};
void write_piece(const Target& to, const Part& part, const detail::Piece* piece) {
  const auto axes = to.x.shape.size();
  std::vector<std::size_t> start(axes, 0), count(axes, 0);
  for (std::size_t i = 0; piece && i < axes; ++i) {
    start[i] = static_cast<std::size_t>(piece->first[i] + part.first[i]);
    count[i] = static_cast<std::size_t>(piece->count[i]);
  }
  const auto* data = static_cast<const std::byte*>(part.values.const_data_ptr());
  const auto* from = piece ? data + piece->offset * part.values.element_size() : data;
  check(to, nc_put_vara(to.variable.group, to.variable.id, start.data(), count.data(), from));
}

std::vector<detail::Piece> pieces_of(const at::Tensor& values) {
  return detail::plan_pieces({values.sizes().begin(), values.sizes().end()}, most_bytes / values.element_size());
}

/// Returns this rank's part of an array that begins at row `begin` of the variable.
Part part_of(const Target& to, const detail::Blocks& blocks, std::int64_t begin) {
  auto first = blocks.layout.local_offset(to.x.comm.rank());
  first[0] += begin;
  return {blocks.mine, std::move(first)};
}

/// All ranks make equally many calls, which growing and compressed variables require.
void write_together(const Target& to, const detail::Blocks& blocks, std::int64_t begin) {
  const auto part = part_of(to, blocks, begin);
  const auto pieces = pieces_of(blocks.mine);
  std::array<std::int64_t, 1> calls{std::ssize(pieces)};
  to.x.comm.allreduce(calls, ReduceOp::max);
  detail::FirstError error;
  for (std::int64_t i = 0; i < calls[0]; ++i)
    error.run([&] { write_piece(to, part, i < std::ssize(pieces) ? &pieces[static_cast<std::size_t>(i)] : nullptr); });
  all_or_none(to.x.comm, [&] { error.rethrow(); });
}

void write_apart(const Target& to, const detail::Blocks& blocks, std::int64_t begin) {
  all_or_none(to.x.comm, [&] { check(to, nc_var_par_access(to.variable.group, to.variable.id, NC_INDEPENDENT)); });
  const auto& [layout, mine] = blocks;
  if (layout.is_grid() || detail::has_long_runs(layout, mine.element_size())) {
    const auto part = part_of(to, blocks, begin);
    return all_or_none(to.x.comm, [&] {
      for (const auto& piece : pieces_of(mine)) write_piece(to, part, &piece);
    });
  }
  detail::each_rows(blocks.layout, blocks.mine, to.x.comm, [&](std::int64_t first, const at::Tensor& rows) {
    Shape at(to.x.shape.size(), 0);
    at[0] = begin + first;
    for (const auto& piece : pieces_of(rows)) write_piece(to, {rows, at}, &piece);
  });
}

/// Whether all ranks write together. A file that is extended may have growing dimensions.
bool together(const SaveNetcdfOptions& options) { return options.compression || options.unlimited || options.append; }

/// Writes `x`, or a piece of the array that begins at row `begin`.
void write_elements(const Target& to, const DNDarray& x, std::int64_t begin) {
  if (x.ndim() == 0) {
    all_or_none(x.comm(), [&] {
      check(to, nc_put_var(to.variable.group, to.variable.id, x.larray().to(at::kCPU).contiguous().const_data_ptr()));
    });
  } else if (x.size() > 0) {
    (together(to.x.options) ? write_together : write_apart)(to, detail::boxes_of(x), begin);
  }
}

using WritePieces = std::function<void(const detail::WriteAt&)>;

detail::Transfer write_netcdf4(const detail::NewVariable& x, const detail::SaveJob& job, const WritePieces& write) {
  Target to{x, job, {}};
  std::optional<detail::NetcdfFile> file;
  all_or_none(x.comm, [&] { file.emplace(open_file(to)); });
  all_or_none(x.comm, [&] { to.variable = define(to, file->id()); });
  all_or_none(x.comm, [&] {
    if (x.comm.rank() == 0) detail::Room(job.path, job.shown, op).reserve(detail::bytes_of(x.shape, x.dtype));
  });
  write([&](const DNDarray& piece, std::int64_t begin) { write_elements(to, piece, begin); });
  all_or_none(x.comm, [&] { check(to, file->close()); });
  const bool collective = x.shape.empty() || size_of(x.shape) == 0 || together(x.options);
  return {collective, collective ? "" : "independent: each rank writes its part"};
}

/// Makes the file, and calls `write` to fill it.
void save_variable(const detail::NewVariable& given, const std::filesystem::path& path, const WritePieces& write) {
  const detail::Recorder recorder(op);
  const detail::Hdf5Turn turn;
  auto x = given;
  auto settings = detail::settings_to_write(path, x.options);
  settings.push_back({"name", x.name});
  heatpp::detail::check_agreed(op, x.comm, settings, [] {});
  x.format = detail::netcdf_format(op, path.string(), x.options, x.comm);
  detail::check_variable(x);
  const auto begin = x.options.append ? detail::AsideFile::Begin::copy : detail::AsideFile::Begin::empty;
  const auto bytes = detail::bytes_of(x.shape, x.dtype);
  const auto transfer = detail::save_one({op, x.comm, path, bytes, begin}, [&](const detail::SaveJob& job) {
    return (x.format == NetcdfFormat::netcdf4 ? write_netcdf4 : detail::write_classic)(x, job, write);
  });
  recorder.finish(bytes, 1, transfer);
}

}  // namespace

void save_netcdf(const DNDarray& x, const std::filesystem::path& path, const std::string& name,
                 const SaveNetcdfOptions& options) {
  save_variable({op, x.shape(), x.dtype(), x.comm(), name, options}, path,
                [&](const detail::WriteAt& write) { write(x, 0); });
}

void detail::save_rows_netcdf(const RowsToSave& x, const std::filesystem::path& path, const SaveOptions& saved) {
  const auto options = netcdf_options(saved, op);
  const auto name = dataset_or_data(saved);
  const auto unit = options.chunks.empty() ? 1 : options.chunks[0];
  save_variable({op, x.shape, x.dtype, comm_of(x), name, options}, path, [&](const WriteAt& write) {
    each_piece(op, x, unit, [&](std::int64_t first, const DNDarray& rows) { write(rows, first); });
  });
}

}  // namespace heatpp::io
