#pragma once

#include "../support.hpp"

/// Measurements (150, 4) of flowers; the first, the next and the last 50 are one species each.
at::Tensor iris();
/// Measurements (178, 13) of wines.
at::Tensor wine();
/// Measurements (442, 10) of patients, each column centered and of length 1.
at::Tensor diabetes();
/// The targets of diabetes, (442,).
at::Tensor diabetes_target();

/// Returns the species of the flowers, 0 to 2, int64.
at::Tensor species();
/// Returns the lengths of the petals of the flowers.
at::Tensor petals();
/// Returns the kinds of the wines, 0 to 2, int64.
at::Tensor cultivar();
/// Weights of n rows, 1 to 5.
at::Tensor weights(std::int64_t n);
/// Returns a vector of float64.
at::Tensor numbers(std::initializer_list<double> values);
/// Returns numbers for rows, cut evenly, however the rows are cut.
ht::DNDarray beside(const at::Tensor& x);
/// Returns these rows of an array.
at::Tensor rows_of(const ht::DNDarray& x, std::initializer_list<std::int64_t> rows);
