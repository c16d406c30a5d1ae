#pragma once

#include <heatpp_io/csv/load_csv.hpp>
#include <heatpp_io/detail/elements/attribute_rules.hpp>
#include <heatpp_io/detail/shards/decoded_array.hpp>
#include <heatpp_io/hdf5/load_hdf5.hpp>
#include <heatpp_io/netcdf/netcdf.hpp>
#include <heatpp_io/stream/save_rows.hpp>
#include <heatpp_io/zarr/zarr.hpp>
#include <string_view>

namespace heatpp::io::detail {

/// The functions of the library for files of one format.
struct Format {
  std::string_view extension;
  DNDarray (*load)(const Source&, const LoadOptions&);
  void (*save)(const DNDarray&, const std::filesystem::path&, const SaveOptions&);
  std::vector<std::string> (*names)(const std::string& path) = nullptr;                              ///< none for texts
  OpenArray (*open)(const std::string& path, const std::string& name) = nullptr;                     ///< none for texts
  void (*save_rows)(const RowsToSave&, const std::filesystem::path&, const SaveOptions&) = nullptr;  ///< none: at once
  bool chunks = false;  ///< whether SaveOptions::chunks apply
  void (*append_rows)(const DNDarray&, const std::filesystem::path&,
                      const SaveOptions&) = nullptr;                                       ///< none: it cannot grow
  Annotations (*annotations)(const std::string& path, const std::string& name) = nullptr;  ///< none: it has none
  const AttributeRules* rules = nullptr;                                                   ///< rules of attributes
};

/// Returns the format of an extension. Throws ValueError naming `op` for others.
[[nodiscard]] const Format& format_of(const std::filesystem::path& path, const char* op);
/// Returns the format of files to read, from the content of the first or else its extension. Collective.
[[nodiscard]] const Format& format_to_read(const Source& source, const Communicator& comm, const char* op);

/// Works as io::load_csv; `check` throws for what the caller knows of the options. Collective.
[[nodiscard]] DNDarray load_csv(const Source& source, const LoadCsvOptions& options,
                                const std::function<void()>& check);

/// The files of a source as one array, and the function that opens one of them on a rank.
struct FoundShards {
  Shards shards;
  OpenShard open;
};
/// The array to read from the files, and which of its numbers.
struct WantedArray {
  const std::string& dataset;
  Numbers numbers = Numbers::meant;
};
/// Inspects the files of a source; the format must be able to open them. Collective. Throws as expand and inspect.
[[nodiscard]] FoundShards find_shards(const Format& format, const Source& source, const WantedArray& wanted,
                                      const Communicator& comm, const char* op);

/// Returns the name of the array, for formats that have names.
[[nodiscard]] inline std::string dataset_or_data(const SaveOptions& options) {
  return options.dataset.empty() ? "data" : options.dataset;
}

/// Works as save_hdf5, but keeps other datasets of the file and replaces one of this name. Collective.
void save_among_others(const DNDarray& x, const std::filesystem::path& path, const std::string& dataset,
                       const SaveOptions& options);

/// Returns the options for netCDF. Throws ValueError naming `op` for a compression that netCDF does not have.
[[nodiscard]] SaveNetcdfOptions netcdf_options(const SaveOptions& options, const char* op);
[[nodiscard]] SaveZarrOptions zarr_options(const SaveOptions& options);

}  // namespace heatpp::io::detail
