#pragma once

#include <heatpp_io/detail/elements/flat_array.hpp>

namespace heatpp::io::detail {

/// The array that a file in NPY format holds, of format version 1, 2 or 3. Throws IoError naming `op` and `what` for
/// files that are none, damaged, or shorter than their header says, and for elements that are no numbers.
[[nodiscard]] FlatArray read_npy_header(ByteReader& file, const std::string& what, const char* op);

/// The header of an array in C order: the magic, and a text padded so that elements begin at a multiple of 64 bytes.
[[nodiscard]] std::string npy_header(Dtype dtype, const Shape& shape);
/// A file that holds one text, NumPy's array of bytes without axes.
[[nodiscard]] std::string npy_text(const std::string& text);

}  // namespace heatpp::io::detail
