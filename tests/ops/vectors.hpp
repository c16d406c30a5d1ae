#pragma once

#include "../with_aten.hpp"

#include <vector>

inline at::Tensor longs(const std::vector<std::int64_t>& values) { return at::tensor(values, at::kLong); }
inline at::Tensor doubles(const std::vector<double>& values) { return at::tensor(values, at::kDouble); }
