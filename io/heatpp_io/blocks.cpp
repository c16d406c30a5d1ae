#include <ATen/core/Tensor.h>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp_io/blocks.hpp>

namespace heatpp::io {
namespace {

/// Throws where options name what is the plan's.
void check(const LoadOptions& options) {
  const auto* const named = options.split           ? "a split"
                            : options.dtype         ? "a dtype"
                            : options.comm          ? "a communicator"
                            : options.device != cpu ? "a device"
                                                    : nullptr;
  if (named)
    heatpp::detail::raise<ValueError>("load_blocks", "got {} in the options; expected none, since the plan has it",
                                      named);
}

DNDarray loaded(const Source& source, const BlockPlan& plan, LoadOptions options) {
  all_or_none(plan.comm(), [&] { check(options); });
  const auto& layout = plan.layout();
  if (!layout.shape().empty()) options.split = layout.split().value_or(0);
  options.dtype = plan.dtype();
  options.comm = plan.comm();
  return load(source, options);
}

}  // namespace

void save_blocks(const BlockPlan& plan, std::span<const void* const> memory, const std::filesystem::path& path,
                 const SaveOptions& options) {
  save(plan.from_blocks(memory), path, options);
}
void save_blocks(const BlockPlan& plan, const void* memory, const std::filesystem::path& path,
                 const SaveOptions& options) {
  save(plan.from_blocks(memory), path, options);
}
void save_blocks(const BlockPlan& plan, std::span<const at::Tensor> blocks, const std::filesystem::path& path,
                 const SaveOptions& options) {
  save(plan.from_blocks(blocks), path, options);
}

void load_blocks(const Source& source, const BlockPlan& plan, std::span<void* const> memory,
                 const LoadOptions& options) {
  plan.to_blocks(loaded(source, plan, options), memory);
}
void load_blocks(const Source& source, const BlockPlan& plan, void* memory, const LoadOptions& options) {
  plan.to_blocks(loaded(source, plan, options), memory);
}
void load_blocks(const Source& source, const BlockPlan& plan, std::span<const at::Tensor> blocks,
                 const LoadOptions& options) {
  plan.to_blocks(loaded(source, plan, options), blocks);
}

}  // namespace heatpp::io
