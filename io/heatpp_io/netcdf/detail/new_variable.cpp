#include <heatpp_io/netcdf/detail/new_variable.hpp>

#include <heatpp/comm/communicator.hpp>
#include <heatpp/comm/detail/raise.hpp>
#include <heatpp_io/detail/files/byte_file.hpp>
#include <heatpp_io/netcdf/detail/netcdf_attributes.hpp>
#include <heatpp_io/netcdf/detail/netcdf_classic.hpp>

#include <netcdf.h>

#include <algorithm>
#include <array>
#include <limits>

namespace heatpp::io::detail {
namespace {

using heatpp::detail::formatted;
using heatpp::detail::raise;

struct Traits {
  std::string_view name;
  int version;  ///< number in the first bytes of the file; 0: HDF5
  std::int64_t most_along_an_axis;
  std::string_view limits;
};
constexpr auto endless = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t short_axis = (std::int64_t{1} << 31) - 4;
/// In the same order as NetcdfFormat.
constexpr std::array all_traits{
    Traits{"netcdf4", 0, endless, "a dimension without an end for each axis of length 0"},
    Traits{"cdf5", 5, endless, "one dimension without an end in a file, and that as first"},
    Traits{"cdf2", 2, short_axis,
           "one dimension without an end in a file, and that as first, and less than 4 GiB in "
           "all variables but the last, and in records"},
    Traits{"cdf1", 1, short_axis,
           "one dimension without an end in a file, and that as first, and less than 2 GiB "
           "before the last variable, and in records"}};

const Traits& traits(NetcdfFormat format) { return all_traits[static_cast<std::size_t>(format)]; }

/// Throws if netCDF refuses a definition. The reason is either the variable or the file.
void check(const NewVariable& x, const SaveJob& job, int status) {
  constexpr std::array about_variables{NC_EDIMSIZE, NC_EVARSIZE, NC_EUNLIMIT, NC_EUNLIMPOS, NC_EBADNAME};
  if (std::ranges::find(about_variables, status) != about_variables.end())
    raise<ValueError>(
        x.op,
        "got variable \"{}\" of shape {}, {} bytes, for \"{}\" in format {}, of which netCDF says \"{}\"; "
        "expected {}",
        x.name, heatpp::to_string(x.shape), bytes_of(x.shape, x.dtype), job.shown, traits(x.format).name,
        nc_strerror(status), traits(x.format).limits);
  check_netcdf(status, job.shown, x.op);
}

/// Returns netCDF's type of the elements.
int type_of(const NewVariable& x) { return x.options.uint64 ? NC_UINT64 : *netcdf_type(x.dtype); }

/// Throws for what the classic formats do not have.
void check_classic(const NewVariable& x) {
  const auto& [name, version, most, limits] = traits(x.format);
  if (version < 5 && (x.dtype == uint8 || x.dtype == int64))
    raise<TypeError>(x.op,
                     "got an array of {}; expected a dtype that {} has: bool, int8, int16, int32, float32, float64",
                     heatpp::name(x.dtype), name);
  const bool grouped = name_parts(x.name).size() > 1;
  if (grouped || x.options.compression || !x.options.chunks.empty())
    raise<ValueError>(x.op, "got {} for a file in format {}; expected netcdf4, which has {}",
                      grouped                 ? formatted("variable \"{}\" in a group", x.name)
                      : x.options.compression ? formatted("compression {}", *x.options.compression)
                                              : formatted("chunks {}", heatpp::to_string(x.options.chunks)),
                      name, grouped ? "groups" : "them");
  for (std::size_t axis = 0; axis < x.shape.size(); ++axis)
    if (x.shape[axis] > most || (x.shape[axis] == 0 && axis > 0))
      raise<ValueError>(x.op,
                        "got an array of shape {} for a file in format {}; expected {} to {} elements along axis {}",
                        heatpp::to_string(x.shape), name, axis > 0 ? 1 : 0, most, axis);
}

/// Returns the dimension of an axis: one that the file has, or a new one.
int dimension_of(const NewVariable& x, int group, std::size_t axis, const std::string& variable, const SaveJob& job) {
  const auto& names = x.options.dimension_names;
  const bool named = !names.empty() && !names[axis].empty();
  const auto name = named ? names[axis] : formatted("{}_dim_{}", variable, axis);
  const auto extent = static_cast<std::size_t>(x.shape[axis]);
  const bool unlimited = axis == 0 && x.options.unlimited;
  int id = -1;
  std::size_t length = 0;
  if (nc_inq_dimid(group, name.c_str(), &id) != NC_NOERR) {
    check(x, job, nc_def_dim(group, name.c_str(), extent == 0 || unlimited ? NC_UNLIMITED : extent, &id));
  } else if (nc_inq_dimlen(group, id, &length) != NC_NOERR || length != extent) {
    raise<ValueError>(x.op,
                      "got {} elements for axis {}, and dimension \"{}\" of \"{}\" of length {}; expected equal ones",
                      extent, axis, name, job.shown, length);
  } else if (unlimited && !grows(group, id)) {
    raise<ValueError>(x.op,
                      "got unlimited and dimension \"{}\" of \"{}\", which has an end at {}; expected another name",
                      name, job.shown, length);
  }
  return id;
}

/// Throws if an existing variable cannot store x's elements unchanged.
void check_replaced(const NewVariable& x, const NetcdfVariable& at, const SaveJob& job) {
  int stored = NC_NAT;
  check_netcdf(nc_inq_vartype(at.group, at.id, &stored), job.shown, x.op);
  if (stored != type_of(x) || is_flag(at) != (x.dtype == bool_))
    raise<TypeError>(x.op,
                     "got an array of {} for variable \"{}\" of \"{}\", which has another dtype; expected its own",
                     heatpp::name(x.dtype), x.name, job.shown);
  const auto said = read_decoding(at, job.shown, x.op);
  if (said.contains("scale_factor") || said.contains("add_offset"))
    raise<ValueError>(x.op, "got variable \"{}\" of \"{}\", which has scale_factor or add_offset; expected neither",
                      x.name, job.shown);
  const auto dimensions = dimensions_of(at, job.shown, x.op);
  const auto shape = shape_of(at, job.shown, x.op);
  const bool may_grow = !dimensions.empty() && grows(at.group, dimensions[0]);
  auto longer = shape;
  if (may_grow && x.shape.size() == shape.size()) longer[0] = std::max(shape[0], x.shape[0]);
  if (longer != x.shape)
    raise<ValueError>(x.op, "got an array of shape {} for variable \"{}\" of \"{}\", of shape {}; expected that{}",
                      heatpp::to_string(x.shape), x.name, job.shown, heatpp::to_string(shape),
                      may_grow ? ", or more rows" : "");
}

/// Sets the values of elements that nobody writes, if the dimension grows with other variables: NaN for floats.
void define_missing(const NewVariable& x, const NetcdfVariable& at, bool may_grow, const SaveJob& job) {
  const auto float_nan = std::numeric_limits<float>::quiet_NaN();
  const auto double_nan = std::numeric_limits<double>::quiet_NaN();
  const void* missing = x.dtype == float32 ? static_cast<const void*>(&float_nan) : &double_nan;
  const bool filled = may_grow && (x.dtype == float32 || x.dtype == float64);
  check(x, job, nc_def_var_fill(at.group, at.id, filled ? NC_FILL : NC_NOFILL, filled ? missing : nullptr));
}

}  // namespace

NetcdfFormat netcdf_format(const char* op, const std::string& path, const SaveNetcdfOptions& options,
                           const Communicator& comm) {
  if (!options.append) return options.format.value_or(NetcdfFormat::netcdf4);
  std::array<std::int64_t, 1> version{0};
  all_or_none(comm, [&] {
    if (comm.rank() != 0) return;
    FileReader file(path, op);
    version[0] = classic_version(file);
  });
  comm.broadcast(version, 0);
  const auto* found = std::ranges::find(all_traits, static_cast<int>(version[0]), &Traits::version);
  const auto format = static_cast<NetcdfFormat>(found - all_traits.begin());
  if (options.format && *options.format != format)
    raise<ValueError>(op, "got format {} for \"{}\", which is {}; expected that, or none", traits(*options.format).name,
                      path, found->name);
  return format;
}

void check_variable(const NewVariable& x) {
  const auto& options = x.options;
  const auto ndim = std::ssize(x.shape);
  check_uint64(options.uint64, x.dtype, x.op);
  if (!netcdf_type(x.dtype))
    raise<TypeError>(x.op,
                     "got an array of {}; expected a dtype that netCDF has: bool, whole numbers, float32, float64",
                     heatpp::name(x.dtype));
  if (std::ranges::any_of(name_parts(x.name), [](const auto& part) { return part.empty(); }))
    raise<ValueError>(x.op, "got variable name \"{}\"; expected a name, or one in groups (\"a/b\")", x.name);
  detail::check(x.op, annotations_of(options), x.shape, netcdf_rules, {x.dtype, x.format});
  if (options.compression && (*options.compression < 0 || *options.compression > 9))
    raise<ValueError>(x.op, "got compression {}; expected a deflate level from 0 to 9", *options.compression);
  check_chunks(x.op, options.chunks, x.shape, endless);
  if (options.replace && !options.append)
    raise<ValueError>(x.op, "got replace without append, which makes a new file; expected both, or neither");
  if (options.unlimited && (ndim == 0 || (size_of(x.shape) == 0 && x.shape[0] > 0)))
    raise<ValueError>(x.op, "got unlimited for an array of shape {}; expected an axis, and elements along it",
                      heatpp::to_string(x.shape));
  if (x.format != NetcdfFormat::netcdf4) check_classic(x);
}

NetcdfVariable define(const NewVariable& x, int file, const SaveJob& job) {
  const auto parts = name_parts(x.name);
  NetcdfVariable made{file, -1};
  for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
    int inner = -1;
    if (nc_inq_grp_ncid(made.group, parts[i].c_str(), &inner) != NC_NOERR)
      check(x, job, nc_def_grp(made.group, parts[i].c_str(), &inner));
    made.group = inner;
  }
  const auto* name = parts.back().c_str();
  if (nc_inq_varid(made.group, name, &made.id) == NC_NOERR) {
    if (!x.options.replace)
      raise<ValueError>(x.op, "got variable \"{}\", which \"{}\" has already; expected a new name, or replace", x.name,
                        job.shown);
    check_replaced(x, made, job);
    return made;
  }
  std::vector<int> dimensions;
  for (std::size_t axis = 0; axis < x.shape.size(); ++axis)
    dimensions.push_back(dimension_of(x, made.group, axis, parts.back(), job));
  check(x, job,
        nc_def_var(made.group, name, type_of(x), static_cast<int>(x.shape.size()), dimensions.data(), &made.id));
  define_missing(x, made, !dimensions.empty() && grows(made.group, dimensions[0]), job);
  if (x.dtype == bool_) check(x, job, nc_put_att_text(made.group, made.id, "dtype", 4, "bool"));
  write_attributes(made, x.options.attributes, {x.dtype, x.format}, job.shown, x.op);
  return made;
}

void end_definitions(const NewVariable& x, int file, const SaveJob& job) { check(x, job, nc_enddef(file)); }

}  // namespace heatpp::io::detail
