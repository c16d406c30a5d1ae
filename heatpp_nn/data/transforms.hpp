#pragma once

#include <functional>
#include <heatpp_nn/data/dataset.hpp>

namespace heatpp::nn {

/// Which rows a batch has.
struct BatchContext {
  std::uint64_t seed = 0;
  std::int64_t epoch = 0;
  at::Tensor rows;  ///< numbers of the rows in the dataset, int64
};

/// Changes a batch, in place or by assigning other tensors. Random effects depend only on the context, so they are
/// equal for any number of ranks and after a resumption.
using Transform = std::function<void(Batch&, const BatchContext&)>;

/// Selects the field.
struct NormaliseOptions {
  std::string field = {};  ///< its name; empty: the first input
};
/// Replaces inputs by (inputs - mean) / std, in float32 if they are integers. `mean` and `std` are numbers, or tensors
/// that broadcast to a row. `{.field = "pressure"}` selects another field.
[[nodiscard]] Transform normalise(const at::Tensor& mean, const at::Tensor& std, const NormaliseOptions& options = {});
[[nodiscard]] Transform normalise(double mean, double std, const NormaliseOptions& options = {});

/// How targets change if inputs are moved.
enum class Targets {
  together,  ///< they are moved, too, if they are on the same grid: equal extents along these axes, and at most
             ///< one axis less, that of channels
  stay       ///< only inputs are moved
};

struct FlipOptions {
  std::int64_t axis = -1;  ///< axis of the inputs, not the axis of rows; the last one of images is left to right
  double probability = 0.5;
  Targets targets = Targets::together;
  std::string field = {};  ///< field that defines the grid; empty: the first input
};
/// Flips some rows along an axis: all fields on the same grid together. Signs of vector components do not change.
[[nodiscard]] Transform random_flip(const FlipOptions& options = {});

struct ShiftOptions {
  std::int64_t most = 4;  ///< largest shift, in each direction of the last two axes; zeros are shifted in
  Targets targets = Targets::together;
  std::string field = {};  ///< field that defines the grid; empty: the first input
};
/// Shifts each row of all fields on the same grid, like a crop of the same size from a zero-padded picture.
[[nodiscard]] Transform random_shift(const ShiftOptions& options = {});

/// Returns a number in [0, 1) for a row in an epoch; `use` distinguishes purposes.
[[nodiscard]] double random_of_row(const BatchContext& context, std::int64_t row, std::uint64_t use);

}  // namespace heatpp::nn
