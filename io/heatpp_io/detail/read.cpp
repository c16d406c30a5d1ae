#include <ATen/ATen.h>

#include <heatpp/comm/communicator.hpp>
#include <heatpp/core/detail/torch.hpp>
#include <heatpp_io/detail/read.hpp>
#include <heatpp_io/detail/shared_access.hpp>
#include <heatpp_io/detail/windows.hpp>

#include <array>

namespace heatpp::io::detail {
namespace {

/// This rank's part of the box.
Selection own_box(const ReadJob& job, const Layout& layout) {
  if (!layout.split()) return job.box;
  const auto rank = job.comm.rank();
  return narrow(job.box, *layout.split(), layout.offset(rank), layout.count(rank));
}

/// How many transfers the rank with most of them needs.
std::size_t most_calls(std::size_t mine, const Communicator& comm) {
  std::array<std::int64_t, 1> calls{static_cast<std::int64_t>(mine)};
  comm.allreduce(calls, ReduceOp::max);
  return static_cast<std::size_t>(calls[0]);
}

void read_together(const ReadJob& job, const Layout& layout, const at::Tensor& block) {
  const auto& path = job.shards.paths[0];
  Dataset dataset;
  all_or_none(job.comm, [&] { dataset = open_dataset(path, job.shards.name, job.op, shared_access(job.comm)); });
  const auto box = own_box(job, layout);
  const auto dtype = heatpp::detail::from_torch(block.scalar_type());
  const auto calls = most_calls(read_plan(dataset.info, box, dtype).size(), job.comm);
  const bool one_run = is_one_run(dataset.info, job.box, layout);
  const auto transfer = shared_transfer(one_run ? MpiIo::own_runs : MpiIo::collective);
  all_or_none(job.comm, [&] { read_box(dataset, box, block, {job.op, path, transfer.get(), calls}); });
}

void read_own_block(const ReadJob& job, const Layout& layout, const at::Tensor& block) {
  all_or_none(job.comm, [&] { ShardReader(job.shards, job.op).read(own_box(job, layout), block); });
}

void read_and_exchange(const ReadJob& job, const Layout& layout, const at::Tensor& block, const Strategy& strategy) {
  const auto& range = job.box[static_cast<std::size_t>(strategy.axis)];
  const auto bytes = block.element_size();
  const auto budget = staging_budget(layout.size() / layout.ranks() * bytes);
  const Windows windows(layout, bytes, {strategy.axis, {strategy.unit, range.start % strategy.unit}, budget});
  const auto staging = at::empty({windows.part_size()}, block.options());
  ShardReader reader(job.shards, job.op);
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

}  // namespace

Transfer read(const ReadJob& job, const Layout& layout, const at::Tensor& block) {
  if (!layout.split()) {
    read_own_block(job, layout, block);
    return {false, job.comm.size() == 1 ? "independent: one rank" : "independent: small, every rank reads all of it"};
  }
  const auto strategy = choose_strategy(job.shards, job.box, layout, job.collective);
  switch (strategy.kind) {
    case Strategy::Kind::collective: read_together(job, layout, block); break;
    case Strategy::Kind::own_block: read_own_block(job, layout, block); break;
    case Strategy::Kind::exchange: read_and_exchange(job, layout, block, strategy); break;
  }
  return {strategy.kind == Strategy::Kind::collective, strategy.reason};
}

}  // namespace heatpp::io::detail
