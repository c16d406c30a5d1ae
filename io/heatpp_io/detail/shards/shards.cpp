#include <heatpp_io/detail/shards/shards.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/comm/log.hpp>
#include <heatpp/core/layout.hpp>
#include <heatpp_io/detail/codecs/codecs.hpp>

#include <algorithm>
#include <array>
#include <optional>

namespace heatpp::io::detail {
namespace {

using heatpp::detail::formatted;
using heatpp::detail::raise;

/// A DatasetInfo as numbers that can be sent.
constexpr std::size_t head = 8;
using Record = std::array<std::int64_t, head + std::size_t{2} * max_ndim>;

Record encode(const DatasetInfo& info) {
  Record record{};
  record[0] = std::ssize(info.shape);
  record[1] = static_cast<std::int64_t>(info.element.dtype);
  record[2] = info.element.may_overflow;
  record[3] = info.compressed;
  record[4] = info.in_other_files;
  record[5] = std::ssize(info.chunk);
  record[6] = info.digest;
  record[7] = code_of(info.compression);
  std::ranges::copy(info.shape, record.begin() + head);
  std::ranges::copy(info.chunk, record.begin() + head + max_ndim);
  return record;
}

/// Marks a file that does not have the array.
constexpr std::int64_t absent = -1;

DatasetInfo decode(const std::int64_t* record) {
  const auto* shape = record + head;
  const auto* chunk = shape + max_ndim;
  return {.shape = Shape(shape, shape + record[0]),
          .element = {static_cast<Dtype>(record[1]), record[2] != 0},
          .chunk = Shape(chunk, chunk + record[5]),
          .compressed = record[3] != 0,
          .compression = compression_from(record[7]),
          .in_other_files = record[4] != 0,
          .digest = record[6]};
}

/// Returns what the file at `path` says about its array. A file of a set may not have it.
Record record_of(const std::string& path, const Describe& describe, bool of_a_set) {
  try {
    return encode(describe(path));
  } catch (const NoSuchArray&) {
    if (!of_a_set) throw;
    return {absent};
  }
}

/// The arrays of files first ... last, inspected on this rank, or those of all ranks in order. The entry is empty if a
/// file of a set does not have the array.
using Infos = std::vector<std::optional<DatasetInfo>>;
Infos gather(const std::vector<std::string>& paths, const Describe& describe, const std::vector<std::int64_t>& offsets,
             const Communicator& comm) {
  const auto me = static_cast<std::size_t>(comm.rank());
  std::vector<std::int64_t> mine;
  all_or_none(comm, [&] {
    for (auto i = offsets[me]; i < offsets[me + 1]; ++i) {
      const auto& path = paths[static_cast<std::size_t>(i) % paths.size()];
      const auto record = record_of(path, describe, paths.size() > 1);
      mine.insert(mine.end(), record.begin(), record.end());
    }
  });
  const auto length = std::ssize(Record{});
  std::vector<std::int64_t> counts, all(static_cast<std::size_t>(offsets.back() * length));
  for (std::size_t r = 0; r + 1 < offsets.size(); ++r) counts.push_back((offsets[r + 1] - offsets[r]) * length);
  comm.allgather(mine, all, counts);
  Infos infos;
  for (auto i = std::int64_t{0}; i < offsets.back(); ++i) {
    const auto* record = all.data() + i * length;
    infos.push_back(record[0] == absent ? std::nullopt : std::optional(decode(record)));
  }
  return infos;
}

bool same_rows(const DatasetInfo& a, const DatasetInfo& b) {
  return a.element == b.element && !b.shape.empty() &&
         std::ranges::equal(a.shape.begin() + 1, a.shape.end(), b.shape.begin() + 1, b.shape.end());
}

std::string text(const DatasetInfo& info) {
  return formatted("{} {}", to_string(info.shape), name(info.element.dtype));
}

/// Returns a name for the array of a file, for messages.
std::string array_of(const std::string& path, const std::string& name) {
  return name.empty() ? formatted("\"{}\"", path) : formatted("\"{}\" of \"{}\"", name, path);
}

void check_alike(const std::vector<DatasetInfo>& infos, const std::vector<std::string>& paths, const std::string& name,
                 const char* op) {
  if (infos[0].shape.empty())
    raise<ValueError>(op, "got {} files, and {} without axes; expected arrays to put together along axis 0",
                      paths.size(), array_of(paths[0], name));
  for (std::size_t i = 1; i < infos.size(); ++i)
    if (!same_rows(infos[0], infos[i]))
      raise<ValueError>(op, "got {} with {}; expected equal rows and dtype in all shards, as in \"{}\" with {}",
                        array_of(paths[i], name), text(infos[i]), paths[0], text(infos[0]));
}

Shards single(ShardNames names, const Describe& describe, const Communicator& comm, const char* op) {
  std::vector<std::int64_t> offsets;
  for (int r = 0; r <= comm.size(); ++r) offsets.push_back(r);
  const auto infos = gather(names.paths, describe, offsets, comm);
  for (std::size_t r = 1; r < infos.size(); ++r)
    if (encode(*infos[r]) != encode(*infos[0]))
      raise<IoError>(op, "got {} with {} on rank {} and {} on rank 0; expected the same file on all ranks",
                     array_of(names.paths[0], names.name), text(*infos[r]), r, text(*infos[0]));
  const auto rows = infos[0]->shape.empty() ? 1 : infos[0]->shape[0];
  return {std::move(names.paths), std::move(names.name), {0, rows}, *infos[0]};
}

/// Removes files without the array and logs their names. Throws if no file has it.
std::vector<DatasetInfo> present(const Infos& infos, ShardNames& names, const char* op) {
  std::vector<DatasetInfo> found;
  std::vector<std::string> with, without;
  for (std::size_t i = 0; i < infos.size(); ++i) {
    (infos[i] ? with : without).push_back(names.paths[i]);
    if (infos[i]) found.push_back(*infos[i]);
  }
  if (found.empty())
    raise<IoError>(op, "got {} files without an array \"{}\", the first of them \"{}\"; expected it in one at least",
                   without.size(), names.name, without[0]);
  if (!without.empty())
    log(LogLevel::warning,
        formatted("[{}] {} of {} files have no array \"{}\", and so no rows of it; the first is \"{}\"", op,
                  without.size(), infos.size(), names.name, without[0]));
  names.paths = std::move(with);
  return found;
}

}  // namespace

Shards inspect(ShardNames names, const Describe& describe, const Communicator& comm, const char* op) {
  if (names.paths.size() == 1) return single(std::move(names), describe, comm, op);
  const Layout parts({std::ssize(names.paths)}, 0, comm.size());
  const auto all = gather(names.paths, describe, {parts.offsets().begin(), parts.offsets().end()}, comm);
  const auto infos = present(all, names, op);
  check_alike(infos, names.paths, names.name, op);
  Shards shards{std::move(names.paths), std::move(names.name), {0}, infos[0]};
  for (const auto& info : infos) {
    shards.offsets.push_back(shards.offsets.back() + info.shape[0]);
    shards.info.compressed |= info.compressed;
    if (!shards.info.compression) shards.info.compression = info.compression;
    shards.info.in_other_files |= info.in_other_files;
    shards.alike = shards.alike && info.digest == infos[0].digest;
  }
  shards.info.shape[0] = shards.offsets.back();
  return shards;
}

}  // namespace heatpp::io::detail
