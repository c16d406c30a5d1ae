#include <heatpp/ops/elementwise/detail/map_plan.hpp>

#include <ATen/Parallel.h>
#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/ops/elementwise/detail/map_total.hpp>
#include <heatpp/ops/operands/detail/align.hpp>

namespace heatpp::detail {
namespace {

/// Joins axis i with the next one if every input allows it, and drops axes of extent 1.
void join_axes(MapPlan& plan) {
  const auto joins = [&](std::size_t axis, std::size_t next) {
    return std::ranges::all_of(plan.inputs, [&](const MapInput& input) {
      return input.strides[axis] == input.strides[next] * plan.extents[next];
    });
  };
  std::size_t last = 0;
  const auto keep = [&](std::size_t from, std::size_t to) {
    plan.extents[to] = plan.extents[from];
    for (auto& input : plan.inputs) input.strides[to] = input.strides[from];
  };
  for (std::size_t axis = 1; axis < plan.extents.size(); ++axis) {
    if (plan.extents[axis] == 1) continue;
    if (plan.extents[last] == 1) {
      keep(axis, last);
    } else if (joins(last, axis)) {
      const auto extent = plan.extents[last];
      keep(axis, last);
      plan.extents[last] *= extent;
    } else {
      keep(axis, ++last);
    }
  }
  plan.extents.resize(last + 1);
  for (auto& input : plan.inputs) input.strides.resize(last + 1);
}

}  // namespace

MapPlan plan_map(const char* op, const std::vector<Operand>& operands, std::span<const Dtype> dtypes) {
  auto [blocks, layout, comm] = align(op, operands);
  const auto shape = layout.local_shape(comm.rank());
  MapPlan plan{layout, comm, shape, size_of(shape), {}, {}};
  if (plan.extents.empty()) plan.extents.push_back(1);
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    auto& block = blocks[i];
    if (!block.is_cpu())
      raise<ValueError>(op, "got an array on {}; expected arrays on the CPU (x.to_device(ht::cpu))",
                        to_string(operands[i].array()->device()));
    if (block.numel() <= map_piece_size) block = block.to(to_torch(dtypes[i]));  // converted once, not for each piece
    block = block.expand(shape);
    const auto dtype = from_torch(block.scalar_type());
    auto strides = block.strides().vec();
    if (strides.empty()) strides.push_back(0);
    plan.inputs.push_back({static_cast<const std::byte*>(block.const_data_ptr()), std::move(strides),
                           block.element_size(), dtype != dtypes[i], converter(dtype, dtypes[i])});
  }
  plan.blocks = std::make_shared<std::vector<at::Tensor>>(std::move(blocks));
  join_axes(plan);
  return plan;
}

DNDarray map_result(const MapPlan& plan, Dtype dtype) {
  return wrap(at::empty(plan.layout.local_shape(plan.comm.rank()), to_torch(dtype)), plan.layout, plan.comm);
}

void* data_of(const DNDarray& x) { return x.larray().data_ptr(); }

void in_parallel(std::int64_t n, const std::function<void(std::int64_t, std::int64_t)>& f) {
  constexpr std::int64_t worthwhile = 1 << 15;
  at::parallel_for(0, n, worthwhile, f);
}

void check_not_empty(const char* op, const MapPlan& plan) {
  if (plan.layout.size() == 0)
    raise<ValueError>(op, "got an array of shape {} for an extremum; expected at least one element",
                      to_string(plan.layout.shape()));
}

}  // namespace heatpp::detail
