#pragma once

#include <heatpp/core/rows.hpp>
#include <heatpp_io/hdf5/stored_rows.hpp>

namespace heatpp::io {

/// Returns the rows of a stored matrix (samples, features), of any size, from which an estimator learns. They are cut
/// evenly over the ranks. In every pass each rank reads its own, about 4 MiB at a time, and reads ahead. Local. Throws
/// ValueError for another number of axes, TypeError for complex numbers.
[[nodiscard]] Rows rows(const StoredRows& x);

}  // namespace heatpp::io
