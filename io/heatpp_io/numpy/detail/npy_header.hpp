#pragma once

#include <heatpp_io/detail/elements/flat_array.hpp>

namespace heatpp::io::detail {

/// Returns the array of a file in NPY format, version 1, 2 or 3. Throws IoError naming `op` and `what` for files of
/// other formats, damaged ones, those shorter than their header says, and elements that are not numbers.
[[nodiscard]] FlatArray read_npy_header(ByteReader& file, const std::string& what, const char* op);

/// Returns the header of an array in C order: the magic, and a text that is padded to a multiple of 64 bytes.
/// `uint64` means that the elements of int64 are stored as uint64.
[[nodiscard]] std::string npy_header(Dtype dtype, const Shape& shape, bool uint64 = false);
/// Returns a file with one text, as NumPy's array of bytes without axes.
[[nodiscard]] std::string npy_text(const std::string& text);

}  // namespace heatpp::io::detail
