#include <ATen/ATen.h>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/interop/mpi.hpp>
#include <heatpp_io/detail/codecs/codecs.hpp>
#include <heatpp_io/detail/elements/pieces.hpp>
#include <heatpp_io/detail/elements/save_array.hpp>
#include <heatpp_io/detail/files/first_error.hpp>
#include <heatpp_io/detail/formats.hpp>
#include <heatpp_io/hdf5/detail/handle.hpp>
#include <heatpp_io/netcdf/detail/netcdf_file.hpp>
#include <heatpp_io/netcdf/netcdf.hpp>
#include <heatpp_io/stream/detail/row_pieces.hpp>

#include <netcdf.h>
#include <netcdf_par.h>

#include <algorithm>
#include <array>
#include <limits>

namespace heatpp::io {
namespace {

using heatpp::detail::formatted;
using heatpp::detail::raise;

constexpr auto op = "save_netcdf";
constexpr std::int64_t direct_bytes = std::int64_t{1} << 30;

/// A new variable.
struct Target {
  const detail::SaveJob& job;
  const Shape& shape;
  Dtype dtype;
  const Communicator& comm;
  const std::string& name;
  const SaveNetcdfOptions& options;
};

void check_options(const Shape& shape, Dtype dtype, const std::string& name, const SaveNetcdfOptions& options) {
  const auto ndim = std::ssize(shape);
  if (!detail::netcdf_type(dtype))
    raise<TypeError>(op, "got an array of {}; expected a dtype that netCDF has: bool, whole numbers, float32, float64",
                     heatpp::name(dtype));
  if (std::ranges::any_of(detail::name_parts(name), [](const auto& part) { return part.empty(); }))
    raise<ValueError>(op, "got variable name \"{}\"; expected a name, or one in groups (\"a/b\")", name);
  if (!options.dimension_names.empty() && std::ssize(options.dimension_names) != ndim)
    raise<ValueError>(op, "got {} dimension names for an array of shape {}; expected one for each axis",
                      options.dimension_names.size(), heatpp::to_string(shape));
  if (options.compression && (*options.compression < 0 || *options.compression > 9))
    raise<ValueError>(op, "got compression {}; expected a deflate level from 0 to 9", *options.compression);
  detail::check_chunks(op, options.chunks, shape, std::numeric_limits<std::int64_t>::max());
  if (options.unlimited && (ndim == 0 || (size_of(shape) == 0 && shape[0] > 0)))
    raise<ValueError>(op, "got unlimited for an array of shape {}; expected an axis, and elements along it",
                      heatpp::to_string(shape));
}

void check(const Target& to, int status) { detail::check_netcdf(status, to.job.shown, op); }

detail::NetcdfFile open_file(const Target& to) {
  const auto comm = to_mpi(to.comm);
  int id = -1;
  check(to, to.options.append ? nc_open_par(to.job.path.c_str(), NC_WRITE, comm, MPI_INFO_NULL, &id)
                              : nc_create_par(to.job.path.c_str(), NC_NETCDF4 | NC_CLOBBER, comm, MPI_INFO_NULL, &id));
  if (to.options.append) nc_redef(id);
  return detail::NetcdfFile(id);
}

/// The dimension of an axis: the one that the file has, or a new one.
int dimension_of(const Target& to, int group, std::size_t axis, const std::string& variable) {
  const auto name =
      to.options.dimension_names.empty() ? formatted("{}_dim_{}", variable, axis) : to.options.dimension_names[axis];
  const auto extent = static_cast<std::size_t>(to.shape[axis]);
  const bool grows = extent == 0 || (axis == 0 && to.options.unlimited);
  int id = -1;
  std::size_t length = 0;
  if (nc_inq_dimid(group, name.c_str(), &id) != NC_NOERR) {
    check(to, nc_def_dim(group, name.c_str(), grows ? NC_UNLIMITED : extent, &id));
  } else if (nc_inq_dimlen(group, id, &length) != NC_NOERR || length != extent) {
    raise<ValueError>(op,
                      "got {} elements for axis {}, and dimension \"{}\" of \"{}\" of length {}; expected equal ones",
                      extent, axis, name, to.job.shown, length);
  }
  return id;
}

detail::NetcdfVariable define(const Target& to, int file) {
  const auto parts = detail::name_parts(to.name);
  detail::NetcdfVariable made{file, -1};
  for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
    int inner = -1;
    if (nc_inq_grp_ncid(made.group, parts[i].c_str(), &inner) != NC_NOERR)
      check(to, nc_def_grp(made.group, parts[i].c_str(), &inner));
    made.group = inner;
  }
  const auto* name = parts.back().c_str();
  if (nc_inq_varid(made.group, name, &made.id) == NC_NOERR)
    raise<ValueError>(op, "got variable \"{}\", which \"{}\" has already; expected a new name", to.name, to.job.shown);
  std::vector<int> dimensions;
  for (std::size_t axis = 0; axis < to.shape.size(); ++axis)
    dimensions.push_back(dimension_of(to, made.group, axis, parts.back()));
  check(to, nc_def_var(made.group, name, *detail::netcdf_type(to.dtype), static_cast<int>(to.shape.size()),
                       dimensions.data(), &made.id));
  check(to, nc_def_var_fill(made.group, made.id, NC_NOFILL, nullptr));
  if (!to.options.chunks.empty() && size_of(to.shape) > 0) {
    const std::vector<std::size_t> chunks(to.options.chunks.begin(), to.options.chunks.end());
    check(to, nc_def_var_chunking(made.group, made.id, NC_CHUNKED, chunks.data()));
  }
  if (to.options.compression && size_of(to.shape) > 0 && !to.shape.empty())
    check(to, nc_def_var_deflate(made.group, made.id, 0, 1, *to.options.compression));
  if (to.dtype == bool_) check(to, nc_put_att_text(made.group, made.id, "dtype", 4, "bool"));
  check(to, nc_enddef(file));
  check(to, nc_var_par_access(made.group, made.id, NC_COLLECTIVE));
  return made;
}

/// Writes a piece of a part that begins at index `first` along `axis`; nothing without a piece.
struct Part {
  const at::Tensor& values;
  std::size_t axis;
  std::int64_t first;
};
void write_piece(const Target& to, const detail::NetcdfVariable& variable, const Part& part,
                 const detail::Piece* piece) {
  const auto axes = to.shape.size();
  std::vector<std::size_t> start(axes, 0), count(axes, 0);
  for (std::size_t i = 0; piece && i < axes; ++i) {
    start[i] = static_cast<std::size_t>(piece->first[i] + (i == part.axis ? part.first : 0));
    count[i] = static_cast<std::size_t>(piece->count[i]);
  }
  const auto* data = static_cast<const std::byte*>(part.values.const_data_ptr());
  const auto* from = piece ? data + piece->offset * part.values.element_size() : data;
  check(to, nc_put_vara(variable.group, variable.id, start.data(), count.data(), from));
}

std::vector<detail::Piece> pieces_of(const at::Tensor& values) {
  return detail::plan_pieces({values.sizes().begin(), values.sizes().end()}, direct_bytes / values.element_size());
}

/// All ranks call equally often, which growing and compressed variables want.
void write_together(const Target& to, const detail::NetcdfVariable& variable, const detail::Blocks& blocks,
                    std::int64_t begin) {
  const auto axis = static_cast<std::size_t>(*blocks.layout.split());
  const Part part{blocks.mine, axis, begin + blocks.layout.offset(to.comm.rank())};
  const auto pieces = pieces_of(blocks.mine);
  std::array<std::int64_t, 1> calls{std::ssize(pieces)};
  to.comm.allreduce(calls, ReduceOp::max);
  detail::FirstError error;
  for (std::int64_t i = 0; i < calls[0]; ++i)
    error.run([&] {
      write_piece(to, variable, part, i < std::ssize(pieces) ? &pieces[static_cast<std::size_t>(i)] : nullptr);
    });
  all_or_none(to.comm, [&] { error.rethrow(); });
}

void write_rows(const Target& to, const detail::NetcdfVariable& variable, const detail::Blocks& blocks,
                std::int64_t begin) {
  all_or_none(to.comm, [&] { check(to, nc_var_par_access(variable.group, variable.id, NC_INDEPENDENT)); });
  detail::each_rows(blocks.layout, blocks.mine, to.comm, [&](std::int64_t first, const at::Tensor& rows) {
    for (const auto& piece : pieces_of(rows)) write_piece(to, variable, {rows, 0, begin + first}, &piece);
  });
}

/// Whether all ranks write together. In a file that is extended the dimensions may be growing ones.
bool together(const SaveNetcdfOptions& options) { return options.compression || options.unlimited || options.append; }

/// Writes `x`, or a piece of the array that begins at row `begin`.
void write_elements(const Target& to, const detail::NetcdfVariable& variable, const DNDarray& x, std::int64_t begin) {
  if (x.ndim() == 0) {
    all_or_none(to.comm, [&] {
      check(to, nc_put_var(variable.group, variable.id, x.larray().to(at::kCPU).contiguous().const_data_ptr()));
    });
  } else if (x.size() > 0) {
    (together(to.options) ? write_together : write_rows)(to, variable, detail::blocks_of(x), begin);
  }
}

using WriteAt = std::function<void(const DNDarray&, std::int64_t begin)>;
detail::Transfer write_variable(const Target& to, const std::function<void(const WriteAt&)>& write) {
  std::optional<detail::NetcdfFile> file;
  detail::NetcdfVariable variable;
  all_or_none(to.comm, [&] { file.emplace(open_file(to)); });
  all_or_none(to.comm, [&] { variable = define(to, file->id()); });
  all_or_none(to.comm, [&] {
    if (to.comm.rank() == 0) detail::Room(to.job.path, to.job.shown, op).reserve(detail::bytes_of(to.shape, to.dtype));
  });
  write([&](const DNDarray& x, std::int64_t begin) { write_elements(to, variable, x, begin); });
  all_or_none(to.comm, [&] { check(to, file->close()); });
  const bool collective = to.shape.empty() || size_of(to.shape) == 0 || together(to.options);
  return {collective, collective ? "" : "independent: each rank writes its rows"};
}

}  // namespace

