#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/torch.hpp>
#include <heatpp_io/hdf5/detail/box_io.hpp>
#include <heatpp_io/hdf5/detail/new_dataset.hpp>
#include <heatpp_io/hdf5/detail/shared_access.hpp>
#include <heatpp_io/stream/detail/row_pieces.hpp>

#include <array>

namespace heatpp::io::detail {
namespace {

constexpr auto op = "save_hdf5";

/// A dataset that rows are written to, and how.
struct RowTarget {
  const WriteJob& job;
  const Dataset& dataset;
  const Handle& transfer;
  const Communicator& comm;
};

/// Compressed chunks are written by all ranks together, for which they call equally often.
void write_piece(const RowTarget& to, std::int64_t first, const Blocks& rows) {
  const auto rank = to.comm.rank();
  const auto box =
      narrow(select(to.dataset.info.shape, {}, op), 0, first + rows.layout.offset(rank), rows.layout.count(rank));
  std::array<std::int64_t, 1> calls{0};
  if (!to.dataset.info.chunk.empty() && to.comm.size() > 1) {
    calls[0] = std::ssize(write_plan(to.dataset.info, box));
    to.comm.allreduce(calls, ReduceOp::max);
  }
  all_or_none(to.comm, [&] {
    if (rows.mine.numel() > 0 || calls[0] > 0)
      write_box(to.dataset, box, rows.mine,
                {op, to.job.shown, to.transfer ? to.transfer.get() : H5P_DEFAULT, static_cast<std::size_t>(calls[0])});
  });
}

Transfer write_rows(const WriteJob& job, const RowsToSave& x) {
  const auto& comm = comm_of(x);
  const bool alone = comm.size() == 1;
  Dataset dataset;
  Handle transfer;
  all_or_none(comm, [&] {
    if (job.options.append && comm.rank() == 0) check_free_name(job);
  });
  all_or_none(comm, [&] {
    dataset =
        create_dataset(job, Layout(x.shape, 0, comm.size()), x.dtype, alone ? local_access() : shared_access(comm));
    if (!alone) transfer = shared_transfer(dataset.info.chunk.empty() ? MpiIo::independent : MpiIo::collective);
  });
  all_or_none(comm, [&] {
    if (comm.rank() == 0) Room(job.path, job.shown, op).reserve(bytes_needed(dataset));
  });
  const bool chunked = !dataset.info.chunk.empty();
  each_piece(op, x, chunked ? dataset.info.chunk[0] : 1, [&](std::int64_t first, const DNDarray& rows) {
    write_piece({job, dataset, transfer, comm}, first, blocks_of(rows));
  });
  all_or_none(comm, [&] { close_dataset(dataset, job); });
  return {chunked && !alone, alone ? "independent: one rank" : "independent: each rank writes its rows"};
}

}  // namespace

void save_rows_hdf5(const RowsToSave& x, const std::filesystem::path& path, const SaveOptions& options) {
  const Recorder recorder(op);
  const Hdf5Turn turn;
  check_save_options(x.shape, options, op);
  const auto begin = options.append ? AsideFile::Begin::copy : AsideFile::Begin::empty;
  const NewFile file{op, comm_of(x), path, bytes_of(x), begin};
  const auto name = options.dataset.empty() ? std::string("data") : options.dataset;
  recorder.finish(bytes_of(x), 1, save_one(file, [&](const SaveJob& job) {
                    return write_rows({job, name, options}, x);
                  }));
}

}  // namespace heatpp::io::detail
