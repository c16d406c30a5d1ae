#include <heatpp_io/detail/elements/decoded_numbers.hpp>

#include <ATen/ATen.h>

#include <heatpp/core/detail/torch.hpp>
#include <heatpp/core/promotion.hpp>

#include <cmath>

namespace heatpp::io::detail {
namespace {

using heatpp::detail::to_torch;

at::Scalar number_of(const Scalar& number) {
  if (number.is_complex()) return c10::complex<double>(number.to<std::complex<double>>());
  if (number.is_integral()) return number.to<std::int64_t>();
  return number.to<double>();
}

/// Returns whole numbers with the sign that `_Unsigned` gives them.
at::Tensor signed_as_said(const Decoding& decoding, const at::Tensor& stored) {
  if (!decoding.is_turned() || decoding.stored.bytes == 8) return stored;
  const auto wanted = to_torch(whole_dtype(decoding.stored.bytes, decoding.is_unsigned));
  if (decoding.stored.bytes == 1) return stored.view(wanted);
  if (!decoding.is_unsigned) return stored.to(wanted);  // which keeps the low bits
  return at::bitwise_and(stored.to(wanted), (std::int64_t{1} << (8 * decoding.stored.bytes)) - 1);
}

/// Returns a mask of the missing numbers; undefined if none can be missing.
at::Tensor missing_among(const Decoding& decoding, const at::Tensor& numbers) {
  at::Tensor missing;
  const auto add = [&](at::Tensor here) { missing = missing.defined() ? missing.logical_or_(here) : std::move(here); };
  for (const auto& number : decoding.missing) add(at::eq(numbers, number_of(number)));
  if (decoding.lowest) add(at::lt(numbers, number_of(*decoding.lowest)));
  if (decoding.highest) add(at::gt(numbers, number_of(*decoding.highest)));
  return missing;
}

}  // namespace

at::Tensor decoded_numbers(const Decoding& decoding, const at::Tensor& stored, const std::string& path,
                           const char* op) {
  if (decoding.is_flag()) return at::ne(stored, 0);
  auto numbers = signed_as_said(decoding, stored);
  if (is_whole(decoding.dtype)) {
    if (decoding.element().may_overflow && numbers.lt(0).any().item<bool>()) raise_overflow(path, op);
    return numbers;
  }
  if (is_whole(decoding.stored.element.dtype) && decoding.is_unsigned && decoding.stored.bytes == 8)
    numbers = numbers.view(at::kUInt64).to(at::kDouble);
  const auto missing = missing_among(decoding, numbers);
  auto meant = numbers.to(to_torch(decoding.dtype));
  if (decoding.scale) meant.mul_(*decoding.scale);
  if (decoding.offset) meant.add_(*decoding.offset);
  if (!missing.defined()) return meant;
  return is_complex(decoding.dtype) ? meant.masked_fill_(missing, c10::complex<double>(NAN, NAN))
                                    : meant.masked_fill_(missing, NAN);
}

}  // namespace heatpp::io::detail
