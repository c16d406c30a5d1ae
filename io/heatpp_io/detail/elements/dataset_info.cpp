#include <heatpp_io/detail/elements/dataset_info.hpp>

#include <ATen/ATen.h>

#include <heatpp/comm/detail/raise.hpp>

#include <algorithm>
#include <limits>

namespace heatpp::io::detail {

using heatpp::detail::raise;

namespace {

template <class Float>
at::Tensor as_floats(const at::Tensor& values, at::ScalarType type) {
  const auto from = values.contiguous();
  auto floats = at::empty(values.sizes(), type);
  const auto* const numbers = from.const_data_ptr<std::int64_t>();
  std::transform(numbers, numbers + from.numel(), floats.data_ptr<Float>(),
                 [](std::int64_t number) { return static_cast<Float>(static_cast<std::uint64_t>(number)); });
  return floats;
}

}  // namespace

std::int64_t checked_bytes(const Shape& shape, std::int64_t itemsize, const std::string& what, const char* op) {
  if (shape.size() > max_ndim)
    raise<IoError>(op, "got {} with {} axes; expected at most {}", what, shape.size(), max_ndim);
  auto room = std::numeric_limits<std::int64_t>::max() / std::max<std::int64_t>(1, itemsize);
  auto bytes = itemsize;
  for (const auto extent : shape) {
    if (extent < 0 || extent > room)
      raise<IoError>(op, "got {} of shape {}; expected less than 2^63 bytes", what, to_string(shape));
    if (extent > 0) room /= extent;
    bytes *= extent;
  }
  return bytes;
}

void raise_overflow(const std::string& path, const char* op) {
  raise<ValueError>(op,
                    "got unsigned numbers of 2^63 and more in \"{}\"; expected numbers that int64 can hold, "
                    "or a dtype of floats, as float64",
                    path);
}

void copy_uint64(const at::Tensor& values, const at::Tensor& out, const std::string& path, const char* op) {
  if (out.scalar_type() == at::kUInt64) {
    out.view(at::kLong).copy_(values);
    return;
  }
  if (!values.lt(0).any().item<bool>()) {
    if (!values.is_same(out)) out.copy_(values);
    return;
  }
  const auto type = c10::toRealValueType(out.scalar_type());
  if (!c10::isFloatingType(type)) raise_overflow(path, op);
  out.copy_(type == at::kDouble ? as_floats<double>(values, at::kDouble) : as_floats<float>(values, at::kFloat));
}

}  // namespace heatpp::io::detail
