#pragma once

#include <unistd.h>

#include <filesystem>
#include <string>

/// Returns a path for a test's files. It is the same on all ranks of a launch, because one process started them, and
/// differs between launches.
inline std::string scratch_path(const std::string& name) {
  return std::filesystem::temp_directory_path() / (name + "." + std::to_string(::getppid()));
}
