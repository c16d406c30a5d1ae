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
  std::int64_t offset = 0;  ///< of its first element in the file
  std::int64_t bytes = 0;
};

struct SafeTensors {
  std::vector<SafeTensor> tensors;  ///< in the order of their elements
  std::map<std::string, std::string> metadata = {};
};

/// Checks all of the header: its length, which may be 100 MB, names, dtypes, shapes, and that the tensors cover the
/// rest of the file exactly once. Throws IoError naming `op` and `path`.
[[nodiscard]] SafeTensors read_safetensors(ByteReader& file, const std::string& path, const char* op);

/// The header for these tensors, which get their offsets in it, wide elements first so that all are aligned. Throws
/// TypeError naming `op` for dtypes that the format has not (complex128).
[[nodiscard]] std::string safetensors_header(SafeTensors& contents, const char* op);

/// How the tensor's elements become an array's.
[[nodiscard]] StoredType stored_type(const SafeTensor& tensor);
/// The tensor. Throws IoError.
[[nodiscard]] at::Tensor read_tensor(ByteReader& file, const SafeTensor& tensor);

}  // namespace heatpp::io::detail
