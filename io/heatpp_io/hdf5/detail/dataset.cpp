#include <heatpp_io/hdf5/detail/dataset.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp_io/detail/files/byte_file.hpp>
#include <heatpp_io/detail/files/subfiles.hpp>
#include <heatpp_io/hdf5/detail/elements/elements.hpp>
#include <heatpp_io/hdf5/detail/filters.hpp>
#include <heatpp_io/hdf5/detail/subfiling.hpp>
#include <heatpp_io/hdf5/detail/sources/virtual_sources.hpp>

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <thread>

namespace heatpp::io::detail {
namespace {

using heatpp::detail::formatted;
using heatpp::detail::raise;

void check_is_file(const std::string& path, const char* op) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) raise_not_opened(op, path, "an HDF5 file");
  if (S_ISDIR(status.st_mode)) raise<IoError>(op, "got \"{}\", which is a directory; expected an HDF5 file", path);
}

/// Access properties for a file in subfiles, which each rank opens separately. If a process opens a file twice, HDF5
/// uses the communicator of the first for the second. So all have to use the same one.
Handle own_access(const std::string& path, const char* op) {
  if (!in_subfiles(path)) return {};
  check_subfiling(formatted("\"{}\", which is in subfiles", path), op);
  return subfiling_access(self());
}

// A program that adds rows to a file, or reads it, holds its lock only for a moment. But if it adds step after step, it
// also releases the lock only for moments, and an attempt to open the file has to meet one.
constexpr std::chrono::seconds patience{3};
constexpr std::chrono::milliseconds between_looks{1};

Handle open_file(const std::string& path, const char* op, const Handle& usual, unsigned how = H5F_ACC_RDONLY) {
  check_is_file(path, op);
  const auto own = own_access(path, op);
  const auto& access = own ? own : usual;
  const auto end = std::chrono::steady_clock::now() + patience;
  std::string reason;
  const auto locked = [&] { return reason.find("unable to lock") != std::string::npos; };
  do {
    Handle file(H5Fopen(path.c_str(), how, access.get()));
    if (file) return file;
    reason = innermost_error();
    if (locked()) std::this_thread::sleep_for(between_looks);
  } while (locked() && std::chrono::steady_clock::now() < end);
  if (locked())
    raise<IoError>(op, "got \"{}\", which another process is {} ({}); expected a complete HDF5 file", path,
                   how == H5F_ACC_RDONLY ? "writing" : "reading or writing", reason);
  if (H5Fis_hdf5(path.c_str()) == 0)
    raise<IoError>(op, "got \"{}\", which is not in HDF5 format; expected an HDF5 file", path);
  raise<IoError>(op, "got \"{}\", which cannot be opened ({}); expected {}", path, reason,
                 way_to_read(reason, "a complete HDF5 file"));
}

std::string link_name(hid_t group, hsize_t index) {
  const auto length = H5Lget_name_by_idx(group, ".", H5_INDEX_NAME, H5_ITER_INC, index, nullptr, 0, H5P_DEFAULT);
  std::string name(static_cast<std::size_t>(std::max<ssize_t>(0, length)) + 1, '\0');
  H5Lget_name_by_idx(group, ".", H5_INDEX_NAME, H5_ITER_INC, index, name.data(), name.size(), H5P_DEFAULT);
  name.pop_back();
  return name;
}

/// Returns H5I_BADID if there is no such object.
H5I_type_t type_of(hid_t file, const std::string& name) {
  const Handle object(H5Oopen(file, name.c_str(), H5P_DEFAULT));
  return object ? H5Iget_type(object.get()) : H5I_BADID;
}

/// Whether there is a link, even if its object cannot be opened: it is broken, or a later HDF5 wrote its dataset.
bool has_link(hid_t file, const std::string& name) { return H5Lexists(file, name.c_str(), H5P_DEFAULT) > 0; }

bool is_dataset(hid_t file, const std::string& name) { return type_of(file, name) == H5I_DATASET; }

/// Returns the first names in the file's root, or in a group, for messages.
std::vector<std::string> names_in(hid_t group, hsize_t limit) {
  H5G_info_t info{};
  H5Gget_info(group, &info);
  std::vector<std::string> names;
  for (hsize_t i = 0; i < std::min(info.nlinks, limit); ++i) names.push_back(link_name(group, i));
  return names;
}

std::string listing(hid_t group) {
  std::string text;
  for (const auto& name : names_in(group, 8)) text += formatted("{}\"{}\"", text.empty() ? "" : ", ", name);
  return text.empty() ? "nothing" : text;
}

std::string only_dataset(hid_t file, const std::string& path, const char* op) {
  std::vector<std::string> names;
  for (const auto& name : names_in(file, 1000))
    if (is_dataset(file, name)) names.push_back(name);
  if (names.size() != 1)
    raise<ValueError>(
        op,
        "got no dataset's name, and {} datasets in the root of \"{}\", which has {}; expected the name of a dataset, "
        "as contents() and `heatpp describe` list them",
        names.size(), path, listing(file));
  return names.front();
}

