#pragma once

#include <heatpp/comm/communicator.hpp>
#include <map>

namespace torch::nn {
class Module;
}

namespace heatpp::nn {

class Replica;

/// Options of save_safetensors.
struct SaveWeightsOptions {
  std::map<std::string, std::string> metadata = {{"format", "pt"}};  ///< text entries for readers
  std::optional<Communicator> comm = std::nullopt;                   ///< nullopt: default_comm(), or the replica's
};
/// Writes the parameters and buffers of `module` on rank 0 to a file in safetensors format, under the names of
/// PyTorch's state_dict ("layer1.0.weight"). Python reads it with safetensors.torch.load_file. Non-persistent buffers
/// of a LoadedModule are left out. Parameters that share memory are written under each of their names. The file
/// replaces an older one after it is complete and on the disk. The format lacks complex128: such tensors are written as
/// float64 with an axis of two at the end, as torch.view_as_real has them. Collective. Throws on all ranks: IoError,
/// ValueError for paths that differ between ranks, TypeError for other dtypes that the format lacks.
void save_safetensors(const std::string& path, const torch::nn::Module& module, const SaveWeightsOptions& options = {});
/// Writes a replica's module, on its ranks.
void save_safetensors(const std::string& path, const Replica& model, SaveWeightsOptions options = {});

/// Options of load_safetensors.
struct LoadWeightsOptions {
  bool strict = true;                               ///< whether file and module must have the same names
  std::optional<Communicator> comm = std::nullopt;  ///< nullopt: default_comm(), or the replica's
};
/// Copies a file's tensors into the parameters and buffers of the same names, on all ranks, and converts dtypes. Rank 0
/// reads and broadcasts one tensor at a time. A complex tensor takes float64 with an axis of two at the end, too.
/// Collective. Throws on all ranks, before anything is changed: IoError for a file that is missing or damaged;
/// ValueError for paths that differ between ranks, for other shapes and, if strict, for names that only the file or
/// only the module has.
void load_safetensors(const std::string& path, torch::nn::Module& module, const LoadWeightsOptions& options = {});
/// Loads into a replica's module, on its ranks.
void load_safetensors(const std::string& path, const Replica& model, LoadWeightsOptions options = {});

}  // namespace heatpp::nn
