#pragma once

#include <heatpp/comm/communicator.hpp>

#include <string>

namespace heatpp::nn::detail {

/// The file of a network; all ranks have its bytes.
struct ModuleFile {
  std::string path, bytes;
  Communicator comm;
};
/// Reads a file on rank 0 and broadcasts its bytes. Collective. Throws IoError on all ranks.
[[nodiscard]] ModuleFile file_for_all(const char* op, const std::string& path, const Communicator& comm);

}  // namespace heatpp::nn::detail
