#include <heatpp_io/detail/formats.hpp>
#include <heatpp_io/hdf5/detail/write.hpp>
#include <heatpp_io/stream/detail/row_pieces.hpp>

namespace heatpp::io::detail {
namespace {

constexpr auto op = "save_hdf5";

/// All ranks together write compressed chunks.
Transfer write_rows(const WriteJob& job, const RowsToSave& x) {
  const auto& comm = comm_of(x);
  check_append(job, comm);
  return write_new(job, Layout(x.shape, 0, comm.size()), x.dtype, comm, [&](const Dataset& dataset) -> Transfer {
    const bool chunked = !dataset.info.chunk.empty(), alone = comm.size() == 1;
    const auto how = chunked && !alone ? MpiIo::collective : MpiIo::independent;
    each_piece(op, x, chunked ? dataset.info.chunk[0] : 1, [&](std::int64_t first, const DNDarray& rows) {
      const auto [layout, mine] = blocks_of(rows);
      const auto box =
          narrow(select(x.shape, {}, op), 0, first + layout.offset(comm.rank()), layout.count(comm.rank()));
      write_boxes({job, dataset, comm}, box, mine, how);
    });
    return {how == MpiIo::collective, alone ? "independent: one rank" : "independent: each rank writes its rows"};
  });
}

}  // namespace

void save_rows_hdf5(const RowsToSave& x, const std::filesystem::path& path, const SaveOptions& options) {
  const Recorder recorder(op);
  const Hdf5Turn turn;
  check_save_options(x.shape, options, op);
  const auto begin = options.append ? AsideFile::Begin::copy : AsideFile::Begin::empty;
  const NewFile file{op, comm_of(x), path, bytes_of(x), begin};
  const auto name = dataset_or_data(options);
  recorder.finish(bytes_of(x), 1, save_one(file, [&](const SaveJob& job) {
                    return write_rows({job, name, options}, x);
                  }));
}

}  // namespace heatpp::io::detail
