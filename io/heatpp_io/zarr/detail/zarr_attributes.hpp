#pragma once

#include <heatpp_io/detail/elements/annotations.hpp>
#include <heatpp_io/zarr/detail/store_files.hpp>
#include <nlohmann/json_fwd.hpp>

namespace heatpp::io::detail {

/// The attribute in which xarray keeps the names of dimensions in format 2.
inline constexpr auto xarray_names = "_ARRAY_DIMENSIONS";

/// Returns what an array says about itself. Its metadata is the file `metadata` of a store (.zarray or zarr.json).
/// Format 3 has attributes there; format 2 has them in .zattrs next to it, with xarray's names of dimensions, and if
/// these exist the fill value is _FillValue. In format 3, a _FillValue in base64, which xarray writes, becomes a
/// number. Throws IoError naming `op` if a file cannot be read or is not JSON.
[[nodiscard]] Annotations read_zarr_attributes(const StoreFiles& files, const std::string& metadata, const char* op);

/// Removes _FillValue, the fill value of xarray, from the attributes of a new format 2 array; returns it, or null.
[[nodiscard]] nlohmann::json taken_fill(Attributes& attributes, Dtype dtype);
/// Returns the attributes in JSON. NaN and infinity, which JSON does not have, become the texts "NaN" and "Infinity".
/// In format 3 the _FillValue of floats becomes base64, as xarray writes it.
[[nodiscard]] nlohmann::json zarr_attributes(const Attributes& attributes, Dtype dtype, int format);

}  // namespace heatpp::io::detail
