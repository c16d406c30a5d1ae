#pragma once

#include <heatpp_io/numpy/npz.hpp>
#include <map>

namespace heatpp::io {

/// Loads the tensor `name` of a file in safetensors format, or joins the tensors of that name of many files along
/// axis 0, as load_npy. An empty name means the only one of the file. Unsigned numbers without a dtype in the library
/// become the next wider signed ones, 8-bit floats float32. Each rank reads its bytes. Collective. Throws as
/// load_npy, and IoError on all ranks for a header that is damaged, contradicts itself or does not cover the file
/// exactly once.
[[nodiscard]] DNDarray load_safetensors(const Source& source, const std::string& name, const LoadOptions& options = {});

/// Returns the names of the tensors in a file. Collective over the default communicator. Throws IoError.
[[nodiscard]] std::vector<std::string> safetensors_names(const std::filesystem::path& path);

struct SaveSafetensorsOptions {
  std::map<std::string, std::string> metadata = {};  ///< texts for readers; {"format", "pt"}: PyTorch's, for Python
  bool uint64 = false;                               ///< store int64 elements as the uint64 numbers with the same bits
};
/// Writes arrays of any layouts to one file in safetensors format, in parallel as save_npy. Collective. Throws on all
/// ranks: IoError as save_npy; ValueError for an empty list, and for names that are empty, repeated or "__metadata__";
/// TypeError for complex128, which the format does not have; CommError for arrays on different communicators.
void save_safetensors(const std::vector<NamedArray>& arrays, const std::filesystem::path& path,
                      const SaveSafetensorsOptions& options = {});

}  // namespace heatpp::io
