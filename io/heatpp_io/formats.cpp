#include <fmt/ranges.h>
#include <heatpp/comm/detail/raise.hpp>
#include <heatpp_io/formats.hpp>
#include <heatpp_io/load_npy.hpp>
#include <heatpp_io/npz.hpp>
#include <heatpp_io/save_npy.hpp>

#include <algorithm>
#include <array>

namespace heatpp::io {
namespace {

struct Format {
  std::string_view extension;
  DNDarray (*load)(const Source&, const LoadOptions&);
  void (*save)(const DNDarray&, const std::filesystem::path&, const SaveOptions&);
};

DNDarray load_h5(const Source& source, const LoadOptions& options) {
  return load_hdf5(source, options.dataset, options);
}
void save_h5(const DNDarray& x, const std::filesystem::path& path, const SaveOptions& options) {
  save_hdf5(x, path, options.dataset.empty() ? "data" : options.dataset, options);
}

/// Refuses options that only other formats have.
void check_plain(const char* format, const SaveOptions& options) {
  if (!options.append && !options.compression && options.chunks.empty() && !options.collective) return;
  heatpp::detail::raise<ValueError>("save",
                                    "got append, compression, chunks or collective for {}; expected formats that "
                                    "have them (.h5)",
                                    format);
}

void save_to_npy(const DNDarray& x, const std::filesystem::path& path, const SaveOptions& options) {
  check_plain(".npy", options);
  save_npy(x, path, {.shards = options.shards});
}
DNDarray load_from_npz(const Source& source, const LoadOptions& options) {
  return load_npz(source, options.dataset, options);
}
void save_to_npz(const DNDarray& x, const std::filesystem::path& path, const SaveOptions& options) {
  check_plain(".npz", options);
  save_npz({{options.dataset.empty() ? "arr_0" : options.dataset, x}}, path);
}

/// Every format the library knows. A new one is a line here.
constexpr std::array formats{
    Format{".h5", load_h5, save_h5},
    Format{".hdf5", load_h5, save_h5},
    Format{".npy", load_npy, save_to_npy},
    Format{".npz", load_from_npz, save_to_npz},
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

DNDarray load(const Source& source, const LoadOptions& options) {
  const auto first = source.names().empty() ? std::string() : source.names().front();
  return format_of(first, "load").load(source, options);
}

void save(const DNDarray& x, const std::filesystem::path& path, const SaveOptions& options) {
  format_of(path, "save").save(x, path, options);
}

}  // namespace heatpp::io
