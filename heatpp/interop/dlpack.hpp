#pragma once

#include <heatpp/core/factories.hpp>

// DLPack's structs. The caller includes their header, <dlpack/dlpack.h> or LibTorch's <ATen/dlpack.h>.
struct DLManagedTensor;
struct DLManagedTensorVersioned;

namespace heatpp {

/// Gives this rank's block to another library without a copy. The caller owns the struct, which keeps the memory until
/// its deleter is called. Local. Throws TypeError for a dtype that DLPack does not have, ValueError for an array that
/// is not writable, which this struct cannot express.
[[nodiscard]] DLManagedTensor* to_dlpack(const DNDarray& x);
/// Gives the block in DLPack 1.0's struct, marked read-only if the array is not writable.
[[nodiscard]] DLManagedTensorVersioned* to_dlpack_versioned(const DNDarray& x);

/// Adopts another library's tensor as this rank's block, in place. Takes the struct over in every case: its deleter is
/// called when no array shares the memory any more. Collective, see from_local. If the tensor of one rank cannot be
/// adopted, all ranks throw: TypeError for its dtype and for another version of DLPack, ValueError for devices that do
/// not exist, negative strides and blocks that do not fit. The array is not writable if one rank's tensor is
/// read-only.
[[nodiscard]] DNDarray from_dlpack(DLManagedTensor* tensor, const LocalOptions& options = {});
[[nodiscard]] DNDarray from_dlpack(DLManagedTensorVersioned* tensor, const LocalOptions& options = {});

}  // namespace heatpp
