#include <heatpp/ops/indexing/detail/compress.hpp>

#include <ATen/ATen.h>

#include <heatpp/core/detail/plain_type.hpp>
#include <heatpp/ops/elementwise/detail/run_blocks.hpp>
#include <heatpp/ops/operands/detail/index_list.hpp>

#include <algorithm>
#include <cstring>

namespace heatpp::detail {
namespace {

/// Every element is written, and only kept ones advance the end. So there is no branch to predict. `out` has room for
/// one more. Masks are often equal over long runs, where eight elements are copied or skipped at once.
template <class T>
void keep_elements(const T* in, const bool* mask, std::int64_t n, T* out) {
  constexpr std::int64_t group = 8, few = std::min<std::int64_t>(group, 16 / sizeof(T));  // in one register
  constexpr std::uint64_t all = 0x0101010101010101;
  std::int64_t i = 0;
  for (; i + group <= n; i += group) {
    std::uint64_t truths = 0;
    std::memcpy(&truths, mask + i, group);
    if (truths == 0) continue;
    if (truths == all) {
      for (std::int64_t j = 0; j < group; j += few) std::memcpy(out + j, in + i + j, few * sizeof(T));
      out += group;
      continue;
    }
    for (auto j = i; j < i + group; ++j) {
      *out = in[j];
      out += mask[j];
    }
  }
  for (; i < n; ++i) {
    *out = in[i];
    out += mask[i];
  }
}

void keep_rows(const std::byte* in, const bool* mask, std::int64_t n, std::int64_t bytes, std::byte* out) {
  for (std::int64_t i = 0; i < n; ++i) {
    if (!mask[i]) continue;
    std::memcpy(out, in + i * bytes, static_cast<std::size_t>(bytes));
    out += bytes;
  }
}

/// Returns `in` where the mask is true, else `out`, by bits, because g++ compiles a condition to a branch.
template <class T>
T chosen(T in, T out, bool mask) {
  return static_cast<T>(out ^ ((out ^ in) & static_cast<T>(-static_cast<T>(mask))));
}
Wide chosen(Wide in, Wide out, bool mask) {
  return {{chosen(in.parts[0], out.parts[0], mask), chosen(in.parts[1], out.parts[1], mask)}};
}

/// Writes elements back. Each element is read at every place, until the mask is true.
template <class T>
void write_elements(const T* in, const bool* mask, std::int64_t count, T* out) {
  for (const auto* const end = in + count; in != end; ++out) {
    *out = chosen(*in, *out, *mask);
    in += *mask++;
  }
}

void write_rows(const std::byte* in, const bool* mask, std::int64_t count, std::int64_t bytes, std::byte* out) {
  for (const auto* const end = in + count * bytes; in != end; out += bytes) {
    if (!*mask++) continue;
    std::memcpy(out, in, static_cast<std::size_t>(bytes));
    in += bytes;
  }
}

/// Whether the block's elements are contiguous along the mask's axes, as those of the mask are.
bool is_plain(const at::Tensor& block, std::int64_t axis, const at::Tensor& mask) {
  return axis == 0 && block.is_cpu() && mask.is_cpu() && block.is_contiguous() && mask.is_contiguous();
}

std::int64_t bytes_of_row(const at::Tensor& block, const at::Tensor& mask) {
  return block.element_size() * c10::multiply_integers(block.sizes().slice(static_cast<std::size_t>(mask.dim())));
}

/// Writes the positions of true elements along all axes, a row for each, as keep_elements does.
void write_places(const bool* mask, at::IntArrayRef extents, std::int64_t* out) {
  const auto axes = static_cast<std::int64_t>(extents.size()), last = axes - 1;
  std::vector<std::int64_t> place(extents.size(), 0);
  for (auto rows = c10::multiply_integers(extents) / extents.back(); rows > 0; --rows) {
    for (std::int64_t i = 0; i < extents.back(); ++i) {
      for (std::int64_t axis = 0; axis < last; ++axis) out[axis] = place[static_cast<std::size_t>(axis)];
      out[last] = i;
      out += axes * *mask++;
    }
    for (auto axis = extents.size() - 1; axis-- > 0 && ++place[axis] == extents[axis];) place[axis] = 0;
  }
}

}  // namespace

std::int64_t count_true(const at::Tensor& mask) {
  if (mask.is_cpu() && mask.is_contiguous()) return runs::count_true(mask);
  return at::count_nonzero(mask).item<std::int64_t>();
}

at::Tensor places_of(const at::Tensor& mask) {
  if (!mask.is_cpu() || !mask.is_contiguous() || mask.numel() == 0 || mask.dim() == 0) return at::nonzero(mask);
  const auto count = runs::count_true(mask);
  auto places = at::empty({count + 1, mask.dim()}, at::kLong);  // one more may be written
  write_places(mask.const_data_ptr<bool>(), mask.sizes(), places.mutable_data_ptr<std::int64_t>());
  return places.narrow(0, 0, count);
}

at::Tensor compressed(const at::Tensor& block, std::int64_t axis, const at::Tensor& mask) {
  if (!is_plain(block, axis, mask)) return at::index(block, index_list(axis, mask));
  const auto* wanted = mask.const_data_ptr<bool>();
  const auto count = runs::count_true(mask);
  const auto bytes = bytes_of_row(block, mask);
  const bool in_vain = with_plain_type(bytes, []<class T>() {});  // one more element may be written at the end
  auto shape = block.sizes().slice(static_cast<std::size_t>(mask.dim())).vec();
  shape.insert(shape.begin(), count + (in_vain ? 1 : 0));
  auto kept = at::empty(shape, block.options());
  const auto* in = static_cast<const std::byte*>(block.const_data_ptr());
  auto* out = static_cast<std::byte*>(kept.mutable_data_ptr());
  const auto keep = [&]<class T>() {
    keep_elements(reinterpret_cast<const T*>(in), wanted, mask.numel(), reinterpret_cast<T*>(out));
  };
  if (bytes > 0 && !with_plain_type(bytes, keep)) keep_rows(in, wanted, mask.numel(), bytes, out);
  return kept.narrow(0, 0, count);
}

void write_compressed(const at::Tensor& block, std::int64_t axis, const at::Tensor& mask, const at::Tensor& elements) {
  if (!is_plain(block, axis, mask)) {
    block.index_put_(index_list(axis, mask), elements);
    return;
  }
  const auto given = elements.contiguous();
  const auto* wanted = mask.const_data_ptr<bool>();
  const auto* in = static_cast<const std::byte*>(given.const_data_ptr());
  auto* out = static_cast<std::byte*>(block.mutable_data_ptr());
  const auto write = [&]<class T>() {
    write_elements(reinterpret_cast<const T*>(in), wanted, given.size(0), reinterpret_cast<T*>(out));
  };
  const auto bytes = bytes_of_row(block, mask);
  if (!with_plain_type(bytes, write)) write_rows(in, wanted, given.size(0), bytes, out);
}

void fill_compressed(const at::Tensor& block, std::int64_t axis, const at::Tensor& mask, const at::Tensor& value) {
  if (mask.dim() == block.dim()) runs::masked_fill(block, mask, value);
  else block.index_put_(index_list(axis, mask), value);
}

}  // namespace heatpp::detail
