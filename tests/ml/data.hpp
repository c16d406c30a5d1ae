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
