#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/bounds.hpp>
#include <heatpp/core/detail/torch.hpp>
#include <heatpp/core/factories.hpp>

#include <algorithm>

namespace heatpp {
namespace {

constexpr std::size_t max_axes = 64;  // of a block, as LibTorch has it
constexpr std::size_t max_kind = 2 + max_axes;

/// The dtype, the number of axes and the extents of a block, of which the one along the split stands in the place of
/// its rank behind the others.
std::vector<std::int64_t> numbers_of(const at::Tensor& block, std::optional<int> split, const Communicator& comm) {
  static_cast<void>(detail::from_torch(block.scalar_type()));
  const auto axes = static_cast<std::size_t>(block.dim());
  if (axes > max_axes)
    detail::raise<ValueError>("from_local", "got a block with {} axes; expected at most {}", axes, max_axes);
  std::vector<std::int64_t> numbers(max_kind + static_cast<std::size_t>(split ? comm.size() : 0), 0);
  numbers[0] = static_cast<std::int64_t>(block.scalar_type());
  numbers[1] = block.dim();
  std::ranges::copy(block.sizes(), numbers.begin() + 2);
  // A rank that has not the axis need not say so here: all see that the numbers of axes differ.
  if (split && *split >= -block.dim() && *split < block.dim())
    std::swap(numbers[static_cast<std::size_t>(*split < 0 ? *split + block.dim() : *split) + 2],
              numbers[max_kind + static_cast<std::size_t>(comm.rank())]);
  return numbers;
}

/// The split, which is `given`; throws unless the blocks have it and are alike but for it.
std::optional<int> checked_split(const detail::Bounds& numbers, std::optional<int> given) {
  if (!numbers.equal(0) || !numbers.equal(1))
    detail::raise<ValueError>("from_local",
                              "got blocks with {} to {} axes and dtypes that {}; expected blocks alike in both",
                              numbers.least[1], numbers.most[1], numbers.equal(0) ? "agree" : "differ");
  const auto axes = static_cast<int>(numbers.most[1]);
  const auto split = given ? std::optional(sanitize_axis(*given, axes, "from_local")) : std::nullopt;
  for (std::size_t i = 2; i < max_kind; ++i)
    if (!numbers.equal(i))
      detail::raise<ValueError>("from_local",
                                "got blocks with extents {} to {} along axis {}; expected equal ones on all ranks",
                                numbers.least[i], numbers.most[i], i - 2);
  return split;
}

/// The array of the blocks that make() returns on the ranks.
template <class Make>
DNDarray adopted(const LocalOptions& options, Make make) {
  const auto comm = options.comm.value_or(default_comm());
  at::Tensor block;
  const auto ranks = static_cast<std::size_t>(options.split ? comm.size() : 0);
  const auto numbers =
      detail::bounds_or_error(comm, max_kind + ranks, [&] { return numbers_of(block = make(), options.split, comm); });
  const auto split = checked_split(numbers, options.split);
  Shape shape(block.sizes().begin(), block.sizes().end());
  if (!split) return detail::wrap(block, Layout(std::move(shape), std::nullopt, comm.size()), comm);
  const std::vector<std::int64_t> counts(numbers.most.begin() + max_kind, numbers.most.end());
  return detail::wrap(block, Layout::from_counts(std::move(shape), *split, counts), comm);
}

/// Memory of the caller's.
at::Tensor block_at(void* data, const Shape& shape, const std::optional<Shape>& strides, Dtype dtype) {
  const auto below_zero = [](const Shape& values) {
    return std::ranges::any_of(values, [](auto value) { return value < 0; });
  };
  if (below_zero(shape))
    detail::raise<ValueError>("from_local", "got a block of shape {}; expected no extent below 0", to_string(shape));
  if (strides && (strides->size() != shape.size() || below_zero(*strides)))
    detail::raise<ValueError>("from_local", "got strides {} for shape {}; expected one >= 0 for each axis",
                              detail::tuple_text(*strides), to_string(shape));
  const auto options = at::TensorOptions().dtype(detail::to_torch(dtype));
  return strides ? at::from_blob(data, shape, *strides, options) : at::from_blob(data, shape, options);
}

}  // namespace

DNDarray from_local(const at::Tensor& block, const LocalOptions& options) {
  return adopted(options, [&] { return block; });
}

DNDarray from_local(void* data, const Shape& shape, Dtype dtype, const LocalOptions& options) {
  return adopted(options, [&] { return block_at(data, shape, std::nullopt, dtype); });
}

DNDarray from_local(void* data, const Shape& shape, const Shape& strides, Dtype dtype, const LocalOptions& options) {
  return adopted(options, [&] { return block_at(data, shape, strides, dtype); });
}

}  // namespace heatpp
