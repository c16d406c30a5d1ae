#pragma once

#include <filesystem>
#include <initializer_list>
#include <string>
#include <vector>

namespace heatpp::io {

/// The files of one array: a path, a glob pattern ("run/part-*.h5"), or a list of them.
class Source {
 public:
  Source(const char* name) : names_{name} {}                            // NOLINT: conversion intended
  Source(std::string name) : names_{std::move(name)} {}                 // NOLINT: conversion intended
  Source(const std::filesystem::path& path) : names_{path.string()} {}  // NOLINT: conversion intended
  Source(std::vector<std::string> names) : names_(std::move(names)) {}  // NOLINT: conversion intended
  Source(std::initializer_list<std::string> names) : names_(names.begin(), names.end()) {}  // NOLINT

  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }

 private:
  std::vector<std::string> names_;
};

}  // namespace heatpp::io
