#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/layout.hpp>
#include <heatpp_io/detail/shards/shards.hpp>

#include <algorithm>
#include <array>

namespace heatpp::io::detail {
namespace {

using heatpp::detail::formatted;
using heatpp::detail::raise;

/// A DatasetInfo as numbers, to be sent.
constexpr std::size_t head = 6;
using Record = std::array<std::int64_t, head + std::size_t{2} * max_ndim>;

Record encode(const DatasetInfo& info) {
  Record record{};
  record[0] = std::ssize(info.shape);
  record[1] = static_cast<std::int64_t>(info.element.dtype);
  record[2] = info.element.may_overflow;
  record[3] = info.compressed;
  record[4] = info.in_other_files;
  record[5] = std::ssize(info.chunk);
  std::ranges::copy(info.shape, record.begin() + head);
  std::ranges::copy(info.chunk, record.begin() + head + max_ndim);
  return record;
}

DatasetInfo decode(const std::int64_t* record) {
  const auto* shape = record + head;
  const auto* chunk = shape + max_ndim;
  return {.shape = Shape(shape, shape + record[0]),
          .element = {static_cast<Dtype>(record[1]), record[2] != 0},
          .chunk = Shape(chunk, chunk + record[5]),
          .compressed = record[3] != 0,
          .in_other_files = record[4] != 0};
}

/// The records of files first .. last, read here, and behind one another those of all ranks.
std::vector<DatasetInfo> gather(const std::vector<std::string>& paths, const Describe& describe,
                                const std::vector<std::int64_t>& offsets, const Communicator& comm) {
  const auto me = static_cast<std::size_t>(comm.rank());
  std::vector<std::int64_t> mine;
  all_or_none(comm, [&] {
    for (auto i = offsets[me]; i < offsets[me + 1]; ++i) {
      const auto& path = paths[static_cast<std::size_t>(i) % paths.size()];
      const auto record = encode(describe(path));
      mine.insert(mine.end(), record.begin(), record.end());
    }
  });
  const auto length = std::ssize(Record{});
  std::vector<std::int64_t> counts, all(static_cast<std::size_t>(offsets.back() * length));
  for (std::size_t r = 0; r + 1 < offsets.size(); ++r) counts.push_back((offsets[r + 1] - offsets[r]) * length);
  comm.allgather(mine, all, counts);
  std::vector<DatasetInfo> infos;
  for (auto i = std::int64_t{0}; i < offsets.back(); ++i) infos.push_back(decode(all.data() + i * length));
  return infos;
}

bool same_rows(const DatasetInfo& a, const DatasetInfo& b) {
  return a.element == b.element && !b.shape.empty() &&
         std::ranges::equal(a.shape.begin() + 1, a.shape.end(), b.shape.begin() + 1, b.shape.end());
}

std::string text(const DatasetInfo& info) {
  return formatted("{} {}", to_string(info.shape), name(info.element.dtype));
}

/// The array of a file, for messages.
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
    if (encode(infos[r]) != encode(infos[0]))
      raise<IoError>(op, "got {} with {} on rank {} and {} on rank 0; expected the same file on all ranks",
                     array_of(names.paths[0], names.name), text(infos[r]), r, text(infos[0]));
  const auto rows = infos[0].shape.empty() ? 1 : infos[0].shape[0];
  return {std::move(names.paths), std::move(names.name), {0, rows}, infos[0]};
}

}  // namespace

Shards inspect(ShardNames names, const Describe& describe, const Communicator& comm, const char* op) {
  if (names.paths.size() == 1) return single(std::move(names), describe, comm, op);
  const Layout parts({std::ssize(names.paths)}, 0, comm.size());
  const auto infos = gather(names.paths, describe, {parts.offsets().begin(), parts.offsets().end()}, comm);
  check_alike(infos, names.paths, names.name, op);
  Shards shards{std::move(names.paths), std::move(names.name), {0}, infos[0]};
  for (const auto& info : infos) {
    shards.offsets.push_back(shards.offsets.back() + info.shape[0]);
    shards.info.compressed |= info.compressed;
    shards.info.in_other_files |= info.in_other_files;
  }
  shards.info.shape[0] = shards.offsets.back();
  return shards;
}

}  // namespace heatpp::io::detail
