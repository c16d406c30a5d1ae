#pragma once

#include <heatpp_io/detail/elements/annotations.hpp>

#include <filesystem>

namespace heatpp::io::detail {

/// What the array whose metadata is `metadata` (.zarray or zarr.json) says of itself: format 3 there, format 2 in the
/// .zattrs beside it, with names of dimensions as xarray keeps them there, and the fill value of packed numbers as
/// _FillValue. Throws IoError naming `op` where a file cannot be read or is no JSON.
[[nodiscard]] Annotations read_zarr_attributes(const std::filesystem::path& metadata, const char* op);

/// The .zattrs of an array of format 2, which has no numbers for NaN: it becomes the text "NaN", and infinity
/// "Infinity".
[[nodiscard]] std::string zattrs_text(const Annotations& annotations);

}  // namespace heatpp::io::detail
