#pragma once

#include <heatpp/sparse/conversion.hpp>

namespace heatpp::sparse::detail {

/// Describes a matrix: its class, shape, number of entries, dtype and split, and a line for each of its first and last
/// entries. Collective.
[[nodiscard]] std::string matrix_text(std::string_view kind, std::optional<int> split, const Coo& coo);

}  // namespace heatpp::sparse::detail
