#include "array.hpp"

namespace heatpp::python {
namespace {

/// A dtype in Python: one object for each.
struct DtypeObject {
  Dtype value;
};

const nb::object& object_of(Dtype dtype) {
  static const auto& objects = *new std::vector<nb::object>([] {
    std::vector<nb::object> made;
    for (int i = 0; i < dtype_count; ++i) made.push_back(nb::cast(DtypeObject{static_cast<Dtype>(i)}));
    return made;
  }());
  return objects[static_cast<std::size_t>(dtype)];
}

std::string text(Dtype dtype) { return std::string(name(dtype)); }

}  // namespace

std::optional<Dtype> dtype_named(std::string_view wanted) {
  for (int i = 0; i < dtype_count; ++i)
    if (name(static_cast<Dtype>(i)) == wanted) return static_cast<Dtype>(i);
  if (wanted == "int") return int64;
  if (wanted == "float") return float64;
  return wanted == "complex" ? std::optional(complex128) : std::nullopt;
}

/// Takes a dtype of heatpp or torch, or anything that NumPy accepts as one: a dtype, a name, a type of Python or NumPy.
template <>
std::optional<Dtype> read(nb::handle object) {
  DtypeObject* ours = nullptr;
  if (nb::try_cast(object, ours) && ours) return ours->value;
  if (object.is_none() || PyNumber_Check(object.ptr())) return {};
  const std::string type = nb::str(object).c_str();
  if (type.starts_with("torch.")) return dtype_named(type.substr(6));
  if (nb::isinstance<nb::str>(object))
    if (const auto known = dtype_named(type)) return known;
  return dtype_named(
      nb::cast<std::string>(nb::object(nb::module_::import_("numpy").attr("dtype")(object).attr("name"))));
}
template <>
nb::object written(const Dtype& value) {
  return object_of(value);
}

void bind_dtype(nb::module_& m) {
  nb::class_<DtypeObject>(m, "dtype", "The type of an array's elements, by NumPy's names.")
      .def(
          "__init__", [](DtypeObject* self, Dtype value) { new (self) DtypeObject{value}; }, "of"_a)
      .def_prop_ro("name", [](const DtypeObject& self) { return text(self.value); })
      .def_prop_ro(
          "dtype",
          [](const DtypeObject& self) { return nb::module_::import_("numpy").attr("dtype")(text(self.value)); },
          "NumPy's, which has no bfloat16.")
      .def_prop_ro("itemsize", [](const DtypeObject& self) { return itemsize(self.value); })
      .def_prop_ro("kind",
                   [](const DtypeObject& self) {
                     const auto dtype = self.value;
                     return dtype == bool_       ? "b"
                            : dtype == uint8     ? "u"
                            : is_integral(dtype) ? "i"
                            : is_complex(dtype)  ? "c"
                                                 : "f";
                   })
      .def(
          "__eq__", [](const DtypeObject& self, Dtype other) { return self.value == other; }, nb::is_operator())
      .def("__hash__", [](const DtypeObject& self) { return nb::hash(nb::cast(text(self.value))); })
      .def("__str__", [](const DtypeObject& self) { return text(self.value); })
      .def("__repr__", [](const DtypeObject& self) { return "heatpp." + text(self.value); })
      .def("__reduce__", [](const DtypeObject& self) {
        return nb::make_tuple(nb::cast(self).type(), nb::make_tuple(text(self.value)));
      });
  for (int i = 0; i < dtype_count; ++i) {
    const auto dtype = static_cast<Dtype>(i);
    m.attr(text(dtype).c_str()) = object_of(dtype);
  }
  m.attr("bool_") = object_of(bool_);
}

}  // namespace heatpp::python
