#pragma once

#include <unistd.h>

#include <filesystem>
#include <string>

/// A path for a test's files, the same on all ranks of a launch, which one process started, and another one in launches
/// beside it.
inline std::string scratch_path(const std::string& name) {
  return std::filesystem::temp_directory_path() / (name + "." + std::to_string(::getppid()));
}
