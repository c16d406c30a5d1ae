#include <heatpp/ops/elementwise/detail/convert.hpp>

#include <heatpp/core/detail/torch.hpp>
#include <heatpp/ops/operands/detail/element_type.hpp>

#include <c10/util/TypeCast.h>

namespace heatpp::detail {
namespace {

template <class From, class To>
void convert_run(const void* from, std::int64_t stride, void* to, std::int64_t n) {
  const auto* in = static_cast<const From*>(from);
  auto* out = static_cast<To*>(to);
  if (stride == 1)
    for (std::int64_t i = 0; i < n; ++i) out[i] = c10::convert<To>(in[i]);
  else
    for (std::int64_t i = 0; i < n; ++i) out[i] = c10::convert<To>(in[i * stride]);
}

}  // namespace

Converter converter(Dtype from, Dtype to) {
  return with_element_type(to_torch(from), [to]<class From>() {
    return with_element_type(to_torch(to), []<class To>() -> Converter { return convert_run<From, To>; });
  });
}

}  // namespace heatpp::detail
