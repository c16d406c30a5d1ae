#pragma once

#include "../scratch_path.hpp"
#include <heatpp/comm/communicator.hpp>

/// Removes the file at the end of a test.
struct ScratchFile {
  std::string path;
  ~ScratchFile() {
    heatpp::world().barrier();
    if (heatpp::world().rank() == 0) std::filesystem::remove(path);
  }
};
