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
  std::map<std::string, std::string> metadata = {{"format", "pt"}};  ///< texts for readers
  std::optional<Communicator> comm = std::nullopt;                   ///< nullopt: default_comm(), or the replica's
};
/// Writes the parameters and buffers of `module` on rank 0 to a file in safetensors format, under the names that
/// PyTorch's state_dict gives them ("layer1.0.weight"), which Python reads with safetensors.torch.load_file. Buffers
/// of a LoadedModule that are not persistent are left out. Parameters that share memory are written under each of their
/// names. The file replaces an older one when it is complete and on the disk. Collective. Throws on all ranks: IoError,
/// TypeError for dtypes that the format has not (complex128), and ValueError for paths that differ between ranks.
void save_safetensors(const std::string& path, const torch::nn::Module& module, const SaveWeightsOptions& options = {});
/// The same of a replica's module, on its ranks.
void save_safetensors(const std::string& path, const Replica& model, SaveWeightsOptions options = {});

/// Options of load_safetensors.
struct LoadWeightsOptions {
  bool strict = true;                               ///< whether file and module must have the same names
  std::optional<Communicator> comm = std::nullopt;  ///< nullopt: default_comm(), or the replica's
};
/// Copies a file's tensors into the parameters and buffers of the same names, on all ranks, converting dtypes. Rank 0
/// reads and broadcasts, a tensor at a time. Collective. Throws on all ranks, before anything is changed: IoError for a
/// file that is missing or damaged, ValueError for paths that differ between ranks, other shapes and, if strict,
/// names that one of both has not.
void load_safetensors(const std::string& path, torch::nn::Module& module, const LoadWeightsOptions& options = {});
/// The same into a replica's module, on its ranks.
void load_safetensors(const std::string& path, const Replica& model, LoadWeightsOptions options = {});

}  // namespace heatpp::nn
