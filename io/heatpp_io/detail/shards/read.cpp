#include <heatpp_io/detail/shards/read.hpp>

#include <ATen/ATen.h>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/blocks/detail/parts.hpp>
#include <heatpp/core/detail/allocated.hpp>
#include <heatpp/core/detail/cuts/layout_of.hpp>
#include <heatpp/core/detail/relayout.hpp>
#include <heatpp_io/detail/elements/windows.hpp>
#include <heatpp_io/detail/files/expand.hpp>
#include <heatpp_io/detail/files/first_error.hpp>
#include <heatpp_io/detail/options/fields.hpp>

namespace heatpp::io::detail {
namespace {

// Below this size of blocks, a broadcast of all of them is faster than a message to each rank.
constexpr std::int64_t least_message = 4096;

at::Tensor allocate(const Shape& shape, Dtype dtype, const ReadJob& job) {
  at::Tensor block;
  all_or_none(job.comm, [&] {
    block = heatpp::detail::block_or_error(job.op, shape,
                                           [&] { return at::empty(shape, heatpp::detail::to_torch(dtype)); });
  });
  return block;
}

/// Returns the part of `whole` that `rank` holds.
at::Tensor block_in(const at::Tensor& whole, const Layout& layout, int rank) {
  return heatpp::detail::part_in_box(whole, Shape(layout.shape().size(), 0), heatpp::detail::box_of(layout, rank));
}

void read_own_block(const ReadJob& job, const Layout& layout, const at::Tensor& block) {
  all_or_none(job.comm, [&] { ShardReader(job.shards, job.open, job.op).read(own_box(job, layout), block); });
}

void read_and_exchange(const ReadJob& job, const Layout& layout, const at::Tensor& block, const Strategy& strategy) {
  const auto& range = job.box[static_cast<std::size_t>(strategy.axis)];
  const auto bytes = block.element_size();
  const auto budget = staging_budget(layout.size() / layout.ranks() * bytes);
  const Windows windows(layout, bytes, {strategy.axis, {strategy.unit, range.start % strategy.unit}, budget});
  const auto staging = at::empty({windows.part_size()}, block.options());
  ShardReader reader(job.shards, job.open, job.op);
  FirstError error;
  for (std::int64_t window = 0; window < windows.count(); ++window) {
    const auto mine = windows.part(window, job.comm.rank());
    const auto shape = windows.shape(mine);
    const auto part = staging.narrow(0, 0, size_of(shape)).view(shape);
    error.run([&] { reader.read(narrow(job.box, strategy.axis, mine.first, mine.count), part); });
    scatter_window(windows, window, part, block, layout, job.comm);
  }
  all_or_none(job.comm, [&] { error.rethrow(); });
}

Transfer read(const ReadJob& job, const Layout& layout, const at::Tensor& block) {
  if (!layout.split()) {
    read_own_block(job, layout, block);
    return {false, job.comm.size() == 1 ? "independent: one rank" : "independent: every rank reads all of it"};
  }
  const auto strategy = choose_strategy(job.shards, job.box, layout, job.together ? job.collective : false);
  switch (strategy.kind) {
    case Strategy::Kind::collective: job.together(job, layout, block); break;
    case Strategy::Kind::own_block:
      read_own_block(job, layout, block);
      if (!job.together && job.comm.size() > 1) return {false, "independent: each rank reads its part"};
      break;
    case Strategy::Kind::exchange: read_and_exchange(job, layout, block, strategy); break;
  }
  return {strategy.kind == Strategy::Kind::collective, strategy.reason};
}

/// Each rank reads its box of a grid, or, if this reads much of the file more than once, rows that are recut.
Transfer read_on_grid(const ReadJob& job, const Layout& layout, const at::Tensor& block) {
  const bool alone = !(job.together && job.collective.value_or(false)) && reads_boxes(job.shards.info, job.box, layout);
  if (alone) {
    read_own_block(job, layout, block);
    return {false, "independent: each rank reads its box"};
  }
  const Layout rows(layout.shape(), 0, layout.ranks());
  const auto mine = allocate(rows.local_shape(job.comm.rank()), heatpp::detail::from_torch(block.scalar_type()), job);
  auto transfer = read(job, rows, mine);
  block.copy_(heatpp::detail::relayout(heatpp::detail::wrap(mine, rows, job.comm), layout));
  if (!transfer.collective) transfer.reason += "; rows recut to the grid";
  return transfer;
}

/// Each rank reads a share of the rows to its place in `block`, and receives the shares of the others.
Transfer read_replicated(const ReadJob& job, const Layout& layout, const at::Tensor& block) {
  if (layout.ndim() == 0 || layout.ranks() == 1) return read(job, layout, block);
  const Layout share(layout.shape(), 0, layout.ranks());
  const auto rank = job.comm.rank();
  const auto mine = block.narrow(0, share.offset(rank), share.count(rank));
  const auto transfer = read(job, share, mine);
  std::vector<std::int64_t> counts;
  for (int r = 0; r < share.ranks(); ++r) counts.push_back(size_of(share.local_shape(r)));
  job.comm.allgather(heatpp::detail::buffer_of(mine), heatpp::detail::buffer_of(block), counts);
  return transfer;
}

/// Whether rank 0 alone reads, unless MPI-IO is asked for.
bool first_reads(const ReadJob& job, const Layout& layout, const at::Tensor& block) {
  return layout.ranks() > 1 && !(job.together && job.collective.value_or(false)) &&
         is_read_by_first(job.shards, job.box, block.element_size());
}

Transfer read_by_first(const ReadJob& job, const Layout& layout, const at::Tensor& block) {
  at::Tensor whole;
  all_or_none(job.comm, [&] {
    if (job.comm.rank() != 0) return;
    whole = layout.is_cut() ? at::empty(layout.shape(), block.options()) : block;
    ShardReader(job.shards, job.open, job.op).read(job.box, whole);
  });
  send_from_first(whole, layout, block, job.comm);
  return {false, "independent: small, rank 0 reads it and sends it"};
}

}  // namespace

void send_from_first(const at::Tensor& whole, const Layout& layout, const at::Tensor& block, const Communicator& comm) {
  using heatpp::detail::buffer_of;
  const bool mine = comm.rank() == 0;
  const auto bytes = layout.size() * block.element_size();
  if (!layout.is_cut() || bytes / layout.ranks() < least_message) {
    const auto all = !layout.is_cut() ? block : mine ? whole : at::empty(layout.shape(), block.options());
    if (mine && !all.is_same(whole)) all.copy_(whole);
    comm.broadcast(buffer_of(all), 0);
    if (layout.is_cut()) block.copy_(block_in(all, layout, comm.rank()));
    return;
  }
  std::vector<at::Tensor> blocks;
  std::vector<std::int64_t> counts;
  for (int r = 0; r < layout.ranks(); ++r) {
    counts.push_back(size_of(layout.local_shape(r)));
    if (mine) blocks.push_back(block_in(whole, layout, r).reshape({-1}));
  }
  const auto from = mine ? at::cat(blocks) : at::empty({0}, block.options());
  const auto to = at::empty({block.numel()}, block.options());
  comm.scatter(buffer_of(from), buffer_of(to), counts, 0);
  block.copy_(to.view(block.sizes()));
}

void check_no_dataset(const char* op, const LoadOptions& options) {
  if (!options.dataset.empty())
    heatpp::detail::raise<ValueError>(op, "got dataset \"{}\" for files without names; expected none", options.dataset);
}

void check_no_records(const char* op, const LoadOptions& options) {
  if (!options.field.empty() || options.missing_sources != MissingSources::error)
    heatpp::detail::raise<ValueError>(op, "got {}; expected it only for HDF5 files",
                                      options.field.empty() ? "missing_sources" : "field");
}

Selection own_box(const ReadJob& job, const Layout& layout) {
  const auto rank = job.comm.rank();
  return narrow(job.box, layout.local_offset(rank), layout.local_shape(rank));
}

DNDarray load_array(const ReadJob& job, const LoadOptions& options, const Recorder& recorder) {
  const auto shape = extents(job.box);
  auto layout = heatpp::detail::layout_of(job.op, shape, options, job.comm);
  const auto dtype = options.dtype.value_or(job.shards.info.element.dtype);
  auto block = allocate(layout.local_shape(job.comm.rank()), dtype, job);
  const auto transfer = first_reads(job, layout, block) ? read_by_first(job, layout, block)
                        : layout.is_grid()              ? read_on_grid(job, layout, block)
                        : layout.split()                ? read(job, layout, block)
                                                        : read_replicated(job, layout, block);
  recorder.finish(layout.size() * static_cast<std::int64_t>(itemsize(dtype)), job.shards.count(), transfer);
  return heatpp::detail::wrap(block.to(heatpp::detail::to_torch(options.device)), std::move(layout), job.comm);
}

DNDarray load_files(const FilesToLoad& files, const LoadOptions& options, const Recorder& recorder) {
  const auto& comm = comm_of(options.comm);
  auto named = options;
  if (files.has_names) named.dataset = files.name;
  heatpp::detail::check_agreed(files.op, comm, settings_to_read(files.source, named), [] {});
  if (!files.has_names) check_no_dataset(files.op, options);
  if (!files.of_hdf5) check_no_records(files.op, options);
  FirstLook look(files.open);
  const auto describe = [&](const std::string& path) { return look.describe(path); };
  const auto shards = inspect({expand_agreed(files.source, comm, files.op, files.in_directories), files.name}, describe,
                              comm, files.op);
  const auto box = select(shards.info.shape, options.slices, files.op);
  const auto take = [&](const std::string& path) { return look.take(path); };
  ReadJob job{files.op, shards, box, comm, take, files.collective};
  if (files.together && shards.info.digest == 0)  // MPI-IO reads numbers as they are stored
    job.together = [&](const ReadJob& of, const Layout& layout, const at::Tensor& block) {
      look.close();
      files.together(of, layout, block);
    };
  return load_array(job, options, recorder);
}

}  // namespace heatpp::io::detail
