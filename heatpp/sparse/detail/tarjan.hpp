#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace heatpp::sparse::detail {

/// Edges of vertices 0, 1, ..: those of v go to targets[begins[v]] .. targets[begins[v + 1]].
struct Edges {
  std::vector<std::int64_t> begins{0};
  std::vector<std::int32_t> targets{};
  [[nodiscard]] std::int32_t vertices() const { return static_cast<std::int32_t>(begins.size() - 1); }
  [[nodiscard]] std::span<const std::int32_t> of(std::int32_t v) const {
    const auto at = static_cast<std::size_t>(v);
    return std::span(targets).subspan(static_cast<std::size_t>(begins[at]),
                                      static_cast<std::size_t>(begins[at + 1] - begins[at]));
  }
};

/// Returns for each vertex the number of its strongly connected component, without recursion (Tarjan 1972). Targets
/// from `vertices()` on are no vertices and are ignored.
[[nodiscard]] std::vector<std::int32_t> strong_components_of(const Edges& edges);

/// Returns the edges in the opposite direction. `vertices` is the number of vertices.
[[nodiscard]] Edges reversed(const Edges& edges, std::int32_t vertices);

}  // namespace heatpp::sparse::detail
