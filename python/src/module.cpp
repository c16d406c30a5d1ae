#include <heatpp/sparse/dcsr.hpp>

#include "array.hpp"
#include "bindings.hpp"

namespace {
/// Converts arguments of one class to another.
template <class From, class To>
void converts(nb::handle to) {
  nb::borrow<nb::class_<To>>(to).def("__init__", [](To* self, const From& from) { new (self) To(from); });
  nb::implicitly_convertible<From, To>();
}
}  // namespace

NB_MODULE(_heatpp, m) {
  namespace python = heatpp::python;
  using heatpp::linalg::LinearOperator;
  using heatpp::sparse::DCSRMatrix;
  nb::set_leak_warnings(false);           // global arrays exist until the end
  nb::set_implicit_cast_warnings(false);  // other overloads may take objects that are not communicators
  python::bind_dtype(m);
  python::bind_array(m);
  python::bind(m);
  python::bind_ranks(m);
  python::bind_training(m);
  python::warn_by_python();
  const nb::object array = m.attr("DNDarray");
  nb::borrow<nb::class_<heatpp::DNDarray>>(array).def("__init__", [](heatpp::DNDarray* self, python::Values values) {
    const auto* known = python::array_in(values.object);
    new (self) heatpp::DNDarray(known ? *known : python::array_of(values.object, {}));
  });
  nb::implicitly_convertible<python::Values, heatpp::Rows>();
  nb::implicitly_convertible<python::Values, LinearOperator>();
  const nb::object rows = m.attr("Rows"), op = m.attr("linalg").attr("LinearOperator");
  converts<heatpp::DNDarray, heatpp::Rows>(rows);
  converts<DCSRMatrix, heatpp::Rows>(rows);
  converts<heatpp::DNDarray, LinearOperator>(op);
  converts<DCSRMatrix, LinearOperator>(op);
  nb::implicitly_convertible<int, heatpp::io::Compression>();
  nb::implicitly_convertible<std::string, heatpp::io::Compression>();
}
