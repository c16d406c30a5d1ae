#pragma once

#include "files.hpp"

/// Writes a file on rank 0.
void write_bytes(const std::string& path, const std::string& bytes);
/// Returns the content of a file, on every rank.
std::string read_bytes(const std::string& path);

/// Returns the memory of a contiguous tensor; with `unit`, the bytes of each unit are reversed.
std::string bytes_of(const at::Tensor& values, std::size_t unit = 1);

/// Returns a handmade file in NPY format.
std::string npy(const std::string& type, const std::string& shape, const std::string& elements, bool fortran = false,
                char version = 1);

/// Returns none and every axis.
std::vector<std::optional<int>> every_split(const ht::Shape& shape);
