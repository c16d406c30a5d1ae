#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/sparse/io/detail/compressed.hpp>
#include <heatpp/sparse/io/detail/h5ad.hpp>
#include <heatpp/sparse/io/files.hpp>
#include <heatpp_io/hdf5/detail/write.hpp>

#include <array>

namespace heatpp::sparse {

using namespace detail;
using io::detail::Handle;

namespace {

/// What is written: a group with a matrix, or everything that a file of AnnData must have.
enum class Whole { group, h5ad };

/// Writes AnnData's attributes of a matrix.
void write_attributes(const io::detail::SaveJob& job, const std::string& group, const DCSRMatrix& a, Whole whole) {
  Handle file(H5Fopen(job.path.c_str(), H5F_ACC_RDWR, io::detail::local_access().get()));
  {
    const Handle object(H5Oopen(file.get(), group.c_str(), H5P_DEFAULT));
    write_text(object.get(), "encoding-type", "csr_matrix");
    write_text(object.get(), "encoding-version", "0.1.0");
    const hsize_t two = 2;
    const Handle space(H5Screate_simple(1, &two, nullptr));
    const Handle shape(H5Acreate2(object.get(), "shape", H5T_STD_I64LE, space.get(), H5P_DEFAULT, H5P_DEFAULT));
    const std::array<std::int64_t, 2> extents{a.rows(), a.columns()};
    if (H5Awrite(shape.get(), H5T_NATIVE_INT64, extents.data()) < 0)
      raise<IoError>(job.op, "got the group \"{}\" of \"{}\", whose attributes cannot be written ({}); expected room",
                     group, job.shown, io::detail::innermost_error());
  }
  if (whole == Whole::h5ad) write_frames(file.get(), a, job.shown, job.op);
  if (!file.close())
    raise<IoError>(job.op, "got an error while writing \"{}\" ({}); expected room on the disk", job.shown,
                   io::detail::innermost_error());
}

void save_group(const DCSRMatrix& a, const std::filesystem::path& path, const SaveOptions& options, Whole whole) {
  constexpr auto op = "save_hdf5";
  const io::detail::Recorder recorder(op);
  const io::detail::Hdf5Turn turn;
  const auto group = options.group.empty() ? std::string("X") : options.group;
  if (group.back() == '/') raise<ValueError>(op, "got the group \"{}\"; expected a name, or one in groups", group);
  const auto [columns, pointers] = indices_to_store(a);
  const std::array<std::pair<const char*, DNDarray>, 3> arrays{
      std::pair{"data", a.values()}, std::pair{"indices", columns}, std::pair{"indptr", pointers}};
  io::SaveOptions settings{.append = options.append, .compression = options.compression};
  std::int64_t bytes = 0;
  for (const auto& [name, x] : arrays) {
    bytes += io::detail::bytes_of(x);
    io::detail::check_save_options(x.shape(), settings, op);
  }
  const auto begin = options.append ? io::detail::AsideFile::Begin::copy : io::detail::AsideFile::Begin::empty;
  const io::detail::NewFile file{op, a.comm(), path, bytes, begin};
  recorder.finish(bytes, 1, io::detail::save_one(file, [&](const io::detail::SaveJob& job) {
                    io::detail::Transfer transfer;
                    for (const auto& [name, x] : arrays) {
                      const auto dataset_name = group + "/" + name;
                      transfer = io::detail::write_dataset({job, dataset_name, settings}, x);
                      settings.append = true;
                    }
                    all_or_none(a.comm(), [&] {
                      if (a.comm().rank() == 0) write_attributes(job, group, a, whole);
                    });
                    return transfer;
                  }));
}

}  // namespace

void save_hdf5(const DCSRMatrix& a, const std::filesystem::path& path, const SaveOptions& options) {
  save_group(a, path, options, Whole::group);
}
void detail::save_h5ad(const DCSRMatrix& a, const std::filesystem::path& path, const SaveOptions& options) {
  save_group(a, path, options, Whole::h5ad);
}

}  // namespace heatpp::sparse
