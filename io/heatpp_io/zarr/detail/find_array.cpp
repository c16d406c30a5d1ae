#include <heatpp_io/zarr/detail/find_array.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp_io/detail/elements/dataset_info.hpp>
#include <heatpp_io/detail/files/format_of.hpp>
#include <heatpp_io/zarr/detail/zarr_metadata.hpp>

#include <algorithm>

namespace heatpp::io::detail {
namespace {

using heatpp::detail::raise;

constexpr int most_levels = 32;  // limit for groups, because links may form circles

void collect(const StorePlace& place, const std::string& below, int level, std::vector<std::string>& names,
             const char* op) {
  const auto here = joined_name(place.name, below);
  if (!metadata_in(*place.files, here, op).empty()) return names.push_back(below);
  if (level == most_levels) return;
  for (const auto& name : place.files->directories(here))
    collect(place, joined_name(below, name), level + 1, names, op);
}

/// Returns the arrays in the group itself, if there are any.
std::vector<std::string> candidates(const StorePlace& place, const char* op) {
  auto names = array_names(place, op);
  std::vector<std::string> here;
  std::ranges::copy_if(names, std::back_inserter(here),
                       [](const auto& name) { return name.find('/') == std::string::npos; });
  return here.empty() ? names : here;
}

std::string listing(const std::vector<std::string>& names) {
  constexpr std::size_t most = 20;
  if (names.empty()) return "none";
  const auto end = names.begin() + static_cast<std::ptrdiff_t>(std::min(most, names.size()));
  return heatpp::detail::formatted("\"{}\"{}", fmt::join(names.begin(), end, "\", \""),
                                   names.size() > most ? ", ..." : "");
}

}  // namespace

std::string metadata_in(const StoreFiles& files, const std::string& directory, const char* op) {
  const auto old = joined_name(directory, ".zarray"), path = joined_name(directory, "zarr.json");
  if (files.has(old)) return old;
  return files.has(path) && is_zarr_array(files.text(path, op)) ? path : std::string();
}

std::vector<std::string> array_names(const StorePlace& place, const char* op) {
  std::vector<std::string> names;
  collect(place, "", 0, names, op);
  std::ranges::sort(names);
  return names;
}

FoundArray find_array(const std::string& path, const std::string& name, const char* op) {
  const auto place = open_store(path, op);
  const auto found = [&](const std::string& below) {
    const auto directory = joined_name(place.name, below);
    return FoundArray{place.files, directory, metadata_in(*place.files, directory, op)};
  };
  if (auto array = found(name); !array.metadata.empty()) return array;
  const auto names = candidates(place, op);
  if (joined_name("", name).empty() && names.size() == 1) return found(names[0]);
  const auto problem = heatpp::detail::formatted(
      "got no Zarr array \"{}\" in \"{}\", which has {}; expected one of its arrays", name, path, listing(names));
  if (joined_name("", name).empty()) raise<IoError>(op, "{}", problem);
  raise<NoSuchArray>(op, "{}", problem);
}

StorePath store_path(const std::string& path, const std::string& name) {
  const auto end = store_end(path);
  if (!end)
    return {path.size() > 1 && path.ends_with('/') ? path.substr(0, path.find_last_not_of('/') + 1) : path,
            joined_name("", name)};
  return {path.substr(0, *end), joined_name(joined_name("", path.substr(*end)), name)};
}

}  // namespace heatpp::io::detail
