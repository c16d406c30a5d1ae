#include <heatpp_nn/data/transforms.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp_nn/data/detail/epoch_order.hpp>

#include <ATen/ATen.h>

#include <algorithm>

namespace heatpp::nn {
namespace {

/// The purposes of random numbers.
enum Use : std::uint64_t { flip_use = 1, shift_down_use, shift_right_use };

std::span<const std::int64_t> values(const at::Tensor& numbers) {
  return {numbers.const_data_ptr<std::int64_t>(), static_cast<std::size_t>(numbers.numel())};
}

at::Tensor& field_of(Batch& batch, const std::string& name) { return name.empty() ? batch.inputs : batch[name]; }

/// Returns the batch's tensors on the same grid as `grid`, which are moved along the axes. Axes count from the end.
std::vector<at::Tensor*> moved_of(Batch& batch, const at::Tensor& grid, std::initializer_list<std::int64_t> axes,
                                  Targets targets) {
  const auto on_grid = [&](const at::Tensor& field) {
    return field.defined() && field.dim() + 1 >= grid.dim() && std::ranges::all_of(axes, [&](std::int64_t axis) {
             return field.dim() + axis > 0 && field.size(axis) == grid.size(axis);
           });
  };
  auto moved = batch.fields();
  if (targets == Targets::stay) moved.resize(1 + batch.more_inputs.size());
  std::erase_if(moved, [&](const auto* field) { return field != &grid && !on_grid(*field); });
  return moved;
}

void flip(Batch& batch, const FlipOptions& options, const BatchContext& context) {
  const auto& grid = field_of(batch, options.field);
  const auto dims = grid.dim();
  const auto axis = options.axis < 0 ? options.axis : options.axis - dims;
  if (axis >= 0 || axis <= -dims)
    heatpp::detail::raise<ValueError>("random_flip",
                                      "got axis {} of rows of {} axes, that of the rows included; "
                                      "expected one of the others",
                                      options.axis, dims);
  std::vector<std::int64_t> chosen;
  const auto rows = values(context.rows);
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (random_of_row(context, rows[i], flip_use) < options.probability) chosen.push_back(static_cast<std::int64_t>(i));
  for (auto* tensor : moved_of(batch, grid, {axis}, options.targets)) {
    const auto places = at::tensor(chosen, at::kLong).to(tensor->device());
    tensor->index_copy_(0, places, tensor->index_select(0, places).flip(axis));
  }
}

/// Moves a row by `down` and `right` places.
void shift(const at::Tensor& from, const at::Tensor& to, std::int64_t down, std::int64_t right) {
  const auto rows = from.size(-2) - std::abs(down), columns = from.size(-1) - std::abs(right);
  if (rows <= 0 || columns <= 0) return;
  const auto part = [&](const at::Tensor& x, std::int64_t y_at, std::int64_t x_at) {
    return x.narrow(-2, std::max<std::int64_t>(0, y_at), rows).narrow(-1, std::max<std::int64_t>(0, x_at), columns);
  };
  part(to, down, right).copy_(part(from, -down, -right));
}

}  // namespace

double random_of_row(const BatchContext& context, std::int64_t row, std::uint64_t use) {
  const auto stream = detail::mixed(context.seed, static_cast<std::uint64_t>(context.epoch), use);
  return static_cast<double>(detail::mixed(stream, static_cast<std::uint64_t>(row), 0) >> 11) * 0x1p-53;
}

Transform normalise(const at::Tensor& mean, const at::Tensor& std, const NormaliseOptions& options) {
  return [mean, std, options](Batch& batch, const BatchContext&) {
    auto& field = field_of(batch, options.field);
    if (!field.is_floating_point()) field = field.to(at::kFloat);
    field.sub_(mean).div_(std);
  };
}
Transform normalise(double mean, double std, const NormaliseOptions& options) {
  return normalise(at::scalar_tensor(mean), at::scalar_tensor(std), options);
}

Transform random_flip(const FlipOptions& options) {
  return [options](Batch& batch, const BatchContext& context) { flip(batch, options, context); };
}

Transform random_shift(const ShiftOptions& options) {
  return [options](Batch& batch, const BatchContext& context) {
    const auto rows = values(context.rows);
    const auto draw = [&](std::int64_t row, Use use) {
      const auto range = static_cast<double>(2 * options.most + 1);
      return static_cast<std::int64_t>(random_of_row(context, row, use) * range) - options.most;
    };
    const auto& grid = field_of(batch, options.field);
    for (auto* tensor : moved_of(batch, grid, {-2, -1}, options.targets)) {
      auto moved = at::zeros_like(*tensor);
      for (std::size_t i = 0; i < rows.size(); ++i) {
        const auto at = static_cast<std::int64_t>(i);
        shift((*tensor)[at], moved[at], draw(rows[i], shift_down_use), draw(rows[i], shift_right_use));
      }
      *tensor = moved;
    }
  };
}

}  // namespace heatpp::nn
