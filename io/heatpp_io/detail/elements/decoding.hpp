#pragma once

#include <heatpp/core/scalar.hpp>
#include <heatpp_io/attributes.hpp>
#include <heatpp_io/detail/elements/dataset_info.hpp>
#include <array>
#include <optional>
#include <string_view>

namespace heatpp::io::detail {

/// The attributes that define the meaning of stored numbers, by the conventions of CF and netCDF.
inline constexpr std::array<std::string_view, 9> decoding_names{"_FillValue", "_Unsigned",     "add_offset",
                                                                "dtype",      "missing_value", "scale_factor",
                                                                "valid_max",  "valid_min",     "valid_range"};

/// How numbers are stored in a file.
struct StoredNumbers {
  ElementType element = {};  ///< their type as they are stored
  std::int64_t bytes = 4;    ///< bytes of each number in the file
  bool is_unsigned = false;
};

/// What the attributes of an array say about its numbers: stored * scale + offset, and NaN for missing values.
struct Decoding {
  StoredNumbers stored = {};
  Dtype dtype = float32;     ///< dtype of the decoded numbers
  bool is_unsigned = false;  ///< whether whole numbers are unsigned, after _Unsigned
  std::optional<double> scale = {}, offset = {};
  std::vector<Scalar> missing = {};                 ///< stored numbers that mark missing values
  std::optional<Scalar> lowest = {}, highest = {};  ///< stored numbers outside this range are missing
  std::vector<std::string> applied = {};            ///< attributes that were taken into account
  std::int64_t digest = 0;  ///< hash of these and their values, to compare files; 0: there are none

  /// Whether bytes stand for bool, as xarray writes it.
  [[nodiscard]] bool is_flag() const { return dtype == bool_ && stored.element.dtype != bool_; }
  /// Whether `_Unsigned` differs from the file's type.
  [[nodiscard]] bool is_turned() const { return is_unsigned != stored.is_unsigned; }
  /// Whether any decoded number differs from the stored one.
  [[nodiscard]] bool is_active() const;
  /// Returns the type of the decoded numbers.
  [[nodiscard]] ElementType element() const;
};

/// Reads the attributes that decode the numbers of `what`; others are ignored. Throws IoError naming `op` for a
/// scale_factor or add_offset that is not a single number.
[[nodiscard]] Decoding decoding_of(const Attributes& said, const StoredNumbers& stored, const std::string& what,
                                   const char* op);

/// Returns a decoding without the attributes, except that bytes may stand for bool.
[[nodiscard]] Decoding undecoded(const Decoding& decoding);

/// Returns the dtype of whole numbers of this size. Unsigned ones without a dtype get the next wider signed one.
[[nodiscard]] Dtype whole_dtype(std::int64_t bytes, bool is_unsigned);

}  // namespace heatpp::io::detail