void save_netcdf(const DNDarray& x, const std::filesystem::path& path, const std::string& name,
                 const SaveNetcdfOptions& options) {
  const detail::Recorder recorder(op);
  const detail::Hdf5Turn turn;
  check_options(x.shape(), x.dtype(), name, options);
  const auto begin = options.append ? detail::AsideFile::Begin::copy : detail::AsideFile::Begin::empty;
  const detail::NewFile file{op, x.comm(), path, detail::bytes_of(x), begin};
  const auto transfer = save_one(file, [&](const detail::SaveJob& job) {
    const Target to{job, x.shape(), x.dtype(), x.comm(), name, options};
    return write_variable(to, [&](const WriteAt& write) { write(x, 0); });
  });
  recorder.finish(detail::bytes_of(x), 1, transfer);
}

void detail::save_rows_netcdf(const RowsToSave& x, const std::filesystem::path& path, const SaveOptions& saved) {
  const Recorder recorder(op);
  const Hdf5Turn turn;
  const SaveNetcdfOptions options{
      .append = saved.append, .chunks = saved.chunks, .compression = detail::gzip_level(saved.compression, op)};
  const auto name = dataset_or_data(saved);
  check_options(x.shape, x.dtype, name, options);
  const auto begin = options.append ? AsideFile::Begin::copy : AsideFile::Begin::empty;
  const auto transfer = save_one({op, comm_of(x), path, bytes_of(x), begin}, [&](const SaveJob& job) {
    const Target to{job, x.shape, x.dtype, comm_of(x), name, options};
    const auto unit = options.chunks.empty() ? 1 : options.chunks[0];
    return write_variable(to, [&](const WriteAt& write) {
      each_piece(op, x, unit, [&](std::int64_t first, const DNDarray& rows) { write(rows, first); });
    });
  });
  recorder.finish(bytes_of(x), 1, transfer);
}

}  // namespace heatpp::io
