#pragma once

#include <heatpp_nn/data/dataset.hpp>

#include "array.hpp"

// Rows for the training of networks.
namespace heatpp::python {
/// The fields of a dict, in its order, which is the order of the network's inputs.
struct FieldList {
  std::vector<std::pair<std::string, KeptOperand>> fields;
};
}  // namespace heatpp::python
template <>
struct nanobind::detail::type_caster<heatpp::python::FieldList> {
  NB_TYPE_CASTER(heatpp::python::FieldList, const_name("dict[str, array]"))
  bool from_python(handle source, std::uint32_t flags, cleanup_list* cleanup) noexcept {
    if (!PyDict_Check(source.ptr())) return false;
    make_caster<decltype(value.fields)> items;
    if (!items.from_python(steal(PyDict_Items(source.ptr())), flags, cleanup)) return false;
    value.fields = std::move(items.value);
    return true;
  }
};

namespace heatpp::python {

/// The inputs or targets of a network: an array, or several by name.
using FieldChoice = std::variant<KeptOperand, FieldList>;
/// Returns the arrays with their names; a single array gets the name `usual`. Throws ValueError for numbers.
[[nodiscard]] std::vector<nn::NamedArray> fields_of(const FieldChoice& choice, const char* usual);
[[nodiscard]] nn::Dataset dataset_of(const FieldChoice& inputs, const FieldChoice& targets);
void bind_datasets(nb::module_& m);

}  // namespace heatpp::python
