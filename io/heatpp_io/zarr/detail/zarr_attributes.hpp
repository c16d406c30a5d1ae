#pragma once

#include <heatpp_io/detail/elements/annotations.hpp>
#include <heatpp_io/zarr/detail/store_files.hpp>
#include <nlohmann/json_fwd.hpp>

namespace heatpp::io::detail {

/// The attribute in which xarray keeps names of dimensions in format 2.
inline constexpr auto xarray_names = "_ARRAY_DIMENSIONS";

/// What the array whose metadata is the file `metadata` of a store (.zarray or zarr.json) says of itself: format 3
/// there, format 2 in the .zattrs beside it, with names of dimensions as xarray keeps them there, and where these are
/// the fill value as _FillValue; of format 3 the _FillValue that xarray writes in base64 as a number. Throws IoError
/// naming `op` where a file cannot be read or is no JSON.
[[nodiscard]] Annotations read_zarr_attributes(const StoreFiles& files, const std::string& metadata, const char* op);

/// Takes out of the attributes of a new array of format 2 what xarray has there as its fill value: _FillValue, or null.
[[nodiscard]] nlohmann::json taken_fill(Attributes& attributes, Dtype dtype);
/// The attributes in JSON, which has no numbers for NaN and infinity: they become the texts "NaN" and "Infinity". In
/// format 3 the _FillValue of floats becomes base64, as xarray wants it.
[[nodiscard]] nlohmann::json zarr_attributes(const Attributes& attributes, Dtype dtype, int format);

}  // namespace heatpp::io::detail
