#pragma once

#include <heatpp/sparse/io/detail/compressed.hpp>

namespace heatpp::sparse::detail {

/// Loads a file by `load_part`, which all ranks call with their communicator. But a file of at most 1 MiB, or a
/// directory of this size, is loaded by rank 0 alone, which sends the entries to their ranks; the others do not open
/// it. Collective. Throws on all ranks.
[[nodiscard]] DCSRMatrix load_matrix(const Loading& file, const std::function<DCSRMatrix(const Loading&)>& load_part);

}  // namespace heatpp::sparse::detail
