#include <fmt/ranges.h>
#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/sparse/io/files.hpp>

#include <algorithm>
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

const Format& format_of(const std::filesystem::path& path, const char* op) {
  auto extension = path.extension().string();
  std::ranges::transform(extension, extension.begin(), [](unsigned char c) { return std::tolower(c); });
  const auto* found = std::ranges::find(formats, extension, &Format::extension);
  if (found != formats.end()) return *found;
  std::vector<std::string_view> known;
  for (const auto& format : formats) known.push_back(format.extension);
  heatpp::detail::raise<ValueError>(op, "got \"{}\" with extension \"{}\"; expected one of {}", path.string(),
                                    extension, fmt::join(known, ", "));
}

}  // namespace

DCSRMatrix load(const std::filesystem::path& path, const LoadOptions& options) {
  return format_of(path, "load").load(path, options);
}

void save(const DCSRMatrix& a, const std::filesystem::path& path, const SaveOptions& options) {
  format_of(path, "save").save(a, path, options);
}

}  // namespace heatpp::sparse
