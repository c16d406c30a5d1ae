#include <ATen/ATen.h>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/torch.hpp>
#include <heatpp_io/detail/elements/pieces.hpp>
#include <heatpp_io/detail/files/byte_file.hpp>
#include <heatpp_io/detail/files/expand.hpp>
#include <heatpp_io/detail/shards/decoded_array.hpp>
#include <heatpp_io/detail/shards/openers.hpp>
#include <heatpp_io/detail/shards/read.hpp>
#include <heatpp_io/detail/shards/stored_source.hpp>
#include <heatpp_io/hdf5/detail/filters.hpp>
#include <heatpp_io/netcdf/detail/netcdf_attributes.hpp>
#include <heatpp_io/netcdf/detail/netcdf_classic.hpp>
#include <heatpp_io/netcdf/detail/netcdf_file.hpp>
#include <heatpp_io/netcdf/netcdf.hpp>

#include <netcdf.h>
#include <netcdf_filter.h>

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
  detail::NetcdfVariable at = {};
  at::ScalarType in_memory = at::kFloat;
  detail::DatasetInfo info = {};
  detail::Decoding decoding = {};
};

std::string name_of(int group, int variable) {
  std::array<char, NC_MAX_NAME + 1> name{};
  nc_inq_varname(group, variable, name.data());
  return name.data();
}

/// Returns the variables of the root group; `coordinates` have the name of a dimension.
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
    raise<detail::NoSuchArray>(op, "got no variable \"{}\" in \"{}\", whose root has {}; expected one of that name",
                               name, path, listing(file));
  return found;
}

/// Returns the filters of a variable; the first one is shuffle if it has it, and any other filter.
std::vector<detail::AppliedFilter> filters_of(const detail::NetcdfVariable& at) {
  std::vector<detail::AppliedFilter> filters;
  std::size_t count = 0;
  if (nc_inq_var_filter_ids(at.group, at.id, &count, nullptr) != NC_NOERR || count == 0) return filters;
  std::vector<unsigned> ids(count);
  nc_inq_var_filter_ids(at.group, at.id, &count, ids.data());
  int shuffled = 0;
  nc_inq_var_deflate(at.group, at.id, &shuffled, nullptr, nullptr);
  if (shuffled != 0) filters.push_back({H5Z_FILTER_SHUFFLE, {}});
  for (const auto id : ids) {
    std::size_t parameters = 0;
    nc_inq_var_filter_info(at.group, at.id, id, &parameters, nullptr);
    filters.push_back({static_cast<H5Z_filter_t>(id), std::vector<unsigned>(parameters)});
    nc_inq_var_filter_info(at.group, at.id, id, &parameters, filters.back().parameters.data());
  }
  return filters;
}

void read_storage(Variable& variable) {
  const auto& [group, id] = variable.at;
  std::vector<std::size_t> chunk(variable.info.shape.size());
  int storage = NC_CONTIGUOUS;
  if (chunk.empty() || nc_inq_var_chunking(group, id, &storage, chunk.data()) != NC_NOERR || storage != NC_CHUNKED)
    return;  // classic formats have no chunks
  for (const auto extent : chunk)
    variable.info.chunk.push_back(std::max<std::int64_t>(1, static_cast<std::int64_t>(extent)));
  const auto filters = filters_of(variable.at);
  variable.info.compressed = !filters.empty();
  variable.info.compression = detail::nearest_compression(filters);
}

std::string kind_of(int group, int type) {
  if (type == NC_CHAR || type == NC_STRING) return "text";
  std::array<char, NC_MAX_NAME + 1> name{};
  nc_inq_user_type(group, type, name.data(), nullptr, nullptr, nullptr, nullptr);
  return formatted("elements of the type \"{}\"", name.data());
}

void read_type(Variable& variable, const std::string& what) {
  int type = NC_NAT;
  const auto& [group, id] = variable.at;
  detail::check_netcdf(nc_inq_vartype(group, id, &type), variable.path, op);
  const auto numbers = detail::netcdf_numbers(group, type);
  if (!numbers)
    raise<IoError>(op, "got {}, which holds {}; expected numbers, enumerations, or records of r and i", what,
                   kind_of(group, type));
  variable.in_memory = numbers->in_memory;
  variable.info.element = numbers->stored.element;
  variable.decoding =
      detail::decoding_of(detail::read_decoding(variable.at, variable.path, op), numbers->stored, what, op);
}

