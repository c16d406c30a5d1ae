#pragma once

#include "../../with_torch.hpp"

#include <nlohmann/json.hpp>

#include <map>
#include <string>

/// The files of a network as torch.export writes it: linear, batch normalisation, dropout, and a product with a buffer
/// that is not persistent. Its weights are float64.
///     y = dropout(batch_norm(linear(x, weight, bias))) * scale
struct ExportedFiles {
  nlohmann::json program, weights, constants;
  std::map<std::string, std::string> more;  ///< by their names in the archive

  ExportedFiles();
  nlohmann::json& node(std::size_t i) { return program["graph_module"]["graph"]["nodes"][i]; }
  nlohmann::json& graph() { return program["graph_module"]["graph"]; }
  /// Returns the whole archive.
  [[nodiscard]] std::string bytes() const;
};

/// Writes a file on rank 0, which all ranks see.
void write_for_all(const std::string& path, const std::string& bytes);
