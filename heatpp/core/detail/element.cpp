#include <heatpp/core/detail/element.hpp>

#include <ATen/ScalarOps.h>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/promotion.hpp>

#include <cmath>

namespace heatpp::detail {

void raise_no_int64(std::uint64_t number) {
  raise<ValueError>("Scalar", "got the number {}; expected {} at most", number, INT64_MAX);
}

bool is_in_range(const Scalar& number, Dtype dtype) {
  if (number.is_bool() || number.is_complex() || !is_integral(dtype)) return true;
  const auto limits = iinfo(dtype);
  if (number.is_floating()) {  // a double cannot be the largest int64
    const auto whole = std::trunc(number.to<double>());
    return whole >= static_cast<double>(limits.min) && whole < static_cast<double>(limits.max) + 1;
  }
  const auto value = number.to<std::int64_t>();
  return limits.min <= value && value <= limits.max;
}

void check_in_range(const char* op, const Scalar& number, Dtype dtype) {
  if (is_in_range(number, dtype)) return;
  const auto limits = iinfo(dtype);
  const auto text =
      number.is_floating() ? formatted("{}", number.to<double>()) : formatted("{}", number.to<std::int64_t>());
  raise<ValueError>(op, "got the number {} for an array of {}; expected {} .. {}", text, name(dtype), limits.min,
                    limits.max);
}

void check_real(const char* op, Dtype dtype, const char* what) {
  if (is_complex(dtype)) raise<TypeError>(op, "got {} of {}; expected real numbers", what, name(dtype));
}

void check_real(const char* op, Dtype values, Dtype array) {
  if (is_complex(values) && !is_complex(array))
    raise<TypeError>(op, "got a complex value for an array of {}; expected a real one", name(array));
}

void check_kind(const char* op, Dtype values, Dtype array) {
  if (!can_cast(values, array, Casting::same_kind))
    raise<TypeError>(op, "got values of {} for an array of {}; expected a dtype of its kind", name(values),
                     name(array));
}

void check_number(const char* op, const Scalar& number, Dtype array) {
  check_kind(op, number.is_integral() && is_integral(array) ? array : number.default_dtype(), array);
  check_in_range(op, number, array);
}

at::Scalar element_of(const Scalar& number, Dtype dtype) {
  return c10::scalar_to_tensor(to_torch(number)).to(to_torch(dtype)).item();
}

}  // namespace heatpp::detail
