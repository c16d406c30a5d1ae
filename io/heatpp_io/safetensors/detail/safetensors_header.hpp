#pragma once

#include <ATen/core/Tensor.h>

#include <heatpp_io/detail/elements/numpy_type.hpp>
#include <heatpp_io/detail/files/byte_file.hpp>
#include <map>
#include <vector>

namespace heatpp::io::detail {

/// A tensor in a file in safetensors format.
struct SafeTensor {
  std::string name;
  c10::ScalarType type;
  Shape shape;
  std::int64_t offset = 0;  ///< place of its first element in the file
  std::int64_t bytes = 0;
};

struct SafeTensors {
  std::vector<SafeTensor> tensors;  ///< in the order of their elements
  std::map<std::string, std::string> metadata = {};
};

/// Reads and checks the whole header: its length (at most 100 MB), names, dtypes, shapes, and that the tensors cover
/// the rest of the file exactly once. Throws IoError naming `op` and `path`.
[[nodiscard]] SafeTensors read_safetensors(ByteReader& file, const std::string& path, const char* op);

/// Returns the header for these tensors and sets their offsets, wide elements first so that all are aligned. Throws
/// TypeError naming `op` for dtypes that the format does not have (complex128).
[[nodiscard]] std::string safetensors_header(SafeTensors& contents, const char* op);

/// Returns how the tensor's elements become elements of an array.
[[nodiscard]] StoredType stored_type(const SafeTensor& tensor);
/// Reads the tensor. Throws IoError.
[[nodiscard]] at::Tensor read_tensor(ByteReader& file, const SafeTensor& tensor);

}  // namespace heatpp::io::detail
