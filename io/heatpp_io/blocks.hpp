#pragma once

#include <heatpp/core/blocks/blocks.hpp>
#include <heatpp_io/formats.hpp>

// Files of domains that are cut along any axes, in every format of load and save.
namespace heatpp::io {

/// Writes the bricks of all ranks as one array of the plan's shape, in the format that the extension names: what of
/// them is another rank's to write goes there in one exchange, and each rank writes a whole stretch of the file.
/// `memory` is as for BlockPlan::from_blocks, ghost cells are left out. A copy of the rank's part of the array is held
/// meanwhile. Collective. Throws what from_blocks and save throw.
void save_blocks(const BlockPlan& plan, std::span<const void* const> memory, const std::filesystem::path& path,
                 const SaveOptions& options = {});
void save_blocks(const BlockPlan& plan, const void* memory, const std::filesystem::path& path,
                 const SaveOptions& options = {});
void save_blocks(const BlockPlan& plan, std::span<const at::Tensor> blocks, const std::filesystem::path& path,
                 const SaveOptions& options = {});

/// Reads an array of the plan's shape, or the part of it that `options.slices` name, into the bricks of all ranks, but
/// not into their ghost cells. Each rank reads its own into its memory where they lie in long runs in a file without
/// chunks; else the array goes the same way back. Elements become the plan's dtype. Collective. Throws what load
/// throws, and ValueError for another shape and where options name a split, a dtype, a device or a communicator, which
/// are the plan's; the memory is as before then, unless elements in the middle of a file cannot be read.
void load_blocks(const Source& source, const BlockPlan& plan, std::span<void* const> memory,
                 const LoadOptions& options = {});
void load_blocks(const Source& source, const BlockPlan& plan, void* memory, const LoadOptions& options = {});
void load_blocks(const Source& source, const BlockPlan& plan, std::span<const at::Tensor> blocks,
                 const LoadOptions& options = {});

}  // namespace heatpp::io