/// Throws for a missing file, whose name netCDF might take for a web address, and for a truncated one.
void check_file(const std::string& path) {
  detail::FileReader file(path, op);
  if (const auto bytes = detail::classic_bytes(file, path, op); bytes > file.size())
    raise<IoError>(op, "got \"{}\" with {} bytes; expected {}, as its header says", path, file.size(), bytes);
}

detail::NetcdfFile open_file(const std::string& path) {
  check_file(path);
  detail::register_filters();  // netCDF looks for them when it opens a file
  int id = -1;
  detail::check_netcdf(nc_open(path.c_str(), NC_NOWRITE, &id), path, op);
  return detail::NetcdfFile(id);
}

Variable open_variable(const std::string& path, const std::string& name) {
  Variable variable{open_file(path), path};
  const auto id = variable.file.id();
  variable.at = find(id, name.empty() ? only_variable(id, path) : name, path);
  const auto what = formatted("variable \"{}\" of \"{}\"", name, path);
  read_type(variable, what);
  variable.info.shape = detail::shape_of(variable.at, path, op);
  detail::checked_bytes(variable.info.shape, static_cast<std::int64_t>(itemsize(variable.info.element.dtype)), what,
                        op);
  const auto dimensions = detail::dimensions_of(variable.at, path, op);
  variable.info.may_grow = !dimensions.empty() && detail::grows(variable.at.group, dimensions[0]);
  read_storage(variable);
  return variable;
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
  const auto& [group, id] = variable.at;
  const auto status = nc_get_vars(group, id, start.data(), count.data(), step.data(), to.data_ptr());
  if (status != NC_NOERR)
    if (const auto missing = detail::missing_filter(filters_of(variable.at)))
      raise<IoError>(op, "got \"{}\", whose chunks went through {}", variable.path, *missing);
  detail::check_netcdf(status, variable.path, op);
}

void read_box(const Variable& variable, const detail::Selection& box, const at::Tensor& out) {
  const auto type = variable.in_memory;
  const bool direct = out.scalar_type() == type;
  const auto limit = (direct ? direct_bytes : staging_bytes) / static_cast<std::int64_t>(c10::elementSize(type));
  const auto flat = out.view({-1});
  for (const auto& piece : detail::plan_pieces(detail::extents(box), limit)) {
    const auto place = flat.narrow(0, piece.offset, piece.size);
    const auto target = direct ? place : at::empty({piece.size}, type);
    read_piece(variable, box, piece, target);
    const bool checked_later = variable.decoding.is_active();  // after decoding
    if (variable.info.element.may_overflow && !checked_later) detail::copy_uint64(target, place, variable.path, op);
    else if (!direct) place.copy_(target);
  }
}

/// Adds the variables of a group and of groups in it.
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

detail::Shards look_into(const Source& source, const std::string& name, const detail::OpenShard& open,
                         const Communicator& comm) {
  const auto describe = [&](const std::string& path) { return open(path).info; };
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
  return {variable->info, detail::watched(read, path, op), variable->decoding};
}

detail::Annotations detail::netcdf_annotations(const std::string& path, const std::string& name) {
  const Hdf5Turn turn;
  const auto variable = open_variable(path, name);
  return {dimension_names_of(variable), read_attributes(variable.at, path, op)};
}

std::vector<std::string> detail::netcdf_names(const std::string& path) {
  const Hdf5Turn turn;
  const auto file = open_file(path);
  std::vector<std::string> names;
  add_names(file.id(), "", names);
  return names;
}

bool supports_netcdf() { return true; }

DNDarray load_netcdf(const Source& source, const std::string& name, const LoadOptions& options) {
  const detail::Recorder recorder(op);
  const detail::Hdf5Turn turn;
  const auto open = detail::opener(detail::open_netcdf, name, detail::numbers_for(options.decode), op);
  return detail::load_files({op, source, name, open, ".nc"}, options, recorder);
}

Rows netcdf_rows(const Source& source, const std::string& name, const StoredRowsOptions& options) {
  const detail::Hdf5Turn turn;
  const auto& comm = comm_of(options.comm);
  const auto open = detail::opener(detail::open_netcdf, name, detail::numbers_for(options.decode), op);
  // The library owns the mutex, which exists longer than all files.
  const std::shared_ptr<std::recursive_mutex> mutex(std::shared_ptr<void>(), &hdf5_mutex());
  return detail::rows_of({"netcdf_rows", look_into(source, name, open, comm), open, mutex}, options);
}

}  // namespace heatpp::io
