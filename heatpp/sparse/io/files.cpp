#include <heatpp/sparse/io/files.hpp>

#include <heatpp/sparse/io/detail/h5ad.hpp>
#include <heatpp_io/detail/files/content.hpp>
#include <heatpp_io/detail/files/format_of.hpp>

#include <array>

namespace heatpp::sparse {
using detail::save_h5ad;

namespace {

struct Format {
  std::string_view extension;
  DCSRMatrix (*load)(const std::filesystem::path&, const LoadOptions&);
  void (*save)(const DCSRMatrix&, const std::filesystem::path&, const SaveOptions&);
};

/// All formats of the library. A new format adds one line here.
constexpr std::array formats{
    Format{".mtx", load_mtx, save_mtx},    Format{".npz", load_npz, save_npz},
    Format{".h5", load_hdf5, save_hdf5},   Format{".hdf5", load_hdf5, save_hdf5},
    Format{".h5ad", load_hdf5, save_h5ad}, Format{".petsc", load_petsc, save_petsc},
    Format{".zarr", load_zarr, nullptr},   Format{".mtx.gz", load_mtx, nullptr},
};

}  // namespace

DCSRMatrix load(const std::filesystem::path& path, const LoadOptions& options) {
  constexpr auto op = "load";
  const auto ending = io::detail::ending_of(path.string(), comm_of(options.comm), op);
  return io::detail::format_by(formats, ending, path.string(), op).load(path, options);
}

void save(const DCSRMatrix& a, const std::filesystem::path& path, const SaveOptions& options) {
  constexpr auto op = "save";
  const auto& format = io::detail::format_of(formats, path, op);
  if (!format.save)
    heatpp::detail::raise<ValueError>(op, "got \"{}\", a format that is read alone; expected another, as .h5ad",
                                      path.string());
  format.save(a, path, options);
}

}  // namespace heatpp::sparse
