#pragma once

#include "../io/bytes.hpp"

#include <cstdlib>
#include <filesystem>
#include <sstream>

/// An array in a file that newest_writers.py has written.
struct NewestArray {
  std::string kind, name, file, array, field, error;
};

[[nodiscard]] inline std::string newest_path(const std::string& name) {
  return std::string(std::getenv("HEATPP_NEWEST_FILES")) + "/" + name;
}

/// Returns the arrays that newest_writers.py lists, those of sparse matrices or the others.
[[nodiscard]] inline std::vector<NewestArray> newest_arrays(bool sparse) {
  std::vector<NewestArray> all;
  std::istringstream lines(read_bytes(newest_path("list")));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    NewestArray x;
    for (auto* field : {&x.kind, &x.name, &x.file, &x.array, &x.field, &x.error}) std::getline(fields, *field, '\t');
    x.file = newest_path("in/" + x.file);
    if ((x.kind == "sparse") == sparse) all.push_back(x);
  }
  return all;
}
