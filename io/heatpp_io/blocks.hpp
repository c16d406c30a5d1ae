#pragma once

#include <heatpp/core/blocks/blocks.hpp>
#include <heatpp_io/formats.hpp>

// Files of domains that are cut along any axes, in every format that load and save know.
namespace heatpp::io {

/// Writes the bricks of all ranks as one array of the plan's shape, in the format that the extension names. One
/// exchange moves elements to the rank that writes them; each rank writes one contiguous part of the file. `memory` is
/// as for BlockPlan::from_blocks; ghost cells are not written. Needs memory for a copy of the rank's part of the array.
/// Collective. Throws as from_blocks and save.
void save_blocks(const BlockPlan& plan, std::span<const void* const> memory, const std::filesystem::path& path,
                 const SaveOptions& options = {});
void save_blocks(const BlockPlan& plan, const void* memory, const std::filesystem::path& path,
                 const SaveOptions& options = {});
void save_blocks(const BlockPlan& plan, std::span<const at::Tensor> blocks, const std::filesystem::path& path,
                 const SaveOptions& options = {});

/// Reads an array of the plan's shape, or the part that `options.slices` name, into the bricks of all ranks, not into
/// ghost cells. If the bricks have long runs in a file without chunks, each rank reads directly into its memory; else
/// an exchange distributes the array. Converts to the plan's dtype. Collective. Throws as load, and ValueError for
/// another shape and for a split, dtype, device or communicator in the options, since these come from the plan. The
/// memory then stays as it was, except if elements in the middle of a file cannot be read.
void load_blocks(const Source& source, const BlockPlan& plan, std::span<void* const> memory,
                 const LoadOptions& options = {});
void load_blocks(const Source& source, const BlockPlan& plan, void* memory, const LoadOptions& options = {});
void load_blocks(const Source& source, const BlockPlan& plan, std::span<const at::Tensor> blocks,
                 const LoadOptions& options = {});

}  // namespace heatpp::io
