#include <heatpp/core/blocks/blocks.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/adopt.hpp>
#include <heatpp/core/detail/allocated.hpp>
#include <heatpp/core/detail/bounds.hpp>
#include <heatpp/core/blocks/detail/block_access.hpp>
#include <heatpp/core/blocks/detail/bricks.hpp>
#include <heatpp/core/blocks/detail/parts.hpp>
#include <heatpp/core/detail/cuts/layout_of.hpp>
#include <heatpp/core/detail/cuts/without_copies.hpp>
#include <heatpp/core/detail/relayout.hpp>

#include <algorithm>

namespace heatpp {

using detail::Boxes;
using detail::Parts;
using detail::Piece;
using detail::raise;

namespace {

constexpr std::size_t max_axes = 64, numbers_agreed = 3 + 3 * max_axes;
constexpr std::int64_t most_ghosts = 1 << 20;

at::Tensor part_of(at::Tensor memory, const Piece& piece, const Shape& origin) {
  return detail::part_in_box(std::move(memory), origin, {piece.first, piece.count});
}

/// What moves between the bricks and this rank's block of the array.
struct Cut {
  Layout layout;
  Boxes boxes;  ///< bricks that meet the block
};

Parts parts_of_block(const Cut& cut, const at::Tensor& block, const Communicator& comm) {
  const auto origin = cut.layout.local_offset(comm.rank());
  Parts parts;
  for (const auto& [rank, pieces] : detail::pieces_of_block(cut.boxes, cut.layout, comm.rank())) {
    parts.push_back({rank, {}});
    for (const auto& piece : pieces) parts.back().tensors.push_back(part_of(block, piece, origin));
  }
  return parts;
}

}  // namespace

struct BlockPlan::Impl {
  Dtype dtype;
  Shape ghosts;
  Communicator comm;
  Cut cut;
  std::vector<Brick> mine;  ///< this rank's, with their ghost cells
  std::shared_ptr<detail::BrickGhosts> found = std::make_shared<detail::BrickGhosts>();

  [[nodiscard]] const Shape& before(const Brick& brick) const { return brick.before.empty() ? ghosts : brick.before; }
  [[nodiscard]] const Shape& behind(const Brick& brick) const { return brick.behind.empty() ? ghosts : brick.behind; }

  [[nodiscard]] Shape extents(const Brick& brick) const {
    auto extents = brick.shape;
    for (std::size_t axis = 0; axis < extents.size(); ++axis)
      extents[axis] += before(brick)[axis] + behind(brick)[axis];
    return extents;
  }

  void check_count(const char* op, std::size_t blocks) const {
    if (blocks != mine.size())
      raise<ValueError>(op, "got memory for {} bricks; expected {}, as many as the rank has", blocks, mine.size());
  }

  /// Returns the tensors of the bricks if they fit the plan, else throws.
  [[nodiscard]] std::vector<at::Tensor> checked(const char* op, std::span<const at::Tensor> blocks) const {
    check_count(op, blocks.size());
    std::vector<at::Tensor> taken;
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      const Shape found(blocks[i].sizes().begin(), blocks[i].sizes().end());
      if (found != extents(mine[i]) || blocks[i].scalar_type() != detail::to_torch(dtype) || !blocks[i].is_cpu())
        raise<ValueError>(op, "got {} of shape {} for brick {}; expected {} of shape {} on the CPU",
                          blocks[i].toString(), to_string(found), i, name(dtype), to_string(extents(mine[i])));
      taken.push_back(blocks[i].detach());
    }
    return taken;
  }

  /// Returns tensors for the addresses of a host's memory.
  template <class Pointer>
  [[nodiscard]] std::vector<at::Tensor> tensors(const char* op, std::span<const Pointer> memory) const {
    check_count(op, memory.size());
    std::vector<at::Tensor> blocks;
    for (std::size_t i = 0; i < memory.size(); ++i) {
      auto* const data = const_cast<void*>(static_cast<const void*>(memory[i]));
      if (!data && size_of(mine[i].shape) > 0)
        raise<ValueError>(op, "got no memory for brick {}; expected that of {} elements", i, size_of(extents(mine[i])));
      blocks.push_back(at::from_blob(data, extents(mine[i]), at::TensorOptions(detail::to_torch(dtype))));
    }
    return blocks;
  }

