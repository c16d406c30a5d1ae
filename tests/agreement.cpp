#include "agreement.hpp"

#include <limits>
#include <sstream>

namespace {

std::string kind_of(const at::Tensor& x) {
  std::ostringstream text;
  text << x.scalar_type() << " of shape " << x.sizes();
  return text.str();
}

/// Names the element at `index`, with all digits.
std::string element(const at::Tensor& x, const at::Tensor& index) {
  auto found = x;
  for (std::int64_t axis = 0; axis < index.numel(); ++axis) found = found[index[axis].item<std::int64_t>()];
  std::ostringstream text;
  text.precision(std::numeric_limits<double>::max_digits10);
  text << found.item();
  return text.str();
}

/// Names the first place where the mask is false, and the value there.
struct FirstWrong {
  at::Tensor index;
  std::string text;
  FirstWrong(const at::Tensor& values, const at::Tensor& mask, const char* verb) {
    const auto wrong = mask.logical_not().nonzero();
    index = wrong[0];
    std::ostringstream out;
    out << wrong.size(0) << " of " << values.numel() << " elements " << verb << ", first that at (";
    for (std::int64_t axis = 0; axis < wrong.size(1); ++axis)
      out << (axis > 0 ? ", " : "") << wrong[0][axis].item<std::int64_t>();
    out << "): got " << element(values, index);
    text = out.str();
  }
};

}  // namespace

Agreement compared(const at::Tensor& got, const at::Tensor& expected,
                   const std::function<at::Tensor(const at::Tensor& got, const at::Tensor& expected)>& right) {
  if (got.scalar_type() != expected.scalar_type() || got.sizes() != expected.sizes())
    return {false, "got " + kind_of(got) + "; expected " + kind_of(expected)};
  const auto mask = right(got, expected);
  if (mask.all().item<bool>()) return {};
  const FirstWrong wrong(got, mask, "differ");
  return {false, wrong.text + "; expected " + element(expected, wrong.index)};
}

Agreement for_all(const at::Tensor& values, const at::Tensor& holds) {
  if (values.sizes() != holds.sizes()) return {false, "got " + kind_of(values) + " and " + kind_of(holds)};
  if (holds.all().item<bool>()) return {};
  return {false, FirstWrong(values, holds, "break the condition").text};
}

Agreement each_is(const at::Tensor& got, const at::Scalar& expected) {
  return compared(got, at::full_like(got, expected), [](const at::Tensor& x, const at::Tensor& y) {
    return x.eq(y).logical_or(x.isnan().logical_and(y.isnan()));
  });
}

Agreement equals(const at::Tensor& got, const at::Tensor& expected) {
  return compared(got, expected, [](const at::Tensor& x, const at::Tensor& y) { return x == y; });
}

Agreement near_to(const at::Tensor& got, const at::Tensor& expected, double relative, double absolute, bool equal_nan) {
  const auto right = [&](const at::Tensor& x, const at::Tensor& y) {
    return at::isclose(x, y, relative, absolute, equal_nan);
  };
  if (!at::are_expandable(got.sizes(), expected.sizes())) return compared(got, expected, right);
  const auto both = at::broadcast_tensors({got, expected});
  return compared(both[0], both[1], right);
}

Agreement equal(const std::vector<at::Tensor>& got, const std::vector<at::Tensor>& expected) {
  if (got.size() != expected.size())
    return {false, "got " + std::to_string(got.size()) + " tensors; expected " + std::to_string(expected.size())};
  for (std::size_t i = 0; i < got.size(); ++i)
    if (auto found = equals(got[i], expected[i]); !found)
      return {false, "tensor " + std::to_string(i) + ": " + found.difference};
  return {};
}
