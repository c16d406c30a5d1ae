#include <ATen/dlpack.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <heatpp/core/detail/ownership.hpp>
#include <heatpp/interop/dlpack.hpp>

#include "array.hpp"

// This rank's block, shared with other libraries without a copy.
namespace heatpp::python {
namespace {

const char* buffer_format(Dtype dtype) {
  constexpr const char* formats[dtype_count] = {"?", "B", "b", "h", "i", "q", "e", nullptr, "f", "d", "Zf", "Zd"};
  return formats[static_cast<int>(dtype)];
}

/// The array to which a buffer refers while it exists.
struct Held {
  at::Tensor block;
  std::vector<Py_ssize_t> shape, strides;
};

/// Returns this rank's block, for reading and writing while the array holds it.
const at::Tensor& lent(DNDarray& x) {
  detail::lend("larray", x);
  return x.larray();
}

/// Whether the block has the layout that a buffer request asks for: C order if it asks for no strides.
bool lies_as_asked(const Py_buffer& view, int flags) {
  const auto asks = [flags](int kind) { return (flags & kind) == kind; };
  if (asks(PyBUF_C_CONTIGUOUS) || !asks(PyBUF_STRIDES)) return PyBuffer_IsContiguous(&view, 'C') != 0;
  if (asks(PyBUF_F_CONTIGUOUS)) return PyBuffer_IsContiguous(&view, 'F') != 0;
  return !asks(PyBUF_ANY_CONTIGUOUS) || PyBuffer_IsContiguous(&view, 'A') != 0;
}

int get_buffer(PyObject* object, Py_buffer* view, int flags) noexcept {
  try {
    auto& x = nb::cast<DNDarray&>(nb::handle(object));
    const bool writes = (flags & PyBUF_WRITABLE) != 0;
    if (writes && nb::isinstance<View>(nb::handle(object)))
      throw TypeError("[buffer] got x[...] to write to, whose elements may have moved; expected x, or x[...] = values");
    auto held = std::make_unique<Held>(Held{writes ? lent(x) : x.larray(), {}, {}});
    const auto size = static_cast<Py_ssize_t>(held->block.element_size());
    for (const auto extent : held->block.sizes()) held->shape.push_back(extent);
    for (const auto stride : held->block.strides()) held->strides.push_back(stride * size);
    const char* format = buffer_format(x.dtype());
    if (!format || !held->block.is_cpu())
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
    if (!lies_as_asked(*view, flags))
      throw TypeError("[buffer] got a block with strides; expected one whose elements follow one another, as copy(x)");
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

/// Returns a capsule that frees its content if no consumer has taken it.
template <class Managed>
nb::object capsule(Managed* tensor, const char* name) {
  return nb::steal(PyCapsule_New(tensor, name, [](PyObject* object) {
    const std::string_view left = PyCapsule_GetName(object);
    if (left.starts_with("used_")) return;
    auto* kept = static_cast<Managed*>(PyCapsule_GetPointer(object, left.data()));
    if (kept->deleter) kept->deleter(kept);
  }));
}

[[noreturn]] void refuse(const char* text) {
  PyErr_SetString(PyExc_BufferError, text);
  throw nb::python_error();
}

std::pair<int, int> device_of(const DNDarray& x) {
  return x.device() == cpu ? std::pair(1, 0) : std::pair(2, x.device().index);
}

/// Marks read-only arrays as such: a part x[...], or memory that was adopted read-only. Tensors before DLPack 1.0
/// cannot express this.
nb::object to_capsule(nb::handle self, const nb::object&, std::optional<std::pair<int, int>> max_version,
                      std::optional<std::pair<int, int>> device, std::optional<bool> copied) {
  auto& x = nb::cast<DNDarray&>(self);
  const bool moves = device && *device != device_of(x), copies = moves || copied.value_or(false);
  const bool reads = !copies && (nb::isinstance<View>(self) || !x.is_writable());
  const bool versioned = max_version && max_version->first >= 1;
  if (moves && (*device != std::pair(1, 0) || copied == false))
    refuse("[__dlpack__] got another device; expected the array's, or the CPU where it may be copied");
  if (reads && !versioned)
    refuse("[__dlpack__] got an array to read; expected max_version=(1, 0), by which it can say so, or copy=True");
  if (!copies && x.is_writable()) static_cast<void>(lent(x));
  const auto made = copies ? std::optional(moves ? x.to_device(cpu) : copy(x)) : std::nullopt;
  const auto& block = made ? *made : x;
  // The consumer may use another stream than the one that computes the block.
  if (block.device() != cpu) c10::impl::VirtualGuardImpl(at::kCUDA).getStream(block.larray().device()).synchronize();
  if (!versioned) return capsule(to_dlpack(block), "dltensor");
  auto* const tensor = to_dlpack_versioned(block);
  if (reads) tensor->flags |= DLPACK_FLAG_BITMASK_READ_ONLY;
  return capsule(tensor, "dltensor_versioned");
}

nb::object exported(nb::handle source, std::optional<bool> copied) {
  if (!nb::hasattr(source, "__dlpack__"))
    throw TypeError("[from_dlpack] got an object without __dlpack__; expected one with it");
  try {
    return copied ? source.attr("__dlpack__")("max_version"_a = nb::make_tuple(1, 0), "copy"_a = *copied)
                  : source.attr("__dlpack__")("max_version"_a = nb::make_tuple(1, 0));
  } catch (nb::python_error& error) {
    if (!error.matches(PyExc_TypeError)) throw;
    return source.attr("__dlpack__")();  // libraries before DLPack 1.0
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
                      std::optional<Device> device, std::optional<bool> copied, const Grid& grid) {
  const auto tensor = exported(source, copied);
  const LocalOptions options{split, grid, std::move(comm)};
  auto x = PyCapsule_IsValid(tensor.ptr(), "dltensor_versioned")
               ? adopted<DLManagedTensorVersioned>(tensor, "dltensor_versioned", "used_dltensor_versioned", options)
               : adopted<DLManagedTensor>(tensor, "dltensor", "used_dltensor", options);
  if (device) return x.to_device(*device);
  return x;  // a copy would be a value, not the adopted memory
}

}  // namespace

std::span<PyType_Slot> memory_slots() { return slots; }

void bind_memory(nb::module_& m, nb::class_<DNDarray>& c, nb::class_<View, DNDarray>& view) {
  c.def("__dlpack__", to_capsule, nb::kw_only(), "stream"_a = nb::none(), "max_version"_a = nb::none(),
        "dl_device"_a = nb::none(), "copy"_a = nb::none(), "This rank's block.");
  c.def("__dlpack_device__", device_of);
  c.def_prop_ro(
      "larray", [](DNDarray& x) { return written(lent(x)); },
      "This rank's block as a NumPy array that shares its memory, to read and to write.");
  view.def_prop_ro(
      "larray",
      [](const View& x) {
        auto block = written(x.larray());
        block.attr("setflags")("write"_a = false);
        return block;
      },
      "This rank's block as a NumPy array to read: what is selected may have moved, and is written by x[...] = "
      "values.");
  m.def("from_dlpack", from_capsule, "x"_a, "split"_a = nb::none(), "comm"_a = nb::none(), "device"_a = nb::none(),
        "copy"_a = nb::none(), "grid"_a = Grid(),
        "An array of each rank's tensor of another library, adopted without a copy. Collective.");
}

}  // namespace heatpp::python