  /// Returns the cells at which a brick's memory begins.
  [[nodiscard]] Shape origin_of(std::size_t brick) const {
    auto origin = mine[brick].offset;
    for (std::size_t axis = 0; axis < origin.size(); ++axis) origin[axis] -= before(mine[brick])[axis];
    return origin;
  }

  /// Returns the tensors without their ghost cells.
  [[nodiscard]] std::vector<at::Tensor> insides(std::vector<at::Tensor> blocks) const {
    for (std::size_t i = 0; i < blocks.size(); ++i)
      blocks[i] = part_of(blocks[i], {i, mine[i].offset, mine[i].shape}, origin_of(i));
    return blocks;
  }

  [[nodiscard]] Parts parts_of_bricks(const Layout& layout, const std::vector<at::Tensor>& blocks) const {
    Parts parts;
    for (const auto& [rank, pieces] : detail::pieces_of_bricks(mine, layout)) {
      parts.push_back({rank, {}});
      for (const auto& piece : pieces)
        parts.back().tensors.push_back(part_of(blocks[piece.brick], piece, origin_of(piece.brick)));
    }
    return parts;
  }

  [[nodiscard]] DNDarray gathered(const std::function<std::vector<at::Tensor>()>& make) const {
    std::vector<at::Tensor> blocks;
    all_or_none(comm, [&] { blocks = make(); });
    const at::TensorOptions options(detail::to_torch(dtype));
    auto block = detail::allocated("from_blocks", cut.layout, options, comm,
                                   [&] { return at::empty(cut.layout.local_shape(comm.rank()), options); });
    detail::exchange_parts(parts_of_bricks(cut.layout, blocks), parts_of_block(cut, block, comm), comm);
    return detail::wrap(std::move(block), cut.layout, comm);
  }

  void scatter(const DNDarray& array, const std::function<std::vector<at::Tensor>()>& make) const {
    const bool fits = array.shape() == cut.layout.shape() && array.comm().same_ranks(comm);
    const auto x = fits ? detail::without_copies(array) : array;  // else each copy of a block would send
    std::vector<at::Tensor> blocks;
    all_or_none(comm, [&] {
      if (x.shape() != cut.layout.shape())
        raise<ValueError>("to_blocks", "got an array of shape {}; expected {}", to_string(x.shape()),
                          to_string(cut.layout.shape()));
      if (x.dtype() != dtype)
        raise<TypeError>("to_blocks", "got an array of {} for bricks of {}; expected the same dtype", name(x.dtype()),
                         name(dtype));
      detail::check_same_comm("to_blocks", comm, x.comm());
      blocks = make();
    });
    const auto block = x.larray().cpu().resolve_conj().resolve_neg();
    if (x.layout().is_cut()) {
      const auto moved = [&](const Cut& how) {
        detail::exchange_parts(parts_of_block(how, block, comm), parts_of_bricks(how.layout, blocks), comm);
      };
      return x.layout() == cut.layout ? moved(cut)
                                      : moved({x.layout(), detail::boxes_at_owner(mine, x.layout(), comm)});
    }
    const auto places = insides(blocks);
    for (std::size_t i = 0; i < mine.size(); ++i)
      places[i].copy_(part_of(block, {i, mine[i].offset, mine[i].shape}, Shape(x.shape().size(), 0)));
  }
};

