#pragma once

#include <heatpp/comm/communicator.hpp>

#include <filesystem>
#include <string>

/// A file of a test. Runs with other numbers of ranks may be under way in the same folder.
inline std::string scratch_path(const std::string& test) {
  return std::filesystem::temp_directory_path() / (test + "." + std::to_string(heatpp::world().size()) + ".pt");
}

/// Removes the file at the end of a test.
struct ScratchFile {
  std::string path;
  ~ScratchFile() {
    heatpp::world().barrier();
    if (heatpp::world().rank() == 0) std::filesystem::remove(path);
  }
};
