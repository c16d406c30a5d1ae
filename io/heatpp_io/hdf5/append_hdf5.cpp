#include <ATen/ATen.h>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp_io/detail/files/byte_file.hpp>
#include <heatpp_io/detail/files/subfiles.hpp>
#include <heatpp_io/detail/formats.hpp>
#include <heatpp_io/hdf5/detail/new_dataset.hpp>
#include <heatpp_io/hdf5/detail/write.hpp>
#include <heatpp_io/stream/detail/growth.hpp>

#include <fcntl.h>
#include <sys/file.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <thread>

namespace heatpp::io::detail {
namespace {

using heatpp::detail::raise;

// For readers to be done with the file.
constexpr std::chrono::seconds patience{30};

/// HDF5's lock of a file, as a program takes it that writes alone. By MPI-IO HDF5 takes none.
class WriteLock {
 public:
  explicit WriteLock(const std::string& path) : file_(path, O_RDWR) {
    const auto end = std::chrono::steady_clock::now() + patience;
    while (::flock(file_.get(), LOCK_EX | LOCK_NB) != 0) {
      if (errno != EWOULDBLOCK) return;  // HDF5 does without where the file system has no locks
      if (std::chrono::steady_clock::now() > end)
        raise<IoError>(append_op,
                       "got \"{}\", which another process has been reading or writing for {} s; expected it free", path,
                       patience.count());
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }

 private:
  Descriptor file_;
};

enum class Found { no_file, no_dataset, dataset };

/// What rank 0 sees.
Found look(const std::string& path, const std::string& name, const Communicator& comm) {
  std::array<std::int64_t, 1> found{0};
  all_or_none(comm, [&] {
    std::error_code ignored;
    if (comm.rank() != 0 || !std::filesystem::exists(path, ignored)) return;
    check_can_grow(path, append_op);
    found[0] = static_cast<std::int64_t>(has_dataset(path, name, append_op) ? Found::dataset : Found::no_dataset);
  });
  comm.broadcast(found, 0);
  return static_cast<Found>(found[0]);
}

/// Gives the dataset `rows` more.
void grow(Dataset& dataset, std::int64_t rows, const std::string& path) {
  auto& shape = dataset.info.shape;
  std::vector<hsize_t> most(shape.size());
  const Handle space(H5Dget_space(dataset.id.get()));
  H5Sget_simple_extent_dims(space.get(), nullptr, most.data());
  if (dataset.info.chunk.empty() || most[0] < static_cast<hsize_t>(shape[0] + rows))
    raise<IoError>(
        append_op,
        "got \"{}\", whose first axis of {} cannot grow by {}; expected one that append_rows or .grows has made", path,
        shape[0], rows);
  shape[0] += rows;
  const std::vector<hsize_t> extents(shape.begin(), shape.end());
  if (H5Dset_extent(dataset.id.get(), extents.data()) < 0)
    raise<IoError>(append_op, "got an error while extending \"{}\" ({}); expected room on the disk", path,
                   innermost_error());
}

void extend(const DNDarray& x, const std::string& path, const std::string& name, const SaveOptions& options) {
  const auto& comm = x.comm();
  const bool alone = comm.size() == 1;  // then HDF5 locks the file itself
  std::optional<WriteLock> lock;
  Dataset dataset;
  std::int64_t before = 0;
  all_or_none(comm, [&] {
    if (comm.rank() == 0 && !alone) lock.emplace(path);
  });
  all_or_none(comm, [&] {
    dataset = open_to_write(path, name, append_op, alone ? local_access() : shared_access(comm));
    check_growth({path, dataset.info.shape, dataset.info.element.dtype}, x);
    before = dataset.info.shape[0];
    if (comm.rank() == 0) Room(path, path, append_op).check(bytes_of(x));
  });
  all_or_none(comm, [&] { grow(dataset, x.shape()[0], path); });
  const WriteJob job{{append_op, path, path}, name, options};
  const auto [layout, mine] = blocks_of(x);
  auto box = narrow(select(dataset.info.shape, {}, append_op), 0, before, x.shape()[0]);
  const auto rank = comm.rank();
  box = narrow(box, *layout.split(), layout.offset(rank), layout.count(rank));
  if (x.size() > 0) write_boxes({job, dataset, comm}, box, mine, alone ? MpiIo::independent : MpiIo::collective);
  all_or_none(comm, [&] { close_dataset(dataset, job); });
}

}  // namespace

void append_rows_hdf5(const DNDarray& x, const std::filesystem::path& path, const SaveOptions& options) {
  const Recorder recorder(append_op);
  const Hdf5Turn turn;
  const auto name = dataset_or_data(options);
  const auto found = look(path.string(), name, x.comm());
  if (found == Found::dataset) {
    extend(x, path.string(), name, options);
    return recorder.finish(bytes_of(x), 1, {x.comm().size() > 1, {}});
  }
  auto first = options;
  first.append = found == Found::no_dataset;
  first.grows = true;
  save_hdf5(x, path, name, first);
}

}  // namespace heatpp::io::detail
