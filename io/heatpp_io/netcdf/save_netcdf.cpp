#include <ATen/ATen.h>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/interop/mpi.hpp>
#include <heatpp_io/detail/elements/pieces.hpp>
#include <heatpp_io/detail/elements/save_array.hpp>
#include <heatpp_io/detail/files/first_error.hpp>
#include <heatpp_io/hdf5/detail/handle.hpp>
#include <heatpp_io/netcdf/detail/netcdf_file.hpp>
#include <heatpp_io/netcdf/netcdf.hpp>

#include <netcdf.h>
#include <netcdf_par.h>

#include <algorithm>
#include <array>

namespace heatpp::io {
namespace {

using heatpp::detail::formatted;
using heatpp::detail::raise;

constexpr auto op = "save_netcdf";
constexpr std::int64_t direct_bytes = std::int64_t{1} << 30;

/// A new variable.
struct Target {
  const detail::SaveJob& job;
  const DNDarray& x;
  const std::string& name;
  const SaveNetcdfOptions& options;
};

void check_options(const DNDarray& x, const std::string& name, const SaveNetcdfOptions& options) {
  if (!detail::netcdf_type(x.dtype()))
    raise<TypeError>(op, "got an array of {}; expected a dtype that netCDF has: bool, whole numbers, float32, float64",
                     heatpp::name(x.dtype()));
  if (std::ranges::any_of(detail::name_parts(name), [](const auto& part) { return part.empty(); }))
    raise<ValueError>(op, "got variable name \"{}\"; expected a name, or one in groups (\"a/b\")", name);
  if (!options.dimension_names.empty() && std::ssize(options.dimension_names) != x.ndim())
    raise<ValueError>(op, "got {} dimension names for an array of shape {}; expected one for each axis",
                      options.dimension_names.size(), heatpp::to_string(x.shape()));
  if (options.compression && (*options.compression < 0 || *options.compression > 9))
    raise<ValueError>(op, "got compression {}; expected a deflate level from 0 to 9", *options.compression);
  if (options.unlimited && (x.ndim() == 0 || (x.size() == 0 && x.shape()[0] > 0)))
    raise<ValueError>(op, "got unlimited for an array of shape {}; expected an axis, and elements along it",
                      heatpp::to_string(x.shape()));
}

void check(const Target& to, int status) { detail::check_netcdf(status, to.job.shown, op); }

detail::NetcdfFile open_file(const Target& to) {
  const auto comm = to_mpi(to.x.comm());
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
  const auto extent = static_cast<std::size_t>(to.x.shape()[axis]);
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
  for (std::size_t axis = 0; axis < to.x.shape().size(); ++axis)
    dimensions.push_back(dimension_of(to, made.group, axis, parts.back()));
  check(to, nc_def_var(made.group, name, *detail::netcdf_type(to.x.dtype()), to.x.ndim(), dimensions.data(), &made.id));
  check(to, nc_def_var_fill(made.group, made.id, NC_NOFILL, nullptr));
  if (to.options.compression && to.x.size() > 0 && to.x.ndim() > 0)
    check(to, nc_def_var_deflate(made.group, made.id, 0, 1, *to.options.compression));
  if (to.x.dtype() == bool_) check(to, nc_put_att_text(made.group, made.id, "dtype", 4, "bool"));
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
  const auto axes = to.x.shape().size();
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
void write_together(const Target& to, const detail::NetcdfVariable& variable, const detail::Blocks& blocks) {
  const auto& comm = to.x.comm();
  const auto axis = static_cast<std::size_t>(*blocks.layout.split());
  const Part part{blocks.mine, axis, blocks.layout.offset(comm.rank())};
  const auto pieces = pieces_of(blocks.mine);
  std::array<std::int64_t, 1> calls{std::ssize(pieces)};
  comm.allreduce(calls, ReduceOp::max);
  detail::FirstError error;
  for (std::int64_t i = 0; i < calls[0]; ++i)
    error.run([&] {
      write_piece(to, variable, part, i < std::ssize(pieces) ? &pieces[static_cast<std::size_t>(i)] : nullptr);
    });
  all_or_none(comm, [&] { error.rethrow(); });
}

void write_rows(const Target& to, const detail::NetcdfVariable& variable, const detail::Blocks& blocks) {
  all_or_none(to.x.comm(), [&] { check(to, nc_var_par_access(variable.group, variable.id, NC_INDEPENDENT)); });
  detail::each_rows(blocks.layout, blocks.mine, to.x.comm(), [&](std::int64_t first, const at::Tensor& rows) {
    for (const auto& piece : pieces_of(rows)) write_piece(to, variable, {rows, 0, first}, &piece);
  });
}

/// Returns whether all ranks wrote together. In a file that is extended the dimensions may be growing ones.
bool write_elements(const Target& to, const detail::NetcdfVariable& variable) {
  const auto blocks = detail::blocks_of(to.x);
  const bool together = to.options.compression || to.options.unlimited || to.options.append;
  (together ? write_together : write_rows)(to, variable, blocks);
  return together;
}

detail::Transfer write_variable(const Target& to) {
  const auto& comm = to.x.comm();
  std::optional<detail::NetcdfFile> file;
  detail::NetcdfVariable variable;
  all_or_none(comm, [&] { file.emplace(open_file(to)); });
  all_or_none(comm, [&] { variable = define(to, file->id()); });
  all_or_none(comm, [&] {
    if (comm.rank() == 0) detail::Room(to.job.path, to.job.shown, op).reserve(detail::bytes_of(to.x));
  });
  bool together = true;
  if (to.x.ndim() == 0) {
    all_or_none(comm, [&] {
      check(to, nc_put_var(variable.group, variable.id, to.x.larray().to(at::kCPU).contiguous().const_data_ptr()));
    });
  } else if (to.x.size() > 0) {
    together = write_elements(to, variable);
  }
  all_or_none(comm, [&] { check(to, file->close()); });
  return {together, together ? "" : "independent: each rank writes its rows"};
}

}  // namespace

void save_netcdf(const DNDarray& x, const std::filesystem::path& path, const std::string& name,
                 const SaveNetcdfOptions& options) {
  const detail::Recorder recorder(op);
  const detail::Hdf5Turn turn;
  check_options(x, name, options);
  const auto begin = options.append ? detail::AsideFile::Begin::copy : detail::AsideFile::Begin::empty;
  const detail::NewFile file{op, x.comm(), path, detail::bytes_of(x), begin};
  const auto transfer = save_one(file, [&](const detail::SaveJob& job) {
    return write_variable({job, x, name, options});
  });
  recorder.finish(detail::bytes_of(x), 1, transfer);
}

}  // namespace heatpp::io
