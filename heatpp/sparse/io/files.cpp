#include <heatpp/sparse/io/files.hpp>
#include <heatpp_io/detail/files/format_of.hpp>

#include <array>

namespace heatpp::sparse {
namespace {

struct Format {
  std::string_view extension;
  DCSRMatrix (*load)(const std::filesystem::path&, const LoadOptions&);
  void (*save)(const DCSRMatrix&, const std::filesystem::path&, const SaveOptions&);
};

/// Every format the library knows. A new one is a line here.
constexpr std::array formats{
    Format{".mtx", load_mtx, save_mtx},    Format{".npz", load_npz, save_npz},
    Format{".h5", load_hdf5, save_hdf5},   Format{".hdf5", load_hdf5, save_hdf5},
    Format{".h5ad", load_hdf5, save_hdf5}, Format{".petsc", load_petsc, save_petsc},
};

}  // namespace

DCSRMatrix load(const std::filesystem::path& path, const LoadOptions& options) {
  return io::detail::format_of(formats, path, "load").load(path, options);
}

void save(const DCSRMatrix& a, const std::filesystem::path& path, const SaveOptions& options) {
  io::detail::format_of(formats, path, "save").save(a, path, options);
}

}  // namespace heatpp::sparse
