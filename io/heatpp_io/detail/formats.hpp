#pragma once

#include <heatpp_io/detail/shards/shard_reader.hpp>
#include <heatpp_io/hdf5/load_hdf5.hpp>
#include <heatpp_io/stream/save_rows.hpp>
#include <string_view>

namespace heatpp::io::detail {

/// What the library does with files of one kind.
struct Format {
  std::string_view extension;
  DNDarray (*load)(const Source&, const LoadOptions&);
  void (*save)(const DNDarray&, const std::filesystem::path&, const SaveOptions&);
  std::vector<std::string> (*names)(const std::string& path) = nullptr;                              ///< none for texts
  OpenArray (*open)(const std::string& path, const std::string& name) = nullptr;                     ///< none for texts
  void (*save_rows)(const RowsToSave&, const std::filesystem::path&, const SaveOptions&) = nullptr;  ///< none: at once
  bool chunks = false;  ///< whether SaveOptions::chunks mean anything
  void (*append_rows)(const DNDarray&, const std::filesystem::path&,
                      const SaveOptions&) = nullptr;  ///< none: it cannot grow
};

/// That of the extension. Throws ValueError naming `op` for others.
[[nodiscard]] const Format& format_of(const std::filesystem::path& path, const char* op);
[[nodiscard]] const Format& format_of(const Source& source, const char* op);

/// What a directory means files of. Zarr's arrays are directories, and those of HDF5 are given by patterns, as to load.
[[nodiscard]] inline std::string files_in_directories(const Format& format) {
  const auto& end = format.extension;
  return end == ".zarr" || end == ".h5" || end == ".hdf5" ? "" : std::string(end);
}

/// The name of the array, in formats that have names.
[[nodiscard]] inline std::string dataset_or_data(const SaveOptions& options) {
  return options.dataset.empty() ? "data" : options.dataset;
}

}  // namespace heatpp::io::detail
