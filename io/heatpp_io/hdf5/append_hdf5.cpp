#include <ATen/ATen.h>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp_io/detail/files/byte_file.hpp>
#include <heatpp_io/detail/files/subfiles.hpp>
#include <heatpp_io/detail/formats.hpp>
#include <heatpp_io/hdf5/detail/filters.hpp>
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

// How long to wait until readers have closed the file.
constexpr std::chrono::seconds close_patience{30};

/// HDF5's lock of a file, as a program takes it that is the only writer. Through MPI-IO HDF5 takes no lock.
class WriteLock {
 public:
  explicit WriteLock(const std::string& path) : file_(path, O_RDWR) {
    const auto end = std::chrono::steady_clock::now() + close_patience;
    while (::flock(file_.get(), LOCK_EX | LOCK_NB) != 0) {
      if (errno != EWOULDBLOCK) return;  // HDF5 works without if the file system has no locks
      if (std::chrono::steady_clock::now() > end)
        raise<IoError>(append_op,
                       "got \"{}\", which another process has been reading or writing for {} s; expected it free", path,
                       close_patience.count());
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }

 private:
  Descriptor file_;
};

enum class Found { no_file, no_dataset, dataset };

/// Throws if the dataset cannot store the rows of `x` unchanged: a conversion by HDF5 would clip numbers that do not
/// fit. Throws also if it makes new chunks late or fills them: ranks that do this together fail or wait forever (HDF5
/// 1.10.8).
void check_can_have(const Dataset& dataset, const DNDarray& x, const std::string& path) {
  const auto& info = dataset.info;
  check_growth({path, info.shape, info.element.dtype}, x);
  const Handle space(H5Dget_space(dataset.id.get())), type(H5Dget_type(dataset.id.get()));
  const Handle storage(H5Dget_create_plist(dataset.id.get()));
  std::vector<hsize_t> most(info.shape.size());
  H5Sget_simple_extent_dims(space.get(), nullptr, most.data());
  if (info.chunk.empty() || most[0] < static_cast<hsize_t>(info.shape[0] + x.shape()[0]))
    raise<IoError>(
        append_op,
        "got \"{}\", whose first axis of {} cannot grow by {}; expected one that append_rows or .grows has made", path,
        info.shape[0], x.shape()[0]);
  if (!dataset.inner.empty())
    raise<IoError>(append_op, "got \"{}\", whose elements are small arrays; expected a dataset of numbers", path);
  if (info.element.may_overflow || H5Tequal(type.get(), dataset.memory.get()) <= 0)
    raise<IoError>(append_op, "got \"{}\", which stores another type that is read as {}; expected {} itself", path,
                   name(x.dtype()), name(x.dtype()));
  if (const auto missing = missing_filter(applied_filters(storage)))
    raise<IoError>(append_op, "got \"{}\" with chunks behind {}", path, *missing);
  H5D_fill_time_t filled = H5D_FILL_TIME_ERROR;
  H5D_alloc_time_t made = H5D_ALLOC_TIME_ERROR;
  H5Pget_fill_time(storage.get(), &filled);
  H5Pget_alloc_time(storage.get(), &made);
  if (x.comm().size() > 1 && (filled != H5D_FILL_TIME_NEVER || made != H5D_ALLOC_TIME_EARLY))
    raise<IoError>(
        append_op,
        "got \"{}\", whose new chunks HDF5 makes late or fills, for {} ranks; expected one that append_rows or "
        ".grows has made, allocation time early and fill time never, or one rank",
        path, x.comm().size());
}

/// Rank 0 looks alone, because ranks that open a dataset together for writing may fill its chunks at once.
Found look(const std::string& path, const std::string& name, const DNDarray& x) {
  std::array<std::int64_t, 1> found{0};
  all_or_none(x.comm(), [&] {
    std::error_code ignored;
    if (x.comm().rank() != 0 || !std::filesystem::exists(path, ignored)) return;
    check_can_grow(path, append_op);
    const auto dataset = find_dataset(path, name, append_op);
    if (dataset) check_can_have(*dataset, x, path);
    found[0] = static_cast<std::int64_t>(dataset ? Found::dataset : Found::no_dataset);
  });
  x.comm().broadcast(found, 0);
  return static_cast<Found>(found[0]);
}

/// Returns an upper bound of the bytes of the chunks that `rows` more rows touch.
std::int64_t bytes_of_growth(const DatasetInfo& info, std::int64_t rows) {
  auto touched = info.shape;
  touched[0] = info.shape[0] % info.chunk[0] + rows;
  for (std::size_t axis = 0; axis < touched.size(); ++axis)
    touched[axis] = (touched[axis] + info.chunk[axis] - 1) / info.chunk[axis] * info.chunk[axis];
  return bytes_of(touched, info.element.dtype);
}

/// Changes the number of rows. Collective.
void set_rows(Dataset& dataset, std::int64_t rows, const std::string& path) {
  auto& shape = dataset.info.shape;
  shape[0] = rows;
  const std::vector<hsize_t> extents(shape.begin(), shape.end());
  if (H5Dset_extent(dataset.id.get(), extents.data()) < 0)
    raise<IoError>(append_op, "got an error while extending \"{}\" ({}); expected room on the disk", path,
                   innermost_error());
}

void extend(const DNDarray& x, const std::string& path, const std::string& name, const SaveOptions& options) {
  const auto& comm = x.comm();
  const bool alone = comm.size() == 1;  // if alone, HDF5 locks the file itself
  std::optional<WriteLock> lock;
  Dataset dataset;
  std::int64_t before = 0;
  check_visible(path, append_op, comm);
  all_or_none(comm, [&] {
    if (comm.rank() == 0 && !alone) lock.emplace(path);
  });
  all_or_none(comm, [&] {
    dataset = open_to_write(path, name, append_op, alone ? local_access() : shared_access(comm));
    before = dataset.info.shape[0];
    if (comm.rank() == 0) Room(path, path, append_op).check(bytes_of_growth(dataset.info, x.shape()[0]));
  });
  all_or_none(comm, [&] { set_rows(dataset, before + x.shape()[0], path); });
  const WriteJob job{{append_op, path, path}, name, options};
  const auto [layout, mine] = blocks_of(x);
  auto box = narrow(select(dataset.info.shape, {}, append_op), 0, before, x.shape()[0]);
  const auto rank = comm.rank();
  box = narrow(box, *layout.split(), layout.offset(rank), layout.count(rank));
  try {
    if (x.size() > 0) write_boxes({job, dataset, comm}, box, mine, alone ? MpiIo::independent : MpiIo::collective);
  } catch (const Error&) {  // on all ranks: remove the rows again
    all_or_none(comm, [&] { set_rows(dataset, before, path); });
    throw;
  }
  all_or_none(comm, [&] { close_dataset(dataset, job); });
}

}  // namespace

void append_rows_hdf5(const DNDarray& x, const std::filesystem::path& path, const SaveOptions& options) {
  const Recorder recorder(append_op);
  const Hdf5Turn turn;
  const auto name = dataset_or_data(options);
  const auto found = look(path.string(), name, x);
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
