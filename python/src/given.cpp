#include "given.hpp"

#include "array.hpp"

namespace heatpp::python {

bool is_wide(const DNDarray& x) {
  const auto met = promote_types(x.dtype(), float32);
  return met == float64 || met == complex128;
}

std::optional<DNDarray> Given::read(nb::handle source) {
  floats_of_python_ = false;
  if (const auto* known = array_in(source)) return *known;
  if (!python::read<Values>(source) && !python::read<Scalar>(source)) return {};
  auto made = array_of(source, {}, Floats::exact);
  floats_of_python_ = !nb::hasattr(source, "dtype") && (is_floating(made.dtype()) || is_complex(made.dtype()));
  return made;
}

void Given::settle(DNDarray& x) {
  if (!floats_of_python_) return;
  floats_of_python_ = false;
  const auto real = get_default_dtype();
  if (!exact) x = x.astype(is_complex(x.dtype()) ? promote_types(real, complex64) : real);
}

void Given::beside(const DNDarray& x) {
  if (living > 0 && is_wide(x)) exact = true;
}

}  // namespace heatpp::python
