#pragma once

#include <heatpp/core/scalar.hpp>
#include <heatpp_io/attributes.hpp>
#include <heatpp_io/detail/elements/dataset_info.hpp>
#include <array>
#include <optional>
#include <string_view>

namespace heatpp::io::detail {

/// The attributes that say what stored numbers mean, by the conventions of CF and netCDF.
inline constexpr std::array<std::string_view, 9> decoding_names{"_FillValue", "_Unsigned",     "add_offset",
                                                                "dtype",      "missing_value", "scale_factor",
                                                                "valid_max",  "valid_min",     "valid_range"};

/// How numbers lie in a file.
struct StoredNumbers {
  ElementType element = {};  ///< what they are as they are stored
  std::int64_t bytes = 4;    ///< of each in the file
  bool is_unsigned = false;
};

/// What the attributes of an array say of its numbers: stored * scale + offset, and NaN for what is missing.
struct Decoding {
  StoredNumbers stored = {};
  Dtype dtype = float32;     ///< of the numbers that are meant
  bool is_unsigned = false;  ///< whether whole numbers are, after _Unsigned
  std::optional<double> scale = {}, offset = {};
  std::vector<Scalar> missing = {};                 ///< stored numbers that mean that a value is missing
  std::optional<Scalar> lowest = {}, highest = {};  ///< stored numbers beyond these are missing
  std::vector<std::string> applied = {};            ///< the attributes that were taken into account
  std::int64_t digest = 0;  ///< of these and their values, to compare files by; 0: there are none

  /// Whether bytes stand for bool, as xarray writes it.
  [[nodiscard]] bool is_flag() const { return dtype == bool_ && stored.element.dtype != bool_; }
  /// Whether `_Unsigned` says otherwise than the file's type.
  [[nodiscard]] bool is_turned() const { return is_unsigned != stored.is_unsigned; }
  /// Whether any number is given otherwise than it is stored.
  [[nodiscard]] bool is_active() const;
  /// What the numbers are that are meant.
  [[nodiscard]] ElementType element() const;
};

/// Reads the attributes of the numbers of `what`, others are not looked at. Throws IoError naming `op` for a
/// scale_factor or add_offset that is no single number.
[[nodiscard]] Decoding decoding_of(const Attributes& said, const StoredNumbers& stored, const std::string& what,
                                   const char* op);

/// Without what the attributes say, but for bytes that stand for bool.
[[nodiscard]] Decoding undecoded(const Decoding& decoding);

/// The dtype of whole numbers of so many bytes; unsigned ones without a dtype take the next wider signed one.
[[nodiscard]] Dtype whole_dtype(std::int64_t bytes, bool is_unsigned);

}  // namespace heatpp::io::detail
