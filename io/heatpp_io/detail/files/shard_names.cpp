#include <heatpp_io/detail/files/shard_names.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp_io/detail/files/expand.hpp>
#include <heatpp_io/detail/files/look.hpp>

#include <algorithm>

namespace heatpp::io::detail {
namespace {

using heatpp::detail::formatted;
using heatpp::detail::raise;
namespace fs = std::filesystem;

constexpr std::string_view mark = "{rank}";

std::string pattern_of(const fs::path& path, const ShardKind& kind) {
  if (path.string().find(mark) != std::string::npos) return path.string();
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) return (path / ("part-{rank}" + kind.extension)).string();
  raise<ValueError>(kind.op,
                    "got \"{}\" for one file per rank; expected a name with \"{{rank}}\" in it, or a directory",
                    path.string());
}

std::string replaced(std::string pattern, const std::string& with) {
  return pattern.replace(pattern.find(mark), mark.size(), with);
}

/// Escapes the special characters of glob patterns.
std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '*' || c == '?' || c == '[' || c == '\\') result += '\\';
    result += c;
  }
  return result;
}

/// Throws if a glob over the shards would find a file that is not one of them.
void check_left_over(const std::string& pattern, const std::vector<std::string>& names, const char* op) {
  for (const auto& found : glob(replaced(escaped(pattern), "[0-9]*"))) {
    const auto start = pattern.find(mark), tail = pattern.size() - start - mark.size();
    const auto number = found.substr(start, found.size() - start - tail);
    const bool digits = std::ranges::all_of(number, [](char c) { return c >= '0' && c <= '9'; });
    if (digits && std::ranges::find(names, found) == names.end())
      raise<ValueError>(op, "got left-over shard \"{}\", which is none of the {} to be written; expected it removed",
                        found, names.size());
  }
}

}  // namespace

std::vector<std::string> shard_names(const fs::path& path, const Communicator& comm, const ShardKind& kind) {
  return texts_seen_by_first(comm, [&] {
    std::vector<std::string> names;
    const auto pattern = pattern_of(path, kind);
    const auto count = kind.count.value_or(comm.size());
    const auto width = std::to_string(count - 1).size();
    for (std::int64_t r = 0; r < count; ++r) names.push_back(replaced(pattern, formatted("{:0{}}", r, width)));
    check_left_over(pattern, names, kind.op);
    return names;
  });
}

}  // namespace heatpp::io::detail
