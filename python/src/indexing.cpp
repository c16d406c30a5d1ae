#include "array.hpp"

namespace heatpp::python {
namespace {

bool has_axes(nb::handle entry) {
  return nb::hasattr(entry, "ndim") && nb::cast<int>(nb::object(entry.attr("ndim"))) > 0;
}

bool is_basic(nb::handle entry) {
  return PySlice_Check(entry.ptr()) || entry.is_none() || entry.ptr() == Py_Ellipsis ||
         (PyIndex_Check(entry.ptr()) && !PyBool_Check(entry.ptr()) && !nb::isinstance<DNDarray>(entry) &&
          !has_axes(entry));
}

Index entry_of(nb::handle entry) {
  PyObject* object = entry.ptr();
  if (entry.is_none()) return newaxis;
  if (object == Py_Ellipsis) return ellipsis;
  if (PyBool_Check(object)) return object == Py_True;
  if (const auto* array = array_in(entry)) return *array;
  if (const auto slice = read<Slice>(entry)) return *slice;
  const bool is_list = PyList_Check(object) || PyTuple_Check(object);
  if (!is_list && PyIndex_Check(object) && !has_axes(entry)) {
    const auto position = PyNumber_AsSsize_t(object, PyExc_IndexError);
    if (position == -1 && PyErr_Occurred()) throw nb::python_error();
    return static_cast<std::int64_t>(position);
  }
  if (is_list && nb::len(entry) == 0) return std::vector<std::int64_t>();
  if (!read<Values>(entry))
    throw IndexError("[index] got " + nb::cast<std::string>(nb::repr(entry)) +
                     "; expected numbers, slices, ..., None, and lists and arrays of positions or truth values");
  return array_of(entry, {});
}

bool all_basic(nb::handle key) {
  if (!PyTuple_Check(key.ptr())) return is_basic(key);
  for (nb::handle entry : key)
    if (!is_basic(entry)) return false;
  return true;
}

nb::object selected(nb::handle self, nb::handle key) {
  const auto& x = nb::cast<const DNDarray&>(self);
  auto entries = entries_of(key);
  auto part = [&] {
    nb::gil_scoped_release release;
    return x.index(entries);
  }();
  return all_basic(key) ? nb::cast(View(std::move(part), nb::borrow(self), std::move(entries)))
                        : nb::cast(std::move(part));
}

void put(nb::handle self, nb::handle key, nb::handle value) {
  const auto entries = entries_of(key);
  const auto operand = read<Operand>(value);
  const auto given = operand ? KeptOperand(*operand) : KeptOperand(array_of(value, {}, Floats::exact));
  Target(self).change([&](DNDarray& x) { x.index_put(entries, given); });
}

}  // namespace

std::vector<Index> entries_of(nb::handle key) {
  std::vector<Index> entries;
  if (!PyTuple_Check(key.ptr())) return {entry_of(key)};
  for (nb::handle entry : key) entries.push_back(entry_of(entry));
  return entries;
}

void bind_indexing(nb::class_<DNDarray>& c) {
  c.def("__getitem__", selected, "key"_a.none());
  c.def("__setitem__", put, "key"_a.none(), "value"_a.none());
}

}  // namespace heatpp::python
