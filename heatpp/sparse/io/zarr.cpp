#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/sparse/io/detail/small_file.hpp>
#include <heatpp/sparse/io/files.hpp>
#include <heatpp_io/detail/files/aside_file.hpp>
#include <heatpp_io/detail/shards/openers.hpp>
#include <heatpp_io/zarr/detail/zarr_metadata.hpp>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace heatpp::sparse {

using namespace detail;
namespace fs = std::filesystem;
using nlohmann::json;

namespace {

/// Returns the attributes of a group, in format 2 or 3; nothing if it has none.
json attributes_of(const fs::path& group, const char* op) {
  std::error_code ignored;
  for (const auto* name : {"zarr.json", ".zattrs"}) {
    const auto path = group / name;
    if (!fs::exists(path, ignored)) continue;
    auto found = io::detail::parse_json(io::detail::read_file(op, path.string()), path.string(), op);
    if (name == std::string_view(".zattrs")) return found;
    return found.contains("attributes") ? found["attributes"] : json::object();
  }
  return json::object();
}

std::string encoding_of(const json& said) {
  return said.contains("encoding-type") && said["encoding-type"].is_string() ? said["encoding-type"].get<std::string>()
                                                                             : "";
}

bool is_matrix(const std::string& encoding) { return encoding == "csr_matrix" || encoding == "csc_matrix"; }

/// Returns the requested group, or the only one with a matrix: the store itself (""), or one in its root.
std::string group_of(const Loading& file) {
  if (!file.options.group.empty()) return file.options.group;
  if (is_matrix(encoding_of(attributes_of(file.path, file.op)))) return {};
  std::vector<std::string> found;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(file.path, ignored))
    if (entry.is_directory() && is_matrix(encoding_of(attributes_of(entry.path(), file.op))))
      found.push_back(entry.path().filename());
  if (found.size() != 1)
    raise<ValueError>(file.op,
                      "got no group, and {} groups with a sparse matrix in the root of \"{}\"; expected one, or a "
                      "group; dense arrays are io::load's",
                      found.size(), file.path);
  return found[0];
}

/// Returns a vector of the group.
StoredArray vector(const Loading& file, const fs::path& group, const std::string& name) {
  auto open = std::make_shared<io::detail::OpenArray>(io::detail::open_zarr((group / name).string(), ""));
  const auto& info = open->info;
  if (info.shape.size() != 1)
    raise<IoError>(file.op, "got \"{}\" of shape {} in \"{}\"; expected a vector", name, heatpp::to_string(info.shape),
                   group.string());
  auto read = [op = file.op, open](int axis, std::int64_t first, std::int64_t count) {
    const auto box = io::detail::narrow(io::detail::select(open->info.shape, {}, op), axis, first, count);
    auto out = at::empty({count}, heatpp::detail::to_torch(open->info.element.dtype));
    if (count > 0) open->read(box, out);
    return out;
  };
  return {name, info.shape, info.element.dtype, std::move(read)};
}

Shape shape_of(const Loading& file, const fs::path& group, const json& said) {
  const auto shape = said.contains("shape") ? said["shape"] : json();
  if (!shape.is_array() || shape.size() != 2 || !shape[0].is_number_integer() || !shape[1].is_number_integer())
    raise<IoError>(file.op, "got the attribute shape {} of \"{}\"; expected two numbers", shape.dump().substr(0, 80),
                   group.string());
  return {shape[0].get<std::int64_t>(), shape[1].get<std::int64_t>()};
}

StoredMatrix open_group(const Loading& file) {
  const auto group = fs::path(file.path) / group_of(file);
  const auto said = attributes_of(group, file.op);
  const auto encoding = encoding_of(said);
  if (!is_matrix(encoding))
    raise<IoError>(file.op,
                   "got the encoding {:?} of \"{}\"; expected csr_matrix or csc_matrix, as AnnData writes them",
                   encoding, group.string());
  return {shape_of(file, group, said), encoding == "csc_matrix", vector(file, group, "indptr"),
          vector(file, group, "indices"), vector(file, group, "data")};
}

}  // namespace

DCSRMatrix load_zarr(const std::filesystem::path& path, const LoadOptions& options) {
  return load_matrix({"load_zarr", path, options}, [](const Loading& file) {
    StoredMatrix stored;
    all_or_none(file.comm, [&] { stored = open_group(file); });
    return load_compressed(file, stored);
  });
}

}  // namespace heatpp::sparse