namespace {

bool are_ghosts(const Shape& cells) {
  return std::ranges::all_of(cells, [](auto count) { return count >= 0 && count <= most_ghosts; });
}

/// Returns the ghost cells of each axis.
Shape checked_ghosts(const Shape& given, int ndim) {
  const auto axes = static_cast<std::size_t>(ndim);
  auto ghosts = given.empty() ? Shape(axes, 0) : given.size() == 1 ? Shape(axes, given[0]) : given;
  if (ghosts.size() != axes || !are_ghosts(ghosts))
    raise<ValueError>("from_blocks",
                      "got ghosts {} for an array with {} axes; expected one number or one for each, of 0 to {}",
                      to_string(given), ndim, most_ghosts);
  return ghosts;
}

void check_brick(const Brick& brick, const Shape& shape) {
  bool inside = brick.offset.size() == shape.size() && brick.shape.size() == shape.size();
  for (std::size_t axis = 0; inside && axis < shape.size(); ++axis)
    inside = brick.offset[axis] >= 0 && brick.shape[axis] >= 0 && brick.offset[axis] <= shape[axis] &&
             brick.shape[axis] <= shape[axis] - brick.offset[axis];
  if (!inside)
    raise<ValueError>("from_blocks", "got a brick of shape {} at {}; expected one inside of shape {}",
                      to_string(brick.shape), to_string(brick.offset), to_string(shape));
  for (const auto* ghosts : {&brick.before, &brick.behind})
    if (!ghosts->empty() && (ghosts->size() != shape.size() || !are_ghosts(*ghosts)))
      raise<ValueError>("from_blocks",
                        "got ghosts {} of a brick with {} axes; expected one number for each, of 0 to {}",
                        to_string(*ghosts), shape.size(), most_ghosts);
}

Layout layout_for(const Shape& shape, const BlockOptions& options, const Communicator& comm) {
  return detail::layout_of("from_blocks", shape, options.split.beside(options.grid), options.grid, comm);
}

/// Returns what has to be the same on all ranks, checked here, as numbers: the number of axes, the split, the dtype,
/// the shape, the ghosts and the grid.
std::vector<std::int64_t> numbers_of(const Shape& shape, const std::vector<Brick>& bricks, Dtype dtype,
                                     const BlockOptions& options, const Communicator& comm) {
  if (shape.size() > max_axes)
    raise<ValueError>("from_blocks", "got {} axes; expected at most {}", shape.size(), max_axes);
  const auto ndim = static_cast<int>(shape.size());
  static_cast<void>(size_of(shape));
  const auto ghosts = checked_ghosts(options.ghosts, ndim);
  const auto layout = layout_for(shape, options, comm);
  const auto grid = layout.grid();
  for (const auto& brick : bricks) check_brick(brick, shape);
  std::vector<std::int64_t> numbers(numbers_agreed, 0);
  numbers[0] = ndim, numbers[1] = layout.is_grid() ? -1 : layout.split().value_or(-1),
  numbers[2] = static_cast<std::int64_t>(dtype);
  std::ranges::copy(shape, numbers.begin() + 3);
  std::ranges::copy(ghosts, numbers.begin() + 3 + max_axes);
  std::ranges::copy(grid, numbers.begin() + 3 + 2 * max_axes);
  return numbers;
}

void check_agreed(const detail::Bounds& numbers) {
  for (std::size_t i = 0; i < numbers_agreed; ++i)
    if (!numbers.equal(i))
      raise<ValueError>("from_blocks", "got {} {} on some ranks and {} on others; expected the same on all",
                        i == 0                 ? "a number of axes of"
                        : i == 1               ? "the split"
                        : i == 2               ? "the dtype of number"
                        : i < 3 + max_axes     ? "an extent of"
                        : i < 3 + 2 * max_axes ? "ghosts of"
                                               : "a grid whose ranks along an axis are",
                        numbers.least[i], numbers.most[i]);
}

}  // namespace

BlockPlan::BlockPlan(const Shape& shape, std::vector<Brick> bricks, Dtype dtype, const BlockOptions& options) {
  const auto comm = comm_of(options.comm);
  check_agreed(
      detail::bounds_or_error(comm, numbers_agreed, [&] { return numbers_of(shape, bricks, dtype, options, comm); }));
  const auto ndim = static_cast<int>(shape.size());
  const auto layout = layout_for(shape, options, comm);
  auto boxes = detail::boxes_at_owner(bricks, layout, comm);
  detail::check_cover("from_blocks", bricks, boxes, layout, comm);
  impl_ = std::shared_ptr<const Impl>(
      new Impl{dtype, checked_ghosts(options.ghosts, ndim), comm, {layout, std::move(boxes)}, std::move(bricks)});
}

DNDarray BlockPlan::from_blocks(std::span<const void* const> memory) const {
  return impl_->gathered([&] { return impl_->tensors("from_blocks", memory); });
}
DNDarray BlockPlan::from_blocks(std::span<const at::Tensor> blocks) const {
  return impl_->gathered([&] { return impl_->checked("from_blocks", blocks); });
}
void BlockPlan::to_blocks(const DNDarray& x, std::span<void* const> memory) const {
  impl_->scatter(x, [&] { return impl_->tensors("to_blocks", memory); });
}
void BlockPlan::to_blocks(const DNDarray& x, std::span<const at::Tensor> blocks) const {
  impl_->scatter(x, [&] { return impl_->checked("to_blocks", blocks); });
}

