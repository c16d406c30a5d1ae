#pragma once

#include "../support.hpp"

/// Measurements (150, 4) of flowers, the first 50, the next and the last of one species each.
at::Tensor iris();
/// Measurements (178, 13) of wines.
at::Tensor wine();
