#pragma once

#include <heatpp_io/numpy/npz.hpp>
#include <map>

namespace heatpp::io {

/// The tensor `name` of a file in safetensors format, or the tensors of that name of many files put together along axis
/// 0, as load_npy does. An empty name means the only one of the file. Unsigned numbers that the library has not become
/// the next wider signed ones, floats of 8 bits float32. Each rank reads its bytes. Collective. Throws as load_npy
/// does, and IoError on all ranks for a header that is damaged, contradicts itself or does not cover the file exactly
/// once.
[[nodiscard]] DNDarray load_safetensors(const Source& source, const std::string& name, const LoadOptions& options = {});

/// What a file in safetensors format holds. Collective over the default communicator. Throws IoError.
[[nodiscard]] std::vector<std::string> safetensors_names(const std::filesystem::path& path);

struct SaveSafetensorsOptions {
  std::map<std::string, std::string> metadata = {};  ///< texts for readers; {"format", "pt"} tells Python of PyTorch's
};
/// Writes arrays, any layouts, to one file in safetensors format, in parallel as save_npy does. Collective. Throws on
/// all ranks: IoError as save_npy; ValueError for an empty list, and for names that are empty, "__metadata__", or come
/// twice; TypeError for complex128, which the format has not; CommError for arrays on different communicators.
void save_safetensors(const std::vector<NamedArray>& arrays, const std::filesystem::path& path,
                      const SaveSafetensorsOptions& options = {});

}  // namespace heatpp::io
