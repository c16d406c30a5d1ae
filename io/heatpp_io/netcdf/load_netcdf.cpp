#include <ATen/ATen.h>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/torch.hpp>
#include <heatpp_io/detail/elements/pieces.hpp>
#include <heatpp_io/detail/files/byte_file.hpp>
#include <heatpp_io/detail/files/expand.hpp>
#include <heatpp_io/detail/shards/openers.hpp>
#include <heatpp_io/detail/shards/read.hpp>
#include <heatpp_io/detail/shards/stored_source.hpp>
#include <heatpp_io/hdf5/detail/handle.hpp>
#include <heatpp_io/netcdf/detail/netcdf_attributes.hpp>
#include <heatpp_io/netcdf/detail/netcdf_classic.hpp>
#include <heatpp_io/netcdf/detail/netcdf_file.hpp>
#include <heatpp_io/netcdf/detail/netcdf_packing.hpp>
#include <heatpp_io/netcdf/netcdf.hpp>

#include <netcdf.h>

#include <algorithm>
#include <array>

namespace heatpp::io {
namespace {

using heatpp::detail::formatted;
using heatpp::detail::raise;

constexpr auto op = "load_netcdf";
constexpr std::int64_t direct_bytes = std::int64_t{1} << 30, staging_bytes = std::int64_t{4} << 20;

/// An open variable.
struct Variable {
  detail::NetcdfFile file;
  std::string path;
  detail::NetcdfVariable at;
  int stored = NC_NAT;
  detail::DatasetInfo info;
  std::optional<detail::NetcdfPacking> packing;  ///< for numbers that stand for others
};

std::string name_of(int group, int variable) {
  std::array<char, NC_MAX_NAME + 1> name{};
  nc_inq_varname(group, variable, name.data());
  return name.data();
}

/// The variables of the root group; `coordinates` are named like a dimension.
std::vector<std::string> root_names(int file, bool coordinates) {
  int count = 0, ignored = 0;
  nc_inq_nvars(file, &count);
  std::vector<std::string> names;
  for (int i = 0; i < count; ++i)
    if (auto name = name_of(file, i); coordinates || nc_inq_dimid(file, name.c_str(), &ignored) != NC_NOERR)
      names.push_back(std::move(name));
  return names;
}

std::string listing(int file) {
  std::string text;
  for (const auto& name : root_names(file, true))
    if (text.size() < 200) text += formatted("{}\"{}\"", text.empty() ? "" : ", ", name);
  return text.empty() ? "no variables" : text;
}

std::string only_variable(int file, const std::string& path) {
  const auto names = root_names(file, false);
  if (names.size() != 1)
    raise<ValueError>(op,
                      "got no variable's name, and {} variables in the root of \"{}\", which has {}; expected a name",
                      names.size(), path, listing(file));
  return names.front();
}

detail::NetcdfVariable find(int file, const std::string& name, const std::string& path) {
  const auto parts = detail::name_parts(name);
  detail::NetcdfVariable found{file, -1};
  int status = NC_NOERR;
  for (std::size_t i = 0; i + 1 < parts.size() && status == NC_NOERR; ++i)
    status = nc_inq_grp_ncid(found.group, parts[i].c_str(), &found.group);
  if (status == NC_NOERR) status = nc_inq_varid(found.group, parts.back().c_str(), &found.id);
  if (status != NC_NOERR)
    raise<IoError>(op, "got no variable \"{}\" in \"{}\", whose root has {}; expected one of that name", name, path,
                   listing(file));
  return found;
}

void read_storage(Variable& variable) {
  const auto& [group, id] = variable.at;
  std::vector<std::size_t> chunk(variable.info.shape.size());
  int storage = NC_CONTIGUOUS, shuffle = 0, deflated = 0, level = 0;
  if (chunk.empty() || nc_inq_var_chunking(group, id, &storage, chunk.data()) != NC_NOERR || storage != NC_CHUNKED)
    return;  // classic formats have no chunks
  for (const auto extent : chunk)
    variable.info.chunk.push_back(std::max<std::int64_t>(1, static_cast<std::int64_t>(extent)));
  variable.info.compressed = nc_inq_var_deflate(group, id, &shuffle, &deflated, &level) == NC_NOERR && deflated != 0;
}

bool is_float(Dtype dtype) { return dtype == float32 || dtype == float64; }

/// Numbers with a scale or an offset become floats; floats alone can show that they are missing.
void read_packing(Variable& variable) {
  auto& element = variable.info.element;
  const bool floats = is_float(element.dtype);
  auto packing = detail::read_packing(variable.at, variable.path, op);
  if (element.dtype == bool_ || (!packing.packed && (!floats || packing.missing.empty()))) return;
  const bool short_numbers = element.dtype == float32 || (!element.may_overflow && itemsize(element.dtype) <= 2) ||
                             variable.stored == NC_USHORT;
  if (packing.packed) element = {short_numbers && !packing.wide ? float32 : float64};
  variable.packing = std::move(packing);
}

/// Throws for a file that is missing, for which netCDF may take its name for an address, or shorter than it says.
void check_file(const std::string& path) {
  detail::FileReader file(path, op);
  if (const auto bytes = detail::classic_bytes(file, path, op); bytes > file.size())
    raise<IoError>(op, "got \"{}\" with {} bytes; expected {}, as its header says", path, file.size(), bytes);
}

Variable open_variable(const std::string& path, const std::string& name) {
  check_file(path);
  int id = -1;
  detail::check_netcdf(nc_open(path.c_str(), NC_NOWRITE, &id), path, op);
  Variable variable{detail::NetcdfFile(id), path, {}, NC_NAT, {}, {}};
  variable.at = find(id, name.empty() ? only_variable(id, path) : name, path);
  detail::check_netcdf(nc_inq_vartype(variable.at.group, variable.at.id, &variable.stored), path, op);
  const auto element = detail::netcdf_element(variable.stored);
  const auto what = formatted("variable \"{}\" of \"{}\"", name, path);
  if (!element)
    raise<IoError>(op, "got {}, which holds {}; expected numbers", what,
                   variable.stored == NC_CHAR || variable.stored == NC_STRING ? "text" : "elements of a user's type");
  variable.info.element =
      variable.stored == NC_BYTE && detail::is_flag(variable.at) ? detail::ElementType{bool_} : *element;
  read_packing(variable);
  variable.info.shape = detail::shape_of(variable.at, path, op);
  detail::checked_bytes(variable.info.shape, static_cast<std::int64_t>(itemsize(variable.info.element.dtype)), what,
                        op);
  read_storage(variable);
  return variable;
}

/// netCDF's call that converts stored numbers to those of `dtype`.
template <class... Args>
int get(const Variable& variable, void* to, Args... where) {
  const auto& [group, id] = variable.at;
  if (variable.packing && variable.info.element.dtype == float32)
    return nc_get_vars_float(group, id, where..., static_cast<float*>(to));
  if (variable.packing) return nc_get_vars_double(group, id, where..., static_cast<double*>(to));
  if (variable.info.element.may_overflow)
    return nc_get_vars_ulonglong(group, id, where..., static_cast<unsigned long long*>(to));
  switch (variable.stored) {
    case NC_USHORT: return nc_get_vars_int(group, id, where..., static_cast<int*>(to));
    case NC_UINT: return nc_get_vars_longlong(group, id, where..., static_cast<long long*>(to));
    default: return nc_get_vars(group, id, where..., to);
  }
}

void read_piece(const Variable& variable, const detail::Selection& box, const detail::Piece& piece,
                const at::Tensor& to) {
  std::vector<std::size_t> start, count;
  std::vector<std::ptrdiff_t> step;
  for (std::size_t i = 0; i < box.size(); ++i) {
    start.push_back(static_cast<std::size_t>(box[i].start + piece.first[i] * box[i].step));
    count.push_back(static_cast<std::size_t>(piece.count[i]));
    step.push_back(piece.count[i] > 1 ? box[i].step : 1);
  }
  detail::check_netcdf(get(variable, to.data_ptr(), start.data(), count.data(), step.data()), variable.path, op);
  if (variable.packing) detail::unpack(*variable.packing, to);
  if (variable.info.element.dtype == bool_) to.view(at::kByte).clamp_(0, 1);
  if (variable.info.element.may_overflow && to.lt(0).any().item<bool>()) detail::raise_overflow(variable.path, op);
}

void read_box(const Variable& variable, const detail::Selection& box, const at::Tensor& out) {
  const auto type = heatpp::detail::to_torch(variable.info.element.dtype);
  const bool direct = out.scalar_type() == type;
  const auto limit = (direct ? direct_bytes : staging_bytes) / static_cast<std::int64_t>(c10::elementSize(type));
  const auto flat = out.view({-1});
  for (const auto& piece : detail::plan_pieces(detail::extents(box), limit)) {
    const auto place = flat.narrow(0, piece.offset, piece.size);
    const auto target = direct ? place : at::empty({piece.size}, type);
    read_piece(variable, box, piece, target);
    if (!direct) place.copy_(target);
  }
}

/// The variables of a group and of those in it.
void add_names(int group, const std::string& prefix, std::vector<std::string>& names) {
  for (const auto& name : root_names(group, true)) names.push_back(prefix + name);
  int count = 0;
  nc_inq_grps(group, &count, nullptr);
  std::vector<int> inner(static_cast<std::size_t>(count));
  nc_inq_grps(group, &count, inner.data());
  for (const auto id : inner) {
    std::array<char, NC_MAX_NAME + 1> name{};
    nc_inq_grpname(id, name.data());
    add_names(id, prefix + name.data() + "/", names);
  }
}

std::vector<std::string> dimension_names_of(const Variable& variable) {
  std::vector<std::string> names;
  for (const auto dimension : detail::dimensions_of(variable.at, variable.path, op)) {
    std::array<char, NC_MAX_NAME + 1> name{};
    nc_inq_dimname(variable.at.group, dimension, name.data());
    names.push_back(detail::in_utf8(name.data()));
  }
  return names;
}

detail::Shards look_into(const Source& source, const std::string& name, const Communicator& comm) {
  const auto describe = [&](const std::string& path) { return open_variable(path, name).info; };
  return detail::inspect({detail::expand(source, comm, op, ".nc"), name}, describe, comm, op);
}

}  // namespace

detail::OpenArray detail::open_netcdf(const std::string& path, const std::string& name) {
  const detail::Hdf5Turn turn;
  const auto variable = std::make_shared<Variable>(open_variable(path, name));
  const auto read = [variable](const auto& box, const auto& out) {
    const detail::Hdf5Turn own;
    read_box(*variable, box, out);
  };
  return {variable->info, detail::watched(read, path, op)};
}

detail::Annotations detail::netcdf_annotations(const std::string& path, const std::string& name) {
  const Hdf5Turn turn;
  const auto variable = open_variable(path, name);
  auto attributes = read_attributes(variable.at, path, op);
  const auto drop = [&](std::initializer_list<const char*> applied) {
    for (const auto* each : applied) attributes.erase(each);
  };
  if (variable.info.element.dtype == bool_) drop({"dtype"});
  if (is_float(variable.info.element.dtype)) drop({"_FillValue", "missing_value"});
  if (variable.packing && variable.packing->packed)
    drop({"scale_factor", "add_offset", "valid_min", "valid_max", "valid_range"});
  return {dimension_names_of(variable), std::move(attributes)};
}

std::vector<std::string> detail::netcdf_names(const std::string& path) {
  const Hdf5Turn turn;
  check_file(path);
  int id = -1;
  check_netcdf(nc_open(path.c_str(), NC_NOWRITE, &id), path, op);
  const NetcdfFile file(id);
  std::vector<std::string> names;
  add_names(id, "", names);
  return names;
}

bool supports_netcdf() { return true; }

DNDarray load_netcdf(const Source& source, const std::string& name, const LoadOptions& options) {
  const detail::Recorder recorder(op);
  const detail::Hdf5Turn turn;
  const auto& comm = comm_of(options.comm);
  const auto open = [&](const std::string& path) { return detail::open_netcdf(path, name); };
  const auto shards = look_into(source, name, comm);
  const auto box = detail::select(shards.info.shape, options.slices, op);
  return detail::load_array({op, shards, box, comm, open}, options, recorder);
}

Rows netcdf_rows(const Source& source, const std::string& name, const StoredRowsOptions& options) {
  const detail::Hdf5Turn turn;
  const auto& comm = comm_of(options.comm);
  const auto open = [name](const std::string& path) { return detail::open_netcdf(path, name); };
  // The mutex is the library's, and outlives all files.
  const std::shared_ptr<std::recursive_mutex> mutex(std::shared_ptr<void>(), &hdf5_mutex());
  return detail::rows_of({"netcdf_rows", look_into(source, name, comm), open, mutex}, options);
}

}  // namespace heatpp::io
