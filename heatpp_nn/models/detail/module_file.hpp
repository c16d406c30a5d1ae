#pragma once

#include <heatpp/comm/communicator.hpp>

#include <string>

namespace heatpp::nn::detail {

/// A file of a network, whose bytes all ranks have.
struct ModuleFile {
  std::string path, bytes;
  Communicator comm;
};
/// Rank 0 reads it. Collective. Throws IoError on all ranks.
[[nodiscard]] ModuleFile file_for_all(const char* op, const std::string& path, const Communicator& comm);

}  // namespace heatpp::nn::detail
