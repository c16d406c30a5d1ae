#include <heatpp_io/hdf5/detail/sources/source_pattern.hpp>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <optional>

namespace heatpp::io::detail {
namespace {

namespace fs = std::filesystem;

/// Returns the name with `number` instead of "%b", and "%" instead of "%%".
std::string replaced(const std::string& name, const std::string& number) {
  std::string text;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const auto next = i + 1 < name.size() ? name[i + 1] : '\0';
    if (name[i] == '%' && (next == 'b' || next == '%')) {
      text += next == 'b' ? number : "%";
      ++i;
    } else {
      text += name[i];
    }
  }
  return text;
}

/// Returns the number for which the part of a path, which contains "%b", gives `name`.
std::optional<std::int64_t> number_in(const std::string& part, const std::string& name) {
  const auto first = replaced(part.substr(0, part.find("%b")), "");
  if (!name.starts_with(first)) return std::nullopt;
  std::int64_t number = 0;
  const auto* const digits = name.data() + first.size();
  const auto end = std::from_chars(digits, name.data() + name.size(), number);
  if (end.ec != std::errc() || number < 0 || name != replaced(part, std::to_string(number))) return std::nullopt;
  return number;
}

/// A pattern split into the path part with the first "%b", and the text before and after it.
struct Cut {
  std::string before, part, behind;
};
Cut cut(const std::string& pattern) {
  const auto at = pattern.find("%b");
  const auto begin = pattern.rfind('/', at), end = pattern.find('/', at);
  const auto first = begin == std::string::npos ? 0 : begin + 1;
  return {pattern.substr(0, first), pattern.substr(first, end == std::string::npos ? end : end - first),
          end == std::string::npos ? "" : pattern.substr(end)};
}

/// Returns the places where HDF5 looks for source files.
std::vector<fs::path> places(const std::string& path) {
  std::vector<fs::path> all;
  if (const char* prefix = std::getenv("HDF5_VDS_PREFIX")) all.emplace_back(prefix);
  all.push_back(fs::path(path).parent_path());
  all.emplace_back();
  return all;
}

std::vector<std::int64_t> in_order(std::vector<std::int64_t> numbers) {
  std::ranges::sort(numbers);
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  return numbers;
}

}  // namespace

bool is_pattern(const std::string& name) { return replaced(name, "0") != replaced(name, "1"); }
std::string numbered(const std::string& name, std::int64_t number) { return replaced(name, std::to_string(number)); }
std::string plain(const std::string& name) { return replaced(name, ""); }

std::string place_of_source(const std::string& name, const std::string& path) {
  std::error_code ignored;
  for (const auto& place : places(path))
    if (fs::exists(place / name, ignored)) return place / name;
  return {};
}

std::vector<std::int64_t> numbers_of_files(const std::string& pattern, const std::string& path) {
  const auto [before, part, behind] = cut(pattern);
  std::vector<std::int64_t> numbers;
  std::error_code ignored;
  for (const auto& place : places(path)) {
    const auto folder = place / plain(before);
    for (fs::directory_iterator at(folder.empty() ? "." : folder, ignored), end; at != end; at.increment(ignored))
      if (const auto number = number_in(part, at->path().filename()))
        if (behind.empty() || fs::exists(place / numbered(pattern, *number), ignored)) numbers.push_back(*number);
  }
  return in_order(std::move(numbers));
}

std::vector<std::int64_t> numbers_of_links(hid_t file, const std::string& pattern) {
  const auto [before, part, behind] = cut(pattern);
  const auto folder = plain(before);
  const Handle group(H5Oopen(file, folder.empty() ? "/" : folder.c_str(), H5P_DEFAULT));
  struct Found {
    const std::string& part;
    std::vector<std::int64_t> numbers;
  } found{part, {}};
  const auto visit = [](hid_t, const char* name, const H5L_info_t*, void* to) -> herr_t {
    auto& numbers = *static_cast<Found*>(to);
    if (const auto number = number_in(numbers.part, name)) numbers.numbers.push_back(*number);
    return 0;
  };
  if (group) H5Literate(group.get(), H5_INDEX_NAME, H5_ITER_INC, nullptr, visit, &found);
  return in_order(std::move(found.numbers));
}

}  // namespace heatpp::io::detail
