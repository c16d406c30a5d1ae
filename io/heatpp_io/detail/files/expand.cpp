#include <heatpp_io/detail/files/expand.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/fields.hpp>
#include <heatpp_io/detail/files/content.hpp>
#include <heatpp_io/detail/files/look.hpp>

#include <glob.h>

#include <algorithm>
#include <cctype>

namespace heatpp::io::detail {
namespace {

using heatpp::detail::raise;

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

/// Returns the run of digits of `text` from `at` on without leading zeros, and moves `at` to its end.
std::string_view number_at(const std::string& text, std::size_t& at) {
  while (at < text.size() && text[at] == '0') ++at;
  const auto first = at;
  while (at < text.size() && is_digit(text[at])) ++at;
  return std::string_view(text).substr(first, at - first);
}

bool is_pattern(const std::string& name) {
  return name.find_first_of("*?[") != std::string::npos && !std::filesystem::exists(name);
}

std::vector<std::string> files_in(const std::string& directory, const std::string& extension) {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(directory))
    if (entry.path().extension() == extension && entry.path().filename().string().front() != '.')
      paths.push_back(entry.path().string());
  std::ranges::sort(paths, natural_less);
  return paths;
}

std::vector<std::string> expand_here(const Source& source, const char* op, const std::string& extension) {
  if (source.names().empty()) raise<ValueError>(op, "got an empty list of files; expected at least one");
  std::vector<std::string> paths;
  for (const auto& name : source.names()) {
    if (name.find("://") != std::string::npos) check_is_read(name, op);
    const bool folder = !extension.empty() && std::filesystem::is_directory(name);
    if (!folder && !is_pattern(name)) {
      paths.push_back(name);
      continue;
    }
    const auto matches = folder ? files_in(name, extension) : glob(name);
    if (matches.empty())
      raise<FileNotFoundError>(op, "got {} \"{}\", which matches nothing; expected at least one file",
                               folder ? extension + " files of directory" : "pattern", name);
    paths.insert(paths.end(), matches.begin(), matches.end());
  }
  return paths;
}

}  // namespace

bool natural_less(const std::string& a, const std::string& b) {
  std::size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    if (is_digit(a[i]) && is_digit(b[j])) {
      const auto x = number_at(a, i), y = number_at(b, j);
      if (x.size() != y.size()) return x.size() < y.size();
      if (x != y) return x < y;
    } else if (a[i] != b[j]) {
      return a[i] < b[j];
    } else {
      ++i;
      ++j;
    }
  }
  if (i == a.size() && j == b.size()) return a < b;  // they differ only in leading zeros
  return i == a.size();
}

std::vector<std::string> glob(const std::string& pattern) {
  glob_t found{};
  std::vector<std::string> paths;
  if (::glob(pattern.c_str(), GLOB_NOSORT, nullptr, &found) == 0)
    paths.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  ::globfree(&found);
  std::ranges::sort(paths, natural_less);
  return paths;
}

std::vector<std::string> expand(const Source& source, const Communicator& comm, const char* op,
                                const std::string& extension) {
  heatpp::detail::check_agreed(op, comm, {{"path", heatpp::detail::field_text(source.names())}}, [] {});
  return expand_agreed(source, comm, op, extension);
}

std::vector<std::string> expand_agreed(const Source& source, const Communicator& comm, const char* op,
                                       const std::string& extension) {
  return texts_seen_by_first(comm, [&] { return expand_here(source, op, extension); });
}

}  // namespace heatpp::io::detail
