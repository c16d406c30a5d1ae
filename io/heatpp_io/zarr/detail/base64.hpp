#pragma once

#include <optional>
#include <string>

namespace heatpp::io::detail {

/// Returns the number whose eight bytes, lowest first, are written in base64 (RFC 4648), as xarray writes fill values
/// in Zarr's format 3; nullopt for other texts.
[[nodiscard]] std::optional<double> number_from_base64(const std::string& text);
[[nodiscard]] std::string base64_of(double number);

}  // namespace heatpp::io::detail
