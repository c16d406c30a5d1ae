#include <heatpp_io/hdf5/detail/write.hpp>

#include <ATen/ATen.h>

#include <heatpp/comm/communicator.hpp>
#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/torch.hpp>
#include <heatpp_io/detail/codecs/codecs.hpp>
#include <heatpp_io/detail/elements/attribute_rules.hpp>
#include <heatpp_io/detail/files/subfiles.hpp>
#include <heatpp_io/hdf5/detail/box_io.hpp>
#include <heatpp_io/hdf5/detail/new_dataset.hpp>
#include <heatpp_io/hdf5/detail/shared_access.hpp>
#include <heatpp_io/hdf5/detail/subfiling.hpp>

#include <algorithm>
#include <array>

namespace heatpp::io::detail {
namespace {

using heatpp::detail::formatted;
using heatpp::detail::from_torch;
using heatpp::detail::raise;

// HDF5 counts the extents of chunks with 32 bits.
constexpr std::int64_t most_in_a_chunk = std::int64_t{1} << 32;

Selection whole(const Shape& shape) { return select(shape, {}, "save_hdf5"); }

struct Target {
  const WriteJob& job;
  const Dataset& dataset;
  const Layout& layout;
  const Communicator& comm;
};

void write_blocks(const Target& to, const at::Tensor& block, MpiIo how) {
  const auto rank = to.comm.rank();
  const auto box = narrow(whole(to.layout.shape()), to.layout.local_offset(rank), to.layout.local_shape(rank));
  write_boxes({to.job, to.dataset, to.comm}, box, block, how);
}

void exchange_and_write(const Target& to, const at::Tensor& block) {
  const auto transfer = shared_transfer(MpiIo::independent);
  each_rows(to.layout, block, to.comm, [&](std::int64_t first, const at::Tensor& rows) {
    const auto box = narrow(whole(to.layout.shape()), 0, first, rows.size(0));
    write_box(to.dataset, box, rows, {to.job.op, to.job.shown, transfer.get(), 0});
  });
}

/// Writes boxes of which each consists of many runs in the file. By itself, MPI-IO would send the elements to ranks
/// that write longer runs.
Transfer write_own_boxes(const Target& to, const at::Tensor& block) {
  const bool collective = to.job.options.collective.value_or(false);
  write_blocks(to, block, collective ? MpiIo::collective : MpiIo::independent);
  return {collective, collective ? "" : "independent: each rank writes its box"};
}

Transfer write_contiguous(const Target& to, const at::Tensor& block) {
  if (to.layout.is_grid()) return write_own_boxes(to, block);
  const bool rows = to.layout.split() == 0;
  const bool long_runs = to.layout.shape()[0] == 1 || has_long_runs(to.layout, block.element_size());
  const bool subfiles = to.job.options.subfiles > 0;
  if (!subfiles && to.job.options.collective.value_or(rows || long_runs)) {
    write_blocks(to, block, rows ? MpiIo::own_runs : MpiIo::collective);
    return {true, {}};
  }
  if (!rows && !long_runs) {
    exchange_and_write(to, block);
    return {false, "exchange: parts of rows put together, contiguous rows written per rank"};
  }
  write_blocks(to, block, MpiIo::independent);
  return {false, subfiles ? "independent: HDF5 deals what each rank writes to subfiles" : "independent: as asked for"};
}

void check_subfile_options(const Shape& shape, const SaveOptions& options, const char* op) {
  if (options.subfiles < 0 || shape.empty())
    raise<ValueError>(op, "got {} subfiles for an array of shape {}; expected 1 or more, and axes", options.subfiles,
                      to_string(shape));
  if (options.append || options.shards || options.grows || options.collective)
    raise<ValueError>(op, "got append, shards, grows or collective for {} subfiles; expected none", options.subfiles);
}

Handle new_access(const WriteJob& job, const Communicator& comm) {
  if (job.options.subfiles == 0) return comm.size() > 1 ? shared_access(comm) : local_access();
  all_or_none(comm, [&] { check_subfiling(formatted("{} subfiles", job.options.subfiles), job.op); });
  return subfiling_access(comm, job.options.subfiles);
}

}  // namespace

void check_save_options(const Shape& shape, const SaveOptions& options, const char* op) {
  check_compression(options.compression, op);
  check(op, annotations_of(options), shape, hdf5_rules, {});
  if (options.netcdf_format) raise<ValueError>(op, "got netcdf_format for an HDF5 file; expected none");
  if (options.subfiles != 0) check_subfile_options(shape, options, op);
  if (options.grows && shape.empty()) raise<ValueError>(op, "got an array without axes; expected one that can grow");
  auto room = shape;
  if (options.grows) room[0] = most_in_a_chunk - 1;  // chunks may have more rows than exist yet
  check_chunks(op, options.chunks, room, most_in_a_chunk);
}

void check_free_name(const WriteJob& job) {
  check_can_grow(job.shown, job.op);
  const auto access = local_access();  // releasing it before the error is read would clear the error
  const Handle file(H5Fopen(job.path.c_str(), H5F_ACC_RDONLY, access.get()));
  if (!file)
    raise<IoError>(job.op, "got \"{}\" to extend, which cannot be opened ({}); expected a complete HDF5 file",
                   job.shown, innermost_error());
  const Handle there(H5Oopen(file.get(), job.dataset.c_str(), H5P_DEFAULT));
  if (there && H5Iget_type(there.get()) != H5I_DATASET)
    raise<ValueError>(job.op, "got dataset \"{}\", which is a group in \"{}\"; expected a name of its own", job.dataset,
                      job.shown);
  if (there && !job.replace)
    raise<ValueError>(job.op, "got dataset \"{}\", which \"{}\" has already; expected a new name", job.dataset,
                      job.shown);
}

void check_append(const WriteJob& job, const Communicator& comm) {
  all_or_none(comm, [&] {
    if (job.options.append && comm.rank() == 0) check_free_name(job);
  });
}

void write_alone(const WriteJob& job, const at::Tensor& block) {
  const Shape shape(block.sizes().begin(), block.sizes().end());
  const Layout layout(shape, std::nullopt, 1);
  auto dataset = create_dataset(job, layout, from_torch(block.scalar_type()), local_access());
  Room(job.path, job.shown, job.op).reserve(bytes_needed(dataset));
  if (block.numel() > 0) write_box(dataset, whole(shape), block, {job.op, job.shown});
  close_dataset(dataset, job);
}

void write_boxes(const NewDataset& to, const Selection& box, const at::Tensor& block, MpiIo how) {
  std::array<std::int64_t, 1> calls{0};
  if (how != MpiIo::independent) {
    calls[0] = std::ssize(write_plan(to.dataset.info, box));
    to.comm.allreduce(calls, ReduceOp::max);
  }
  const auto transfer = to.comm.size() > 1 ? shared_transfer(how) : Handle();
  all_or_none(to.comm, [&] {
    write_box(to.dataset, box, block,
              {to.job.op, to.job.shown, transfer ? transfer.get() : H5P_DEFAULT, static_cast<std::size_t>(calls[0])});
  });
}

Transfer write_new(const WriteJob& job, const Layout& layout, Dtype dtype, const Communicator& comm,
                   const std::function<Transfer(const Dataset&)>& write) {
  Dataset dataset;
  const auto access = new_access(job, comm);
  all_or_none(comm, [&] { dataset = create_dataset(job, layout, dtype, access); });
  all_or_none(comm, [&] {
    if (comm.rank() == 0 && job.options.subfiles == 0) Room(job.path, job.shown, job.op).reserve(bytes_needed(dataset));
  });
  auto transfer = write(dataset);
  all_or_none(comm, [&] { close_dataset(dataset, job); });
  return transfer;
}

Transfer write_shared(const WriteJob& job, const Layout& layout, const at::Tensor& block, const Communicator& comm) {
  return write_new(job, layout, from_torch(block.scalar_type()), comm, [&](const Dataset& dataset) -> Transfer {
    const Target to{job, dataset, layout, comm};
    if (layout.size() == 0) return {false, "independent: nothing to write"};
    if (dataset.info.chunk.empty()) return write_contiguous(to, block);
    // HDF5 compresses only in collective calls.
    const bool collective = job.options.compression || job.options.collective.value_or(true);
    write_blocks(to, block, collective ? MpiIo::collective : MpiIo::independent);
    return {collective, collective ? "" : "independent: as asked for"};
  });
}

Transfer write_dataset(const WriteJob& job, const DNDarray& x) {
  const auto& comm = x.comm();
  check_append(job, comm);
  if ((comm.size() > 1 || job.options.subfiles > 0) && x.ndim() > 0) {
    const auto blocks = boxes_of(x);
    return write_shared(job, blocks.layout, blocks.mine, comm);
  }
  all_or_none(comm, [&] {
    if (comm.rank() == 0) write_alone(job, x.larray().to(at::kCPU).contiguous());
  });
  return {false, comm.size() == 1 ? "independent: one rank" : "independent: one number, written by rank 0"};
}

}  // namespace heatpp::io::detail
