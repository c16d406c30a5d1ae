#pragma once

#include "files.hpp"

/// Writes a file on rank 0.
void write_bytes(const std::string& path, const std::string& bytes);
/// All of a file, on every rank.
std::string read_bytes(const std::string& path);

/// The memory of a contiguous tensor; with `unit`, the bytes of each unit turned around.
std::string bytes_of(const at::Tensor& values, std::size_t unit = 1);

/// A file in NPY format made by hand.
std::string npy(const std::string& type, const std::string& shape, const std::string& elements, bool fortran = false,
                char version = 1);

/// None, and every axis.
std::vector<std::optional<int>> every_split(const ht::Shape& shape);
