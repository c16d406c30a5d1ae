#pragma once

#include <heatpp_io/detail/elements/attribute_rules.hpp>
#include <heatpp_io/detail/shards/decoded_array.hpp>
#include <heatpp_io/hdf5/load_hdf5.hpp>
#include <heatpp_io/netcdf/netcdf.hpp>
#include <heatpp_io/stream/save_rows.hpp>
#include <heatpp_io/zarr/zarr.hpp>
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
                      const SaveOptions&) = nullptr;                                       ///< none: it cannot grow
  Annotations (*annotations)(const std::string& path, const std::string& name) = nullptr;  ///< none: it has none
  const AttributeRules* rules = nullptr;                                                   ///< of these
};

/// That of the extension. Throws ValueError naming `op` for others.
[[nodiscard]] const Format& format_of(const std::filesystem::path& path, const char* op);
/// That of files to read: by the content of the first, or its extension where that does not tell. Collective.
[[nodiscard]] const Format& format_to_read(const Source& source, const Communicator& comm, const char* op);

/// The files of a source as one array, and how a rank opens one of them.
struct FoundShards {
  Shards shards;
  OpenShard open;
};
/// Which array of them, and which of its numbers.
struct WantedArray {
  const std::string& dataset;
  Numbers numbers = Numbers::meant;
};
/// Looks into the files of a source, of a format that opens them. Collective. Throws as expand and inspect do.
[[nodiscard]] FoundShards find_shards(const Format& format, const Source& source, const WantedArray& wanted,
                                      const Communicator& comm, const char* op);

/// The name of the array, in formats that have names.
[[nodiscard]] inline std::string dataset_or_data(const SaveOptions& options) {
  return options.dataset.empty() ? "data" : options.dataset;
}

/// As save_hdf5, with other datasets of the file left in it, and one of this name replaced. Collective.
void save_among_others(const DNDarray& x, const std::filesystem::path& path, const std::string& dataset,
                       const SaveOptions& options);

/// The options of one format. Throws ValueError naming `op` for a compression that netCDF has not.
[[nodiscard]] SaveNetcdfOptions netcdf_options(const SaveOptions& options, const char* op);
[[nodiscard]] SaveZarrOptions zarr_options(const SaveOptions& options);

}  // namespace heatpp::io::detail
