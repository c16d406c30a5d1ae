#include "bricks.hpp"

at::Tensor numbered(const ht::Shape& shape, at::ScalarType type) {
  return (at::arange(ht::size_of(shape), at::kDouble) % 1000).reshape(shape).to(type);
}

at::Tensor part_of(at::Tensor x, const ht::Brick& brick) {
  for (std::size_t axis = 0; axis < brick.shape.size(); ++axis)
    x = x.narrow(static_cast<std::int64_t>(axis), brick.offset[axis], brick.shape[axis]);
  return x;
}

at::Tensor memory_of(const ht::Brick& brick, std::int64_t ghosts, at::ScalarType type, const at::Tensor& global) {
  auto extents = brick.shape;
  for (auto& extent : extents) extent += 2 * ghosts;
  auto memory = at::full(extents, ghost, at::kDouble).to(type);
  auto core = memory;
  for (std::size_t axis = 0; axis < extents.size(); ++axis)
    core = core.narrow(static_cast<std::int64_t>(axis), ghosts, brick.shape[axis]);
  if (global.defined()) core.copy_(part_of(global, brick));
  return memory;
}

std::vector<ht::Brick> cut(const ht::Shape& shape, const std::vector<std::int64_t>& parts) {
  std::vector<ht::Brick> bricks{{ht::Shape(shape.size(), 0), shape}};
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    std::vector<ht::Brick> finer;
    for (const auto& brick : bricks)
      for (std::int64_t part = 0; part < parts[axis]; ++part) {
        const auto begin = shape[axis] * part * part / (parts[axis] * parts[axis]);
        const auto end = shape[axis] * (part + 1) * (part + 1) / (parts[axis] * parts[axis]);
        finer.push_back(brick);
        finer.back().offset[axis] = begin, finer.back().shape[axis] = end - begin;
      }
    bricks = finer;
  }
  return bricks;
}

std::vector<ht::Brick> dealt(const std::vector<ht::Brick>& bricks, int first, int step) {
  std::vector<ht::Brick> mine;
  for (std::size_t i = 0; i < bricks.size(); ++i)
    if ((first + static_cast<int>(i) * step) % ranks() == rank()) mine.push_back(bricks[i]);
  return mine;
}