Shape checked_shape(hid_t space, std::int64_t itemsize, const std::string& what, const char* op) {
  if (H5Sget_simple_extent_type(space) == H5S_NULL)
    raise<IoError>(op, "got {}, which has no shape; expected an array", what);
  const int ndim = H5Sget_simple_extent_ndims(space);
  if (ndim < 0) raise<IoError>(op, "got {}, whose shape cannot be read; expected an array", what);
  std::vector<hsize_t> extents(static_cast<std::size_t>(ndim));
  H5Sget_simple_extent_dims(space, extents.data(), nullptr);
  const Shape shape(extents.begin(), extents.end());
  checked_bytes(shape, itemsize, what, op);
  return shape;
}

void read_storage(hid_t dataset, DatasetInfo& info) {
  const Handle properties(H5Dget_create_plist(dataset));
  const auto layout = H5Pget_layout(properties.get());
  info.in_other_files = layout == H5D_VIRTUAL;
  info.compressed = H5Pget_nfilters(properties.get()) > 0;
  info.compression = nearest_compression(applied_filters(properties));
  if (layout != H5D_CHUNKED) return;
  std::vector<hsize_t> chunk(info.shape.size());
  H5Pget_chunk(properties.get(), static_cast<int>(chunk.size()), chunk.data());
  info.chunk.assign(chunk.begin(), chunk.end());
}

bool may_grow(hid_t space) {
  std::vector<hsize_t> now(static_cast<std::size_t>(std::max(0, H5Sget_simple_extent_ndims(space)))), most(now.size());
  H5Sget_simple_extent_dims(space, now.data(), most.data());
  return !now.empty() && most[0] > now[0];
}

void check_sources(hid_t dataset, const std::string& path, const std::string& what, const char* op) {
  const auto unread = unread_source(dataset, path);
  if (!unread.empty())
    raise<IoError>(op,
                   "got {}, which needs {}; expected all files that it needs, or missing_sources = fill for what "
                   "HDF5 gives instead",
                   what, unread);
}

constexpr std::size_t most_groups = 32;          // nested groups
constexpr std::int64_t most_visits = 1'000'000;  // visits of groups through all links, which may grow like 2^n

/// Identifies an object, for any link that leads to it.
using Place = std::array<unsigned long, 4>;
Place place_of(hid_t object) {
  H5G_stat_t found{};
  H5Gget_objinfo(object, ".", true, &found);
  return {found.fileno[0], found.fileno[1], found.objno[0], found.objno[1]};
}

/// Finds the names of datasets through all links, except those that lead back to an enclosing group.
struct Names {
  std::vector<std::string> found = {};
  std::vector<Place> around = {};
  std::int64_t visits = 0;

  void add(hid_t group, const std::string& prefix) {
    const auto place = place_of(group);
    if (around.size() == most_groups || std::ranges::count(around, place) > 0 || ++visits > most_visits) return;
    around.push_back(place);
    H5G_info_t info{};
    H5Gget_info(group, &info);
    for (hsize_t i = 0; i < info.nlinks; ++i) {
      const auto name = link_name(group, i);
      const Handle object(H5Oopen(group, name.c_str(), H5P_DEFAULT));
      const auto type = object ? H5Iget_type(object.get()) : H5I_BADID;
      const bool stands_for_one = type == H5I_GROUP && is_constant(object.get());
      if (type == H5I_DATASET || stands_for_one || !object) found.push_back(prefix + name);
      else if (type == H5I_GROUP) add(object.get(), prefix + name + "/");
    }
    around.pop_back();
  }
};

}  // namespace

std::vector<std::string> dataset_names(const std::string& path, const char* op) {
  const auto file = open_file(path, op, local_access());
  Names names;
  names.add(file.get(), "");
  if (names.visits > most_visits)
    raise<IoError>(op, "got \"{}\", whose links lead to groups in more than {} ways; expected fewer", path,
                   most_visits);
  return names.found;
}

Handle local_access() { return Handle(H5Pcreate(H5P_FILE_ACCESS)); }

