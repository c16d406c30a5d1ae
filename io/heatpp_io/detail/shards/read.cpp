#include <heatpp_io/detail/shards/read.hpp>

#include <ATen/ATen.h>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/alike.hpp>
#include <heatpp/core/detail/allocated.hpp>
#include <heatpp_io/detail/elements/windows.hpp>
#include <heatpp_io/detail/files/first_error.hpp>

namespace heatpp::io::detail {
namespace {

// Below this size, opening the file costs more than reading all of it on every rank.
constexpr std::int64_t small_bytes = std::int64_t{256} << 10;

at::Tensor allocate(const Shape& shape, Dtype dtype, const ReadJob& job) {
  at::Tensor block;
  all_or_none(job.comm, [&] {
    block = heatpp::detail::block_or_error(job.op, shape,
                                           [&] { return at::empty(shape, heatpp::detail::to_torch(dtype)); });
  });
  return block;
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
    return {false, job.comm.size() == 1 ? "independent: one rank" : "independent: small, every rank reads all of it"};
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

/// Each rank reads a share of the rows to its place in `block`, and receives the shares of the others.
Transfer read_replicated(const ReadJob& job, const Layout& layout, const at::Tensor& block) {
  if (layout.ndim() == 0 || block.numel() * block.element_size() <= small_bytes || layout.ranks() == 1)
    return read(job, layout, block);
  const Layout share(layout.shape(), 0, layout.ranks());
  const auto rank = job.comm.rank();
  const auto mine = block.narrow(0, share.offset(rank), share.count(rank));
  const auto transfer = read(job, share, mine);
  std::vector<std::int64_t> counts;
  for (int r = 0; r < share.ranks(); ++r) counts.push_back(size_of(share.local_shape(r)));
  job.comm.allgather(heatpp::detail::buffer_of(mine), heatpp::detail::buffer_of(block), counts);
  return transfer;
}

}  // namespace

void check_no_records(const char* op, const LoadOptions& options) {
  if (!options.field.empty() || options.missing_sources != MissingSources::error)
    heatpp::detail::raise<ValueError>(op, "got {}; expected it for HDF5 files only",
                                      options.field.empty() ? "missing_sources" : "field");
}

Selection own_box(const ReadJob& job, const Layout& layout) {
  if (!layout.split()) return job.box;
  const auto rank = job.comm.rank();
  return narrow(job.box, *layout.split(), layout.offset(rank), layout.count(rank));
}

DNDarray load_array(const ReadJob& job, const LoadOptions& options, const Recorder& recorder) {
  using heatpp::detail::formatted;
  const auto shape = extents(job.box);
  heatpp::detail::check_agreed(job.op, job.comm,
                               {{"split", options.split ? formatted("{}", *options.split) : "none"},
                                {"dtype", options.dtype ? std::string(name(*options.dtype)) : "as stored"},
                                {"decode", formatted("{}", options.decode)},
                                {"collective", options.collective ? formatted("{}", *options.collective) : "none"},
                                {"field", options.field},
                                {"missing_sources", options.missing_sources == MissingSources::fill ? "fill" : "error"},
                                {"slices of shape", heatpp::to_string(shape)}},
                               [&] {
                                 if (!job.of_hdf5) check_no_records(job.op, options);
                               });
  Layout layout(shape, options.split, job.comm.size());
  const auto dtype = options.dtype.value_or(job.shards.info.element.dtype);
  auto block = allocate(layout.local_shape(job.comm.rank()), dtype, job);
  const auto transfer = layout.split() ? read(job, layout, block) : read_replicated(job, layout, block);
  recorder.finish(layout.size() * static_cast<std::int64_t>(itemsize(dtype)), job.shards.count(), transfer);
  return heatpp::detail::wrap(block.to(heatpp::detail::to_torch(options.device)), std::move(layout), job.comm);
}

}  // namespace heatpp::io::detail
