#pragma once

#include <heatpp/core/rows.hpp>
#include <heatpp_io/hdf5/stored_rows.hpp>

namespace heatpp::io {

/// The rows of a stored matrix (samples, features) for an estimator to learn from, however large: cut evenly among the
/// ranks, each of which reads its own on every pass, about 4 MiB at a time, the next while the last are worked on.
/// Local. Throws ValueError for another number of axes, TypeError for complex numbers.
[[nodiscard]] Rows rows(const StoredRows& x);

}  // namespace heatpp::io