namespace {

/// Returns the dataset whose records have a field with the rest of this path as its name.
std::optional<Wanted> in_records(hid_t file, const Wanted& wanted) {
  const auto& path = wanted.dataset;
  for (auto at = path.rfind('/'); at != std::string::npos && at > 0; at = path.rfind('/', at - 1)) {
    const auto name = path.substr(0, at);
    if (!is_dataset(file, name)) continue;
    const auto field = path.substr(at + 1) + (wanted.field.empty() ? "" : "/" + wanted.field);
    const Handle dataset(H5Dopen2(file, name.c_str(), H5P_DEFAULT));
    return has_fields(dataset.get()) ? std::optional(Wanted{name, field, wanted.missing_sources}) : std::nullopt;
  }
  return std::nullopt;
}

/// Returns the path to which the name leads: of a field its dataset, of an H5MD element its value.
Wanted resolved(hid_t file, const std::string& path, Wanted wanted, const char* op) {
  if (wanted.dataset.empty()) wanted.dataset = only_dataset(file, path, op);
  const auto kind = type_of(file, wanted.dataset);
  if (kind == H5I_BADID && !has_link(file, wanted.dataset))
    if (auto found = in_records(file, wanted)) return *found;
  if (kind != H5I_GROUP || is_constant(Handle(H5Oopen(file, wanted.dataset.c_str(), H5P_DEFAULT)).get())) return wanted;
  const auto value = wanted.dataset + "/value";
  if (is_dataset(file, value) && is_dataset(file, wanted.dataset + "/step")) wanted.dataset = value;
  return wanted;
}

void open_constant(Dataset& opened, const std::string& what, const char* op) {
  const auto constant = constant_of(opened.id.get(), what, op);
  opened.info.element = constant.element;
  opened.info.shape = constant.shape;
  opened.constant = constant.value;
}

/// Throws if `name` is not a dataset and does not stand for one.
void check_kind(hid_t file, const std::string& path, const std::string& name, const char* op) {
  const auto what = formatted("dataset \"{}\" of \"{}\"", name, path);
  const auto kind = type_of(file, name);
  if (kind == H5I_GROUP) {
    const Handle group(H5Oopen(file, name.c_str(), H5P_DEFAULT));
    if (!is_constant(group.get()))
      raise<IoError>(op, "got group \"{}\" of \"{}\", which has {}; expected the name of a dataset", name, path,
                     listing(group.get()));
    return;
  }
  if (kind == H5I_BADID) {
    const auto reason = innermost_error();
    if (has_link(file, name))
      raise<IoError>(op, "got {}, which cannot be opened ({}); expected {}", what, reason,
                     way_to_read(reason, "a link to an array"));
  }
  if (kind != H5I_DATASET)
    raise<NoSuchArray>(op, "got no {}, whose root has {}; expected a dataset of that name", what, listing(file));
}

void describe(Dataset& opened, const Wanted& wanted, const std::string& what, const char* op) {
  const Handle space(H5Dget_space(opened.id.get()));
  auto elements = elements_of(opened.id.get(), wanted.field, what, op);
  auto& info = opened.info;
  info.element = elements.number;
  opened.memory = std::move(elements.memory);
  opened.inner = std::move(elements.inner);
  const auto bytes = static_cast<std::int64_t>(itemsize(info.element.dtype));
  info.shape = checked_shape(space.get(), bytes, what, op);
  info.may_grow = may_grow(space.get());
  read_storage(opened.id.get(), info);
  info.shape.insert(info.shape.end(), opened.inner.begin(), opened.inner.end());
  if (!info.chunk.empty()) info.chunk.insert(info.chunk.end(), opened.inner.begin(), opened.inner.end());
  checked_bytes(info.shape, bytes, what, op);
}

Dataset open_in(Handle file, const std::string& path, const Wanted& asked, const char* op) {
  Dataset result;
  result.file = std::move(file);
  const auto wanted = resolved(result.file.get(), path, asked, op);
  const auto& name = wanted.dataset;
  check_kind(result.file.get(), path, name, op);
  const auto what = formatted("dataset \"{}\" of \"{}\"", name, path);
  result.id = Handle(H5Oopen(result.file.get(), name.c_str(), H5P_DEFAULT));
  if (!result.id) raise<IoError>(op, "got {}, which cannot be opened ({}); expected an array", what, innermost_error());
  if (H5Iget_type(result.id.get()) == H5I_GROUP) {
    if (!wanted.field.empty())
      raise<IoError>(op, "got the field \"{}\" of {}, which holds no records; expected no field", wanted.field, what);
    open_constant(result, what, op);
    return result;
  }
  describe(result, wanted, what, op);
  if (result.info.compressed) register_filters();
  if (result.info.in_other_files && wanted.missing_sources == MissingSources::error)
    check_sources(result.id.get(), path, what, op);
  result.info.in_other_files |= in_subfiles(path);
  return result;
}

}  // namespace

Dataset open_dataset(const std::string& path, const Wanted& wanted, const char* op, const Handle& access) {
  return open_in(open_file(path, op, access), path, wanted, op);
}

std::optional<Dataset> find_dataset(const std::string& path, const std::string& name, const char* op) {
  auto file = open_file(path, op, local_access());
  const auto kind = type_of(file.get(), name);
  if (kind != H5I_DATASET && !(kind == H5I_BADID && has_link(file.get(), name))) return std::nullopt;
  return open_in(std::move(file), path, {name}, op);
}

Dataset open_to_write(const std::string& path, const std::string& name, const char* op, const Handle& access) {
  return open_in(open_file(path, op, access, H5F_ACC_RDWR), path, {name}, op);
}

}  // namespace heatpp::io::detail
