#pragma once

#include <heatpp/core/factories.hpp>

// DLPack's structs, whose header <dlpack/dlpack.h> (or LibTorch's <ATen/dlpack.h>) the caller includes.
struct DLManagedTensor;
struct DLManagedTensorVersioned;

namespace heatpp {

/// This rank's block for another library, without a copy. The caller owns the struct, which keeps the memory until its
/// deleter is called. Local. Throws TypeError for a dtype that DLPack has not, ValueError for an array that is not
/// writable, which this struct cannot say.
[[nodiscard]] DLManagedTensor* to_dlpack(const DNDarray& x);
/// The same as DLPack 1.0 has it; marked read-only where the array is not writable.
[[nodiscard]] DLManagedTensorVersioned* to_dlpack_versioned(const DNDarray& x);

/// Adopts another library's tensor as this rank's block, in place. Takes the struct over, whatever happens: its deleter
/// is called once no array shares the memory any more. Collective, see from_local. Throws on all ranks where one has a
/// tensor that cannot be adopted: TypeError for its dtype and for another version of DLPack, ValueError for devices
/// that are not there, negative strides and blocks that do not fit. The array is not writable if one rank's tensor is
/// read-only.
[[nodiscard]] DNDarray from_dlpack(DLManagedTensor* tensor, const LocalOptions& options = {});
[[nodiscard]] DNDarray from_dlpack(DLManagedTensorVersioned* tensor, const LocalOptions& options = {});

}  // namespace heatpp
