#include <ATen/ATen.h>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/torch.hpp>
#include <heatpp/core/redistribute.hpp>
#include <heatpp_io/detail/aside_file.hpp>
#include <heatpp_io/detail/expand.hpp>
#include <heatpp_io/detail/shard_names.hpp>
#include <heatpp_io/detail/handle.hpp>
#include <heatpp_io/detail/write.hpp>

namespace heatpp::io {
namespace {

namespace fs = std::filesystem;
using detail::AsideFile;
using detail::Room;
using heatpp::detail::raise;

constexpr auto op = "save_hdf5";

std::int64_t bytes_of(const DNDarray& x) { return x.size() * static_cast<std::int64_t>(itemsize(x.dtype())); }

/// What each rank writes: its block, or its share of the rows of an array that all hold.
struct Blocks {
  Layout layout;
  at::Tensor mine;
};

Blocks blocks_of(const DNDarray& x) {
  const auto local = x.larray().to(at::kCPU).contiguous();
  if (x.split() || x.ndim() == 0) return {x.layout(), local};
  Layout share(x.shape(), 0, x.comm().size());
  const auto rank = x.comm().rank();
  auto mine = local.narrow(0, share.offset(rank), share.count(rank));
  return {std::move(share), std::move(mine)};
}

AsideFile::Begin beginning(const SaveOptions& options) {
  return options.append ? AsideFile::Begin::copy : AsideFile::Begin::empty;
}

/// Whether all ranks see the file that rank 0 has made.
void check_visible(const std::string& path, const Communicator& comm) {
  all_or_none(comm, [&] {
    std::error_code ignored;
    if (!fs::exists(path, ignored))
      raise<IoError>(op, "got \"{}\", which is not seen on all ranks; expected a directory that all ranks share", path);
  });
}

detail::Transfer write_blocks(const detail::WriteJob& job, const DNDarray& x) {
  const auto blocks = blocks_of(x);
  if (x.comm().size() > 1 && blocks.layout.split()) return write_shared(job, blocks.layout, blocks.mine, x.comm());
  all_or_none(x.comm(), [&] {
    if (x.comm().rank() == 0) write_alone(job, blocks.mine);
  });
  return {false, x.comm().size() == 1 ? "independent: one rank" : "independent: one number, written by rank 0"};
}

detail::Transfer save_one(const DNDarray& x, const fs::path& path, const std::string& dataset,
                          const SaveOptions& options) {
  const auto& comm = x.comm();
  std::optional<AsideFile> aside;
  all_or_none(comm, [&] {
    if (comm.rank() != 0) return;
    aside.emplace(path, beginning(options), op);
    Room(aside->path(), path.string(), op).check(bytes_of(x));
  });
  const auto names = detail::broadcast_texts({aside ? aside->path().string() : ""}, comm);
  check_visible(names[0], comm);
  const detail::WriteJob job{op, names[0], path.string(), dataset, options};
  all_or_none(comm, [&] {
    if (options.append && comm.rank() == 0) check_free_name(job);
  });
  const auto transfer = write_blocks(job, x);
  all_or_none(comm, [&] {
    if (!aside) return;
    Room(aside->path(), path.string(), op).trim();
    aside->commit();
  });
  return transfer;
}

detail::Transfer save_shards(const DNDarray& x, const fs::path& path, const std::string& dataset,
                             const SaveOptions& options) {
  const auto& comm = x.comm();
  const auto names = detail::shard_names(path, comm, op);
  const auto blocks = blocks_of(x.split().value_or(0) == 0 ? x : resplit(x, 0));
  const auto& mine = names[static_cast<std::size_t>(comm.rank())];
  std::optional<AsideFile> aside;
  all_or_none(comm, [&] {
    aside.emplace(mine, beginning(options), op);
    const Room room(aside->path(), mine, op);
    room.check(blocks.mine.numel() * blocks.mine.element_size());
    const detail::WriteJob job{op, aside->path().string(), mine, dataset, options};
    if (options.append) check_free_name(job);
    write_alone(job, blocks.mine);
    room.trim();
  });
  all_or_none(comm, [&] { aside->commit(); });
  return {false, "independent: one file per rank"};
}

}  // namespace

void save_hdf5(const DNDarray& x, const fs::path& path, const std::string& dataset, const SaveOptions& options) {
  const detail::Recorder recorder(op);
  const detail::SilentErrors silent;
  if (dataset.empty() || dataset.back() == '/')
    raise<ValueError>(op, "got dataset name \"{}\"; expected a name, or one in groups (\"a/b\")", dataset);
  if (options.shards && x.ndim() == 0)
    raise<ValueError>(op, "got an array without axes; expected rows to put in shards");
  detail::check_save_options(x.shape(), options, op);
  const auto save = options.shards ? save_shards : save_one;
  const auto transfer = save(x, path, dataset, options);
  recorder.finish(bytes_of(x), options.shards ? x.comm().size() : 1, transfer);
}

}  // namespace heatpp::io
