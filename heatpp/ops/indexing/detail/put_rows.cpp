#include <heatpp/ops/indexing/detail/put_rows.hpp>

#include <ATen/ATen.h>

#include <heatpp/core/detail/plain_type.hpp>

// LibTorch keeps the order of repeated places only if the whole process is set to be deterministic.
namespace heatpp::detail {
namespace {

/// Returns the offsets of a row's elements from its first one, in C order.
at::Tensor distances(at::IntArrayRef extents, at::IntArrayRef strides) {
  auto steps = at::zeros({1}, at::kLong);
  for (std::size_t i = 0; i < extents.size(); ++i)
    steps = (steps.unsqueeze(1) + at::arange(extents[i], at::kLong) * strides[i]).flatten();
  return steps;
}

/// Addresses of elements, counted in elements.
struct Targets {
  at::Tensor rows, elements;
  bool rows_near;  ///< whether memory neighbors belong to other rows
};

template <class T, class F>
void write_each(T* out, const Targets& targets, F value) {
  const auto n = targets.rows.numel(), m = targets.elements.numel();
  const auto *row = targets.rows.const_data_ptr<std::int64_t>(),
             *element = targets.elements.const_data_ptr<std::int64_t>();
  if (targets.rows_near)
    for (std::int64_t j = 0; j < m; ++j)
      for (std::int64_t i = 0; i < n; ++i) out[row[i] + element[j]] = value(i * m + j);
  else
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t j = 0; j < m; ++j) out[row[i] + element[j]] = value(i * m + j);
}

/// Writes rows of elements, or one row to all places.
void write(const at::Tensor& held, const at::Tensor& rows, const Targets& targets) {
  with_plain_type(held.element_size(), [&]<class T>() {
    auto* out = static_cast<T*>(held.mutable_data_ptr());
    const auto* in = static_cast<const T*>(rows.const_data_ptr());
    if (rows.numel() == 1) write_each(out, targets, [number = *in](std::int64_t) { return number; });
    else write_each(out, targets, [in](std::int64_t i) { return in[i]; });
  });
}

/// Returns the last of each group of equal keys, in any order.
at::Tensor last_of_equal(const at::Tensor& keys) {
  const auto [sorted, order] = keys.sort(/*stable=*/true, /*dim=*/0, /*descending=*/false);
  auto last = at::ones(keys.sizes(), keys.options().dtype(at::kBool));
  last.slice(0, 0, -1).copy_(sorted.slice(0, 0, -1) != sorted.slice(0, 1));
  return order.masked_select(last);
}

void index_put(const at::Tensor& held, std::span<const at::Tensor> places, const at::Tensor& rows) {
  c10::List<std::optional<at::Tensor>> list;
  for (const auto& place : places) list.push_back(place);
  held.index_put_(list, rows);
}

}  // namespace

void put_rows(const at::Tensor& held, std::span<const at::Tensor> places, const at::Tensor& rows) {
  if (rows.numel() == 1 && !held.is_cpu()) return index_put(held, places, rows);
  const auto axes = places.size();
  auto keys = at::zeros({}, places.front().options().dtype(at::kLong));
  for (std::size_t axis = 0; axis < axes; ++axis)
    keys = keys + places[axis].to(at::kLong) * held.stride(static_cast<std::int64_t>(axis));
  keys = keys.flatten();
  const auto extents = held.sizes().slice(axes), strides = held.strides().slice(axes);
  if (held.is_cpu()) {
    const bool rows_near = !strides.empty() && strides.back() > held.stride(static_cast<std::int64_t>(axes) - 1);
    return write(held, rows.contiguous(), {keys, distances(extents, strides), rows_near});
  }
  const auto last = last_of_equal(keys);
  std::vector<at::Tensor> kept;
  for (const auto& place : places) kept.push_back(place.flatten().index_select(0, last));
  std::vector<std::int64_t> shape{keys.numel()};
  shape.insert(shape.end(), extents.begin(), extents.end());
  index_put(held, kept, rows.reshape(shape).index_select(0, last.to(rows.device())));
}

}  // namespace heatpp::detail
