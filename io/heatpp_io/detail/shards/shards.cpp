#include <heatpp_io/detail/shards/shards.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/comm/log.hpp>
#include <heatpp/core/layout.hpp>
#include <heatpp_io/detail/codecs/codecs.hpp>
#include <heatpp_io/detail/files/look.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

namespace heatpp::io::detail {
namespace {

using heatpp::detail::formatted;
using heatpp::detail::raise;

/// Returns a DatasetInfo as bytes that can be sent.
std::string encode(const DatasetInfo& info) {
  std::vector<std::int64_t> numbers{std::ssize(info.shape),    static_cast<std::int64_t>(info.element.dtype),
                                    info.element.may_overflow, info.compressed,
                                    info.in_other_files,       info.digest,
                                    code_of(info.compression), info.may_grow};
  numbers.insert(numbers.end(), info.shape.begin(), info.shape.end());
  numbers.insert(numbers.end(), info.chunk.begin(), info.chunk.end());
  return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof numbers[0]};  // sent as bytes
}

DatasetInfo decode(const std::string& bytes) {
  std::vector<std::int64_t> numbers(bytes.size() / sizeof(std::int64_t));
  std::memcpy(numbers.data(), bytes.data(), bytes.size());
  const auto shape = numbers.begin() + 8, chunk = shape + numbers[0];
  return {.shape = Shape(shape, chunk),
          .element = {static_cast<Dtype>(numbers[1]), numbers[2] != 0},
          .chunk = Shape(chunk, numbers.end()),
          .compressed = numbers[3] != 0,
          .compression = compression_from(numbers[6]),
          .in_other_files = numbers[4] != 0,
          .digest = numbers[5],
          .may_grow = numbers[7] != 0};
}

/// Marks a file that does not have the array.
constexpr std::int64_t absent = -1;

/// Returns what the file at `path` of a set says about its array; nothing if the file does not have it.
std::optional<DatasetInfo> found_in(const std::string& path, const Describe& describe) {
  try {
    return describe(path);
  } catch (const NoSuchArray&) {
    return std::nullopt;
  }
}

bool same_rows(const DatasetInfo& a, const DatasetInfo& b) {
  return a.element == b.element && !b.shape.empty() &&
         std::ranges::equal(a.shape.begin() + 1, a.shape.end(), b.shape.begin() + 1, b.shape.end());
}

/// Returns a name for the array of a file, for messages.
std::string array_of(const std::string& path, const std::string& name) {
  return name.empty() ? formatted("\"{}\"", path) : formatted("\"{}\" of \"{}\"", name, path);
}

Shards single(ShardNames names, const Describe& describe, const Communicator& comm) {
  auto info = decode(seen_by_first(comm, [&] { return encode(describe(names.paths[0])); }));
  const auto rows = info.shape.empty() ? 1 : info.shape[0];
  return {std::move(names.paths), std::move(names.name), {0, rows}, std::move(info)};
}

/// The files of a set, and the share of them that this rank looks at.
struct Set {
  const ShardNames& names;
  const Communicator& comm;
  const char* op;
  Layout parts = Layout({std::ssize(names.paths)}, 0, comm.size());
  std::vector<std::optional<DatasetInfo>> mine = {};  ///< empty entries: files without the array

  [[nodiscard]] std::int64_t begin() const { return parts.offset(comm.rank()); }
  [[nodiscard]] const std::string& path(std::int64_t file) const { return names.paths[static_cast<std::size_t>(file)]; }
};

void look_at_mine(Set& set, const Describe& describe) {
  all_or_none(set.comm, [&] {
    for (auto i = set.begin(); i < set.parts.offset(set.comm.rank() + 1); ++i)
      set.mine.push_back(found_in(set.path(i), describe));
  });
}

/// Returns the number of the first file that has the array. Throws if none has it.
std::int64_t first_with(const Set& set) {
  const auto here = std::ranges::find_if(set.mine, &std::optional<DatasetInfo>::has_value);
  const auto all = std::ssize(set.names.paths);
  std::array<std::int64_t, 1> first{here == set.mine.end() ? all : set.begin() + (here - set.mine.begin())};
  set.comm.allreduce(first, ReduceOp::min);
  if (first[0] == all)
    raise<IoError>(set.op,
                   "got {} files without an array \"{}\", the first of them \"{}\"; expected it in at least one file",
                   all, set.names.name, set.path(0));
  return first[0];
}

/// Returns what the first file with the array says, and checks that this rank's files fit it.
DatasetInfo reference(const Set& set, std::int64_t first) {
  auto info = decode(seen_by(set.parts.owner(first), set.comm,
                             [&] { return encode(*set.mine[static_cast<std::size_t>(first - set.begin())]); }));
  all_or_none(set.comm, [&] {
    if (info.shape.empty())
      raise<ValueError>(set.op, "got {} files, and {} without axes; expected arrays to join along axis 0",
                        set.names.paths.size(), array_of(set.path(first), set.names.name));
    for (std::size_t i = 0; i < set.mine.size(); ++i)
      if (const auto& found = set.mine[i]; found && !same_rows(info, *found))
        raise<ValueError>(set.op, "got {} with {}; expected equal rows and dtype in all shards, as in \"{}\" with {}",
                          array_of(set.path(set.begin() + static_cast<std::int64_t>(i)), set.names.name),
                          text_of(*found), set.path(first), text_of(info));
  });
  return info;
}

/// Returns the rows of each file, or `absent`.
std::vector<std::int64_t> rows_of_all(const Set& set) {
  std::vector<std::int64_t> mine, all(set.names.paths.size()), counts;
  for (const auto& found : set.mine) mine.push_back(found ? found->shape[0] : absent);
  for (int r = 0; r < set.comm.size(); ++r) counts.push_back(set.parts.count(r));
  set.comm.allgather(mine, all, counts);
  return all;
}

/// Combines what concerns the storage and the decoding of all files.
void combine(const Set& set, Shards& shards) {
  std::array<std::int64_t, 3> any{};
  for (const auto& found : set.mine) {
    if (!found) continue;
    any[0] |= found->compressed;
    any[1] |= found->in_other_files;
    any[2] |= found->digest != shards.info.digest;
  }
  set.comm.allreduce(any, ReduceOp::max);
  shards.info.compressed = any[0] != 0;
  shards.info.in_other_files = any[1] != 0;
  shards.alike = any[2] == 0;
}

void warn_of(const std::vector<std::string>& without, const Set& set) {
  if (without.empty()) return;
  log(LogLevel::warning,
      formatted("[{}] {} of {} files have no array \"{}\", and so no rows of it; the first is \"{}\"", set.op,
                without.size(), set.names.paths.size(), set.names.name, without[0]));
}

}  // namespace

std::string text_of(const DatasetInfo& info) {
  return formatted("{} {}", to_string(info.shape), name(info.element.dtype));
}

Shards inspect(ShardNames names, const Describe& describe, const Communicator& comm, const char* op) {
  if (names.paths.size() == 1) return single(std::move(names), describe, comm);
  Set set{names, comm, op};
  look_at_mine(set, describe);
  Shards shards{{}, names.name, {0}, reference(set, first_with(set))};
  combine(set, shards);
  const auto rows = rows_of_all(set);
  std::vector<std::string> without;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    (rows[i] == absent ? without : shards.paths).push_back(names.paths[i]);
    if (rows[i] != absent) shards.offsets.push_back(shards.offsets.back() + rows[i]);
  }
  warn_of(without, set);
  shards.info.shape[0] = shards.offsets.back();
  return shards;
}

}  // namespace heatpp::io::detail
