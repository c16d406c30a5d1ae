#pragma once

#include "../support.hpp"

#include <heatpp/core/blocks/blocks.hpp>

inline int rank() { return ht::world().rank(); }
inline int ranks() { return ht::world().size(); }

/// Returns 0, 1, ... 999, 0, 1, ... in this shape.
at::Tensor numbered(const ht::Shape& shape, at::ScalarType type = at::kDouble);

at::Tensor part_of(at::Tensor x, const ht::Brick& brick);

/// The value of ghost cells.
constexpr double ghost = -7;

/// Makes a host's memory for a brick: ghost cells, and the elements of `global` if there is one.
at::Tensor memory_of(const ht::Brick& brick, std::int64_t ghosts, at::ScalarType type, const at::Tensor& global = {});

/// Returns the bricks of a domain cut into `parts` along each axis, unevenly.
std::vector<ht::Brick> cut(const ht::Shape& shape, const std::vector<std::int64_t>& parts);

/// Returns this rank's bricks. They are distributed in turn, from rank `first` on.
std::vector<ht::Brick> dealt(const std::vector<ht::Brick>& bricks, int first, int step);
