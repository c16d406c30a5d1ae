#include <heatpp_io/detail/elements/save_array.hpp>

#include <ATen/ATen.h>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/redistribute.hpp>
#include <heatpp_io/detail/options/fields.hpp>
#include <heatpp_io/detail/files/look.hpp>
#include <heatpp_io/detail/files/shard_names.hpp>

#include <algorithm>

namespace heatpp::io::detail {

using heatpp::detail::raise;

void check_visible(const std::string& path, const char* op, const Communicator& comm) {
  all_or_none(comm, [&] {
    std::error_code ignored;
    if (!std::filesystem::exists(path, ignored))
      raise<IoError>(op, "got \"{}\", which is not seen on all ranks; expected a directory that all ranks share", path);
  });
}

std::int64_t bytes_of(const DNDarray& x) { return bytes_of(x.shape(), x.dtype()); }
std::int64_t bytes_of(const Shape& shape, Dtype dtype) {
  return size_of(shape) * static_cast<std::int64_t>(itemsize(dtype));
}

std::vector<heatpp::detail::Setting> settings_of(const std::filesystem::path& path, const SaveOptions& options) {
  return settings_to_write(path, options);
}

void check_uint64(bool uint64, Dtype dtype, const char* op) {
  if (uint64 && dtype != int64)
    raise<ValueError>(op, "got uint64 for an array of {}; expected int64, whose bits are stored", name(dtype));
}

void check_chunks(const char* op, const Shape& chunks, const Shape& shape, std::int64_t most) {
  const bool fit = chunks.size() == shape.size() && std::ranges::equal(chunks, shape, [most](auto chunk, auto n) {
                     return chunk >= 1 && chunk <= std::max<std::int64_t>(1, n) && chunk < most;
                   });
  if (!chunks.empty() && !fit)
    raise<ValueError>(op, "got chunks {} for an array of shape {}; expected one extent for each axis, within its own",
                      heatpp::to_string(chunks), heatpp::to_string(shape));
}

Transfer save_one(const NewFile& file, const std::function<Transfer(const SaveJob&)>& write) {
  std::optional<AsideFile> aside;
  all_or_none(file.comm, [&] {
    if (file.comm.rank() != 0) return;
    aside.emplace(file.path, file.begin, file.op);
    Room(aside->path(), file.path.string(), file.op).check(file.bytes);
  });
  const auto name = seen_by_first(file.comm, [&] { return aside->path().string(); });
  check_visible(name, file.op, file.comm);
  auto transfer = write({file.op, name, file.path.string()});
  all_or_none(file.comm, [&] {
    if (!aside) return;
    Room(aside->path(), file.path.string(), file.op).trim();
    aside->commit();
  });
  return transfer;
}

Transfer save_shards(const NewFile& file, const DNDarray& x, const std::string& extension,
                     const std::function<void(const SaveJob&, const at::Tensor& rows)>& write) {
  if (x.ndim() == 0) raise<ValueError>(file.op, "got an array without axes; expected rows to put in shards");
  const auto names = shard_names(file.path, file.comm, {file.op, extension});
  const auto blocks = blocks_of(!x.layout().is_grid() && x.split().value_or(0) == 0 ? x : resplit(x, 0));
  const auto& mine = names[static_cast<std::size_t>(file.comm.rank())];
  std::optional<AsideFile> aside;
  all_or_none(file.comm, [&] {
    aside.emplace(mine, file.begin, file.op);
    const Room room(aside->path(), mine, file.op);
    room.check(blocks.mine.numel() * blocks.mine.element_size());
    write({file.op, aside->path().string(), mine}, blocks.mine);
    room.trim();
  });
  all_or_none(file.comm, [&] { aside->commit(); });
  return {false, "independent: one file per rank"};
}

}  // namespace heatpp::io::detail