const std::vector<Brick>& detail::BlockAccess::bricks(const BlockPlan& plan) { return plan.impl_->mine; }
detail::Surroundings detail::BlockAccess::surroundings(const BlockPlan& plan, const Brick& brick) {
  return {plan.impl_->before(brick), plan.impl_->behind(brick)};
}
std::vector<at::Tensor> detail::BlockAccess::wholes(const char* op, const BlockPlan& plan,
                                                    std::span<void* const> memory) {
  return plan.impl_->tensors(op, memory);
}
std::vector<at::Tensor> detail::BlockAccess::wholes(const char* op, const BlockPlan& plan,
                                                    std::span<const at::Tensor> blocks) {
  return plan.impl_->checked(op, blocks);
}
at::Tensor detail::BlockAccess::part(const BlockPlan& plan, const std::vector<at::Tensor>& wholes, const Piece& piece) {
  return part_of(wholes[piece.brick], piece, plan.impl_->origin_of(piece.brick));
}
const detail::Boxes& detail::BlockAccess::boxes(const BlockPlan& plan) { return plan.impl_->cut.boxes; }
detail::BrickGhosts& detail::BlockAccess::ghosts(const BlockPlan& plan) { return *plan.impl_->found; }
std::vector<at::Tensor> detail::BlockAccess::insides(const BlockPlan& plan, std::span<void* const> memory) {
  return plan.impl_->insides(plan.impl_->tensors("to_blocks", memory));
}
std::vector<at::Tensor> detail::BlockAccess::insides(const BlockPlan& plan, std::span<const at::Tensor> blocks) {
  return plan.impl_->insides(plan.impl_->checked("to_blocks", blocks));
}

std::size_t BlockPlan::bricks() const { return impl_->mine.size(); }
const Layout& BlockPlan::layout() const { return impl_->cut.layout; }
Dtype BlockPlan::dtype() const { return impl_->dtype; }
const Communicator& BlockPlan::comm() const { return impl_->comm; }

std::int64_t BlockPlan::bytes_sent() const {
  std::int64_t cells = 0;
  for (const auto& [rank, pieces] : detail::pieces_of_bricks(impl_->mine, impl_->cut.layout))
    for (const auto& piece : pieces) cells += rank == impl_->comm.rank() ? 0 : size_of(piece.count);
  return cells * static_cast<std::int64_t>(itemsize(impl_->dtype));
}

namespace {

BlockOptions on_ranks_of(const DNDarray& x, BlockOptions options) {
  if (!options.comm) options.comm = x.comm();
  return options;
}

Shape extents_of(const at::Tensor& block) { return {block.sizes().begin(), block.sizes().end()}; }

/// Makes the plan for one brick per rank, whose memory has these extents.
BlockPlan plan_for(const Shape& extents, Dtype dtype, const Shape& offset, const Shape& shape,
                   const BlockOptions& options) {
  auto cells = extents;
  // The plan throws for a wrong number of ghosts.
  for (std::size_t axis = 0; axis < cells.size() && !options.ghosts.empty(); ++axis)
    cells[axis] -= 2 * options.ghosts[std::min(axis, options.ghosts.size() - 1)];
  return BlockPlan(shape, {{offset, cells}}, dtype, options);
}

}  // namespace

DNDarray from_blocks(const at::Tensor& block, const Shape& offset, const Shape& shape, const BlockOptions& options) {
  const auto given = detail::adoptable("from_blocks", block);
  const auto plan = plan_for(extents_of(given), detail::from_torch(given.scalar_type()), offset, shape, options);
  return plan.from_blocks(std::span(&given, 1));
}
DNDarray from_blocks(const void* memory, const Shape& extents, Dtype dtype, const Shape& offset, const Shape& shape,
                     const BlockOptions& options) {
  return plan_for(extents, dtype, offset, shape, options).from_blocks(memory);
}
void to_blocks(const DNDarray& x, const at::Tensor& block, const Shape& offset, const BlockOptions& options) {
  plan_for(extents_of(block), x.dtype(), offset, x.shape(), on_ranks_of(x, options)).to_blocks(x, std::span(&block, 1));
}
void to_blocks(const DNDarray& x, void* memory, const Shape& extents, const Shape& offset,
               const BlockOptions& options) {
  plan_for(extents, x.dtype(), offset, x.shape(), on_ranks_of(x, options)).to_blocks(x, memory);
}

}  // namespace heatpp
