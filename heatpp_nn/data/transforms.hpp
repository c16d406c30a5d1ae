#pragma once

#include <functional>
#include <heatpp_nn/data/dataset.hpp>

namespace heatpp::nn {

/// Which rows a batch has.
struct BatchContext {
  std::uint64_t seed = 0;
  std::int64_t epoch = 0;
  at::Tensor rows;  ///< their numbers in the dataset, int64
};

/// Changes a batch, in place or by putting other tensors there. What is random in it depends on the context alone, so
/// that it is the same on any number of ranks and after a resumption.
using Transform = std::function<void(Batch&, const BatchContext&)>;

/// Which field is meant.
struct NormaliseOptions {
  std::string field = {};  ///< its name; empty: the first input
};
/// Inputs become (inputs - mean) / std, in float32 where they are whole numbers; `mean` and `std` are numbers, or
/// tensors that broadcast to a row. Another field with `{.field = "pressure"}`.
[[nodiscard]] Transform normalise(const at::Tensor& mean, const at::Tensor& std, const NormaliseOptions& options = {});
[[nodiscard]] Transform normalise(double mean, double std, const NormaliseOptions& options = {});

/// What becomes of the targets where inputs are moved.
enum class Targets {
  together,  ///< they are moved alike where they are on the same grid: as many places along these axes, and at most
             ///< one axis less, which is that of channels
  stay       ///< only inputs are moved
};

struct FlipOptions {
  std::int64_t axis = -1;  ///< of the inputs, not that of the rows; the last one of images is left to right
  double probability = 0.5;
  Targets targets = Targets::together;
  std::string field = {};  ///< whose grid is meant; empty: the first input's
};
/// Turns some rows around along an axis: all fields on the same grid together. Signs of vectors' components stay.
[[nodiscard]] Transform random_flip(const FlipOptions& options = {});

struct ShiftOptions {
  std::int64_t most = 4;  ///< by up to so many places in each direction of the last two axes; zeros come in
  Targets targets = Targets::together;
  std::string field = {};  ///< whose grid is meant; empty: the first input's
};
/// Moves each row of all fields on the same grid: what cutting a picture of the same size out of a padded one does.
[[nodiscard]] Transform random_shift(const ShiftOptions& options = {});

/// A number in [0, 1) that belongs to a row in an epoch; `use` tells apart what it is for.
[[nodiscard]] double random_of_row(const BatchContext& context, std::int64_t row, std::uint64_t use);

}  // namespace heatpp::nn
