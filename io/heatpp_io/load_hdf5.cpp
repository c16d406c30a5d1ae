#include <ATen/ATen.h>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/torch.hpp>
#include <heatpp_io/detail/expand.hpp>
#include <heatpp_io/detail/read.hpp>
#include <heatpp_io/load_hdf5.hpp>

namespace heatpp::io {
namespace {

constexpr auto op = "load_hdf5";
// Below this, opening the file costs more than reading all of it on every rank.
constexpr std::int64_t small_bytes = std::int64_t{256} << 10;

at::Tensor allocate(const Shape& shape, Dtype dtype, const Communicator& comm) {
  at::Tensor block;
  all_or_none(comm, [&] {
    try {
      block = at::empty(shape, heatpp::detail::to_torch(dtype));
    } catch (const std::exception&) {
      heatpp::detail::raise<Error>(op, "got no memory for a block of shape {} of {}; expected enough",
                                   heatpp::to_string(shape), name(dtype));
    }
  });
  return block;
}

/// Each rank reads a share of the rows into its place in `block`, and the others' shares arrive in theirs.
detail::Transfer read_replicated(const detail::ReadJob& job, const Layout& layout, const at::Tensor& block) {
  if (layout.ndim() == 0 || block.numel() * block.element_size() <= small_bytes || layout.ranks() == 1)
    return detail::read(job, layout, block);
  const Layout share(layout.shape(), 0, layout.ranks());
  const auto rank = job.comm.rank();
  const auto mine = block.narrow(0, share.offset(rank), share.count(rank));
  const auto transfer = detail::read(job, share, mine);
  std::vector<std::int64_t> counts;
  for (int r = 0; r < share.ranks(); ++r) counts.push_back(size_of(share.local_shape(r)));
  job.comm.allgather(heatpp::detail::buffer_of(mine), heatpp::detail::buffer_of(block), counts);
  return transfer;
}

}  // namespace

DNDarray load_hdf5(const Source& source, const std::string& dataset, const LoadOptions& options) {
  const detail::Recorder recorder(op);
  const detail::SilentErrors silent;
  const auto& comm = options.comm ? *options.comm : default_comm();
  const auto shards = detail::inspect(detail::expand(source, comm, op), dataset, comm, op);
  const auto box = detail::select(shards.info.shape, options.slices, op);
  Layout layout(detail::extents(box), options.split, comm.size());
  const auto dtype = options.dtype.value_or(shards.info.element.dtype);

  auto block = allocate(layout.local_shape(comm.rank()), dtype, comm);
  const detail::ReadJob job{op, shards, box, comm, options.collective};
  const auto transfer = layout.split() ? detail::read(job, layout, block) : read_replicated(job, layout, block);

  recorder.finish(layout.size() * static_cast<std::int64_t>(itemsize(dtype)), shards.count(), transfer);
  return heatpp::detail::wrap(block.to(heatpp::detail::to_torch(options.device)), std::move(layout), comm);
}

}  // namespace heatpp::io
