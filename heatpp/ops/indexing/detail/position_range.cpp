#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/relayout.hpp>
#include <heatpp/core/promotion.hpp>
#include <heatpp/ops/indexing/detail/positions.hpp>

#include <algorithm>

namespace heatpp::detail {
namespace {

struct Extremes {
  std::int64_t low = 0, high = 0;
};

Extremes extremes(const at::Tensor& block) {
  if (block.numel() == 0) return {};
  const auto [low, high] = at::aminmax(block);
  return {low.item<std::int64_t>(), high.item<std::int64_t>()};
}

std::string out_of_range(const char* op, const DNDarray& x, int axis, std::int64_t position, std::int64_t extent) {
  return formatted("[{}] got position {} along axis {} of an array of shape {}; expected {} <= position < {}", op,
                   position, axis, to_string(x.shape()), -extent, extent);
}

}  // namespace

void check_positions(const char* op, const DNDarray& x, const DNDarray& positions) {
  if (!is_integral(positions.dtype()))
    raise<IndexError>(op, "got positions of {}; expected whole numbers or a bool mask", name(positions.dtype()));
  check_same_comm(op, x.comm(), positions.comm());
}

std::optional<std::int64_t> position_beyond(const DNDarray& positions, std::int64_t extent) {
  if (positions.size() == 0) return std::nullopt;
  const auto [low, high] = extremes(positions.larray());
  std::vector<std::int64_t> ends{low, -high};
  if (positions.layout().is_cut()) positions.comm().allreduce(ends, ReduceOp::min);
  if (ends[0] >= 0 && -ends[1] < extent) return std::nullopt;
  return ends[0] < 0 ? ends[0] : -ends[1];
}

void sanitize_positions(const char* op, const DNDarray& x, Positions& positions) {
  const bool none = std::ranges::any_of(positions.arrays, [](const auto& array) { return array.size() == 0; });
  std::optional<Communicator::Failure> failure;
  bool split = false;
  for (std::size_t i = 0; i < positions.axes.size(); ++i) {
    auto& array = positions.arrays[i];
    check_positions(op, x, array);
    array = one_cut(op, array);
    auto block = array.larray().to(at::kCPU, at::kLong);  // routes are computed on the CPU
    const auto extent = x.shape()[static_cast<std::size_t>(positions.axes[i])];
    const auto [low, high] = extremes(block);
    const bool counts = array.ndim() == 0 || (!none && block.numel() > 0);
    if (!failure && counts && (low < -extent || high >= extent))
      failure = {ErrorKind::index, out_of_range(op, x, positions.axes[i], high >= extent ? high : low, extent)};
    split = split || array.split();
    if (low < 0) block = at::where(block < 0, block + extent, block);
    array = wrap(std::move(block), array.layout(), array.comm());
  }
  if (split) x.comm().agree(failure);
  else if (failure) throw_error(failure->kind, failure->message);
}

}  // namespace heatpp::detail
