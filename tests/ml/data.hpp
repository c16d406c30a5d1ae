#pragma once

#include "../support.hpp"

/// Measurements (150, 4) of flowers, the first 50, the next and the last of one species each.
at::Tensor iris();
/// Measurements (178, 13) of wines.
at::Tensor wine();
/// Measurements (442, 10) of patients, each column about its mean and of length 1.
at::Tensor diabetes();
/// What they are to predict, (442,).
at::Tensor diabetes_target();

/// The species of the flowers, 0 to 2, int64.
at::Tensor species();
/// Weights of n rows, 1 to 5.
at::Tensor weights(std::int64_t n);
/// A vector of float64.
at::Tensor numbers(std::initializer_list<double> values);
/// Numbers beside rows, cut evenly, in whatever way the rows are.
ht::DNDarray beside(const at::Tensor& x);
