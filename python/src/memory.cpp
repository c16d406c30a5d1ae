#include <ATen/dlpack.h>

#include <heatpp/interop/dlpack.hpp>

#include "array.hpp"

// This rank's block, shared with other libraries without a copy.
namespace heatpp::python {
namespace {

const char* buffer_format(Dtype dtype) {
  constexpr const char* formats[dtype_count] = {"?", "B", "b", "h", "i", "q", "e", nullptr, "f", "d", "Zf", "Zd"};
  return formats[static_cast<int>(dtype)];
}

/// What a buffer refers to while it is looked at.
struct Held {
  at::Tensor block;
  std::vector<Py_ssize_t> shape, strides;
};

int get_buffer(PyObject* object, Py_buffer* view, int flags) noexcept {
  try {
    auto& x = nb::cast<DNDarray&>(nb::handle(object));
    const bool writes = (flags & PyBUF_WRITABLE) != 0;
    auto held = std::make_unique<Held>(Held{writes ? x.mutable_larray() : x.larray(), {}, {}});
    const auto size = static_cast<Py_ssize_t>(held->block.element_size());
    for (const auto extent : held->block.sizes()) held->shape.push_back(extent);
    for (const auto stride : held->block.strides()) held->strides.push_back(stride * size);
    const char* format = buffer_format(x.dtype());
    if (!format || !held->block.is_cpu() || ((flags & PyBUF_STRIDES) != PyBUF_STRIDES && !held->block.is_contiguous()))
      throw TypeError("[buffer] got " + std::string(name(x.dtype())) + " on " + to_string(x.device()) +
                      "; expected what buffers can say");
    *view = Py_buffer{held->block.data_ptr(),
                      object,
                      size * held->block.numel(),
                      size,
                      !writes,
                      static_cast<int>(held->block.dim()),
                      const_cast<char*>(format),
                      held->shape.data(),
                      held->strides.data(),
                      nullptr,
                      nullptr};
    view->internal = held.release();
    Py_INCREF(object);
    return 0;
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_BufferError, error.what());
    view->obj = nullptr;
    return -1;
  }
}

void release_buffer(PyObject*, Py_buffer* view) noexcept { delete static_cast<Held*>(view->internal); }

PyType_Slot slots[] = {{Py_bf_getbuffer, reinterpret_cast<void*>(get_buffer)},
                       {Py_bf_releasebuffer, reinterpret_cast<void*>(release_buffer)},
                       {0, nullptr}};

/// A capsule that frees what nobody has taken out of it.
template <class Managed>
nb::object capsule(Managed* tensor, const char* name) {
  return nb::steal(PyCapsule_New(tensor, name, [](PyObject* object) {
    const std::string_view left = PyCapsule_GetName(object);
    if (left.starts_with("used_")) return;
    auto* kept = static_cast<Managed*>(PyCapsule_GetPointer(object, left.data()));
    if (kept->deleter) kept->deleter(kept);
  }));
}

nb::object to_capsule(const DNDarray& x, const nb::object&, std::optional<std::pair<int, int>> max_version,
                      std::optional<std::pair<int, int>> device, std::optional<bool> copied) {
  if (device && *device != std::pair(1, 0) && x.device() == cpu) {
    PyErr_SetString(PyExc_BufferError, "[__dlpack__] got another device; expected the array's");
    throw nb::python_error();
  }
  const auto block = copied.value_or(false) ? copy(x) : x;
  if (max_version && max_version->first >= 1) return capsule(to_dlpack_versioned(block), "dltensor_versioned");
  return capsule(to_dlpack(block), "dltensor");
}

nb::object exported(nb::handle source, std::optional<bool> copied) {
  if (!nb::hasattr(source, "__dlpack__"))
    throw TypeError("[from_dlpack] got an object without __dlpack__; expected one with it");
  try {
    return copied ? source.attr("__dlpack__")("max_version"_a = nb::make_tuple(1, 0), "copy"_a = *copied)
                  : source.attr("__dlpack__")("max_version"_a = nb::make_tuple(1, 0));
  } catch (nb::python_error& error) {
    if (!error.matches(PyExc_TypeError)) throw;
    return source.attr("__dlpack__")();  // of before DLPack 1.0
  }
}

template <class Managed>
DNDarray adopted(nb::handle capsule, const char* name, const char* used, const LocalOptions& options) {
  auto* tensor = static_cast<Managed*>(PyCapsule_GetPointer(capsule.ptr(), name));
  if (!tensor || PyCapsule_SetName(capsule.ptr(), used) != 0) throw nb::python_error();
  nb::gil_scoped_release release;
  return heatpp::from_dlpack(tensor, options);
}

DNDarray from_capsule(nb::handle source, std::optional<int> split, std::optional<Communicator> comm,
                      std::optional<Device> device, std::optional<bool> copied) {
  const auto tensor = exported(source, copied);
  const LocalOptions options{split, std::move(comm)};
  auto x = PyCapsule_IsValid(tensor.ptr(), "dltensor_versioned")
               ? adopted<DLManagedTensorVersioned>(tensor, "dltensor_versioned", "used_dltensor_versioned", options)
               : adopted<DLManagedTensor>(tensor, "dltensor", "used_dltensor", options);
  if (device) return x.to_device(*device);
  return x;  // a copy would be a value, not the memory adopted
}

}  // namespace

std::span<PyType_Slot> memory_slots() { return slots; }

void bind_memory(nb::module_& m, nb::class_<DNDarray>& c) {
  c.def("__dlpack__", to_capsule, nb::kw_only(), "stream"_a = nb::none(), "max_version"_a = nb::none(),
        "dl_device"_a = nb::none(), "copy"_a = nb::none(), "This rank's block.");
  c.def("__dlpack_device__",
        [](const DNDarray& x) { return x.device() == cpu ? std::pair(1, 0) : std::pair(2, x.device().index); });
  c.def_prop_ro(
      "larray", [](DNDarray& x) { return x.mutable_larray(); },
      "This rank's block as a NumPy array that shares its memory, to read and to write.");
  m.def("from_dlpack", from_capsule, "x"_a, "split"_a = nb::none(), "comm"_a = nb::none(), "device"_a = nb::none(),
        "copy"_a = nb::none(),
        "An array of each rank's tensor of another library, adopted without a copy. Collective.");
}

}  // namespace heatpp::python
