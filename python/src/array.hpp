#pragma once

#include "casters.hpp"

namespace heatpp::python {

/// Returns the dtype with NumPy's name.
std::optional<Dtype> dtype_named(std::string_view name);

// The parts of the module that are written by hand.
void bind_dtype(nb::module_& m);
void bind_array(nb::module_& m);
void bind_indexing(nb::class_<DNDarray>& c);
/// The buffer protocol.
std::span<PyType_Slot> memory_slots();
void bind_memory(nb::module_& m, nb::class_<DNDarray>& c, nb::class_<View, DNDarray>& view);
void bind_ranks(nb::module_& m);
void bind_training(nb::module_& m);

}  // namespace heatpp::python
