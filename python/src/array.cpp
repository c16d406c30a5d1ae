#include "array.hpp"

#include <heatpp/core/detail/cuts/layout_of.hpp>
#include <heatpp/core/detail/relayout.hpp>
#include <heatpp/interop/torch.hpp>

namespace heatpp::python {
namespace {

using Released = nb::call_guard<nb::gil_scoped_release>;

std::string one_line(const DNDarray& x) {
  auto text = "<DNDarray " + to_string(x.shape()) + " " + std::string(name(x.dtype())) + " " + cut_text(x.layout());
  if (x.layout().is_cut())
    text += ", block " + to_string(x.lshape()) + " of rank " + std::to_string(x.comm().rank()) + " of " +
            std::to_string(x.comm().size());
  return text + ">";
}

/// Returns x. Throws if it does not have one element, because Python takes only such arrays as numbers.
const DNDarray& single(const DNDarray& x) {
  if (x.size() != 1)
    throw TypeError("[item] got an array of shape " + to_string(x.shape()) + "; expected exactly one element");
  return x;
}

Scalar number_in(const DNDarray& x) {
  if (x.dtype() == bool_) return x.item<bool>();
  if (is_complex(x.dtype())) return x.item<std::complex<double>>();
  return is_floating(x.dtype()) ? Scalar(x.item<double>()) : Scalar(x.item<std::int64_t>());
}

/// Returns all elements, in memory that NumPy owns.
nb::object gathered(const DNDarray& x) {
  const auto block = [&] {
    nb::gil_scoped_release release;
    const auto whole = resplit(x, std::nullopt).larray();
    return whole.to(at::kCPU, whole.scalar_type(), /*non_blocking=*/false, /*copy=*/true);
  }();
  return written(block);
}

template <class F>
auto binary(F f, bool swapped = false) {
  return [=](const DNDarray& a, Operand b) -> DNDarray { return swapped ? f(b, Operand(a)) : f(Operand(a), b); };
}

using Binary = DNDarray (*)(const Operand&, const Operand&);
using Unary = DNDarray (*)(const DNDarray&);

void bind_operators(nb::class_<DNDarray>& c) {
  const std::pair<const char*, Binary> arithmetic[] = {
      {"add", add},         {"sub", subtract},          {"mul", multiply},
      {"truediv", divide},  {"floordiv", floor_divide}, {"mod", remainder},
      {"pow", power},       {"and", bitwise_and},       {"or", bitwise_or},
      {"xor", bitwise_xor}, {"lshift", left_shift},     {"rshift", right_shift}};
  for (const auto& [name, f] : arithmetic) {
    c.def(("__" + std::string(name) + "__").c_str(), binary(f), nb::is_operator(), Released());
    c.def(("__r" + std::string(name) + "__").c_str(), binary(f, true), nb::is_operator(), Released());
  }
  const std::pair<const char*, Binary> comparisons[] = {{"__eq__", eq},      {"__ne__", not_equal},
                                                        {"__lt__", less},    {"__le__", less_equal},
                                                        {"__gt__", greater}, {"__ge__", greater_equal}};
  for (const auto& [name, f] : comparisons) c.def(name, binary(f), nb::is_operator(), Released());
  const std::pair<const char*, Unary> unary[] = {
      {"__neg__", negative}, {"__pos__", positive}, {"__abs__", abs}, {"__invert__", bitwise_not}};
  for (const auto& [name, f] : unary) c.def(name, f, Released());
  using InPlace = DNDarray& (*)(DNDarray&, const Operand&);
  const std::pair<const char*, InPlace> in_place[] = {
      {"__iadd__", add_},         {"__isub__", subtract_},          {"__imul__", multiply_},
      {"__itruediv__", divide_},  {"__ifloordiv__", floor_divide_}, {"__imod__", remainder_},
      {"__ipow__", power_},       {"__iand__", bitwise_and_},       {"__ior__", bitwise_or_},
      {"__ixor__", bitwise_xor_}, {"__ilshift__", left_shift_},     {"__irshift__", right_shift_}};
  for (const auto& [name, f] : in_place)
    c.def(
        name, [f](const Target& x, Operand b) { return x.change([&](DNDarray& array) { f(array, b); }); },
        nb::is_operator());
  c.def(
      "__matmul__", [](const DNDarray& a, const DNDarray& b) { return matmul(a, b); }, nb::is_operator(), Released());
  c.def(
      "__rmatmul__", [](const DNDarray& a, const DNDarray& b) { return matmul(b, a); }, nb::is_operator(), Released());
  c.def(
      "__divmod__", [](const DNDarray& a, Operand b) { return divmod(a, b); }, nb::is_operator(), Released());
  c.def(
      "__rdivmod__", [](const DNDarray& a, Operand b) { return divmod(b, a); }, nb::is_operator(), Released());
}

}  // namespace

/// Whether a list contains heatpp's arrays. NumPy would see only their blocks.
static bool has_array(nb::handle data) {
  if (!PyList_Check(data.ptr()) && !PyTuple_Check(data.ptr())) return false;
  for (nb::handle part : data)
    if (array_in(part) || has_array(part)) return true;
  return false;
}

/// Throws for arrays that other libraries split over the ranks, because NumPy would see only this rank's part.
static void check_whole(nb::handle data) {
  for (const char* part : {"larray", "__partitioned__"})
    if (nb::hasattr(data.type(), part))
      throw TypeError("[array] got " + nb::cast<std::string>(nb::object(data.type().attr("__name__"))) +
                      ", of which each rank has a part; expected values that all ranks have alike, or "
                      "from_local(part, split=axis)");
}

/// Cuts an array as the options say, if they do.
static DNDarray cut_as(const DNDarray& x, const ArrayOptions& options) {
  if (options.grid.empty()) return options.split ? resplit(x, options.split) : x;
  return detail::brought_to(x, detail::layout_of("array", x.shape(), options, x.comm()));
}

DNDarray array_of(nb::handle data, const ArrayOptions& options, Floats floats) {
  const bool cut = options.split || !options.grid.empty();
  std::optional<DNDarray> made;
  auto dtype = options.dtype;
  if (const auto* array = array_in(data)) made = cut ? cut_as(*array, options) : copy(*array);
  else if (has_array(data)) {
    std::vector<DNDarray> parts;
    for (nb::handle part : data)
      if (const auto* beside = array_in(part); beside && is_wide(*beside)) floats = Floats::exact;
    for (nb::handle part : data) parts.push_back(array_of(part, {.comm = options.comm}, floats));
    nb::gil_scoped_release release;
    made = cut_as(stack(parts), options);
  } else {
    check_whole(data);
    const auto numpy = nb::module_::import_("numpy");
    const auto tensor = nb::hasattr(data, "requires_grad") ? read<at::Tensor>(data) : std::nullopt;
    nb::object values = tensor ? nb::borrow(data) : nb::object(numpy.attr("array")(data, "order"_a = "C"));
    if (nb::hasattr(data, "filled")) throw TypeError("[array] got a masked array; expected numbers, as filled() gives");
    auto block = tensor ? std::optional(tensor->clone()) : read<at::Tensor>(values);
    if (!block)  // of another byte order
      block = read<at::Tensor>(values.attr("astype")(values.attr("dtype").attr("newbyteorder")("=")));
    if (!block)
      throw TypeError("[array] got elements of " + nb::cast<std::string>(nb::repr(values.attr("dtype"))) +
                      "; expected bool, uint8, int8 to int64, float16 to float64, complex64 or complex128");
    if (!dtype && floats == Floats::usual && !nb::hasattr(data, "dtype")) {  // Python's numbers promote no dtype
      if (block->is_floating_point()) dtype = get_default_dtype();
      if (block->is_complex()) dtype = Scalar(std::complex<double>()).default_dtype();
    }
    made = from_tensor(*block, {.split = options.split, .grid = options.grid, .comm = options.comm});
    if (cut) made = copy(*made);  // of the block only
  }
  return (dtype ? made->astype(*dtype) : *made).to_device(options.device);
}

nb::object Target::change(const std::function<void(DNDarray&)>& f) const {
  auto& x = nb::cast<DNDarray&>(object_);
  const View* view = nullptr;
  if (nb::try_cast(object_, view) && view)
    // Take the part again, because writes to the base in the meantime must stay.
    Target(view->base).change([&](DNDarray& base) {
      x = std::as_const(base).index(view->entries);
      f(x);
      base.index_put(view->entries, x);
    });
  else {
    nb::gil_scoped_release release;
    f(x);
  }
  return object_;
}

nb::object Target::filled(const std::optional<Target>& out, const std::function<DNDarray(Out)>& f) {
  if (out) return out->change([&](DNDarray& x) { f(Out(x)); });
  auto made = [&] {
    nb::gil_scoped_release release;
    return f(Out());
  }();
  return nb::cast(std::move(made));
}

void bind_array(nb::module_& m) {
  nb::class_<DNDarray> c(m, "DNDarray", nb::type_slots(memory_slots().data()));
  nb::class_<View, DNDarray> view(m, "View", "What x[...] gives: writing to it writes to x, too.");
  bind_indexing(c);
  bind_memory(m, c, view);
  bind_operators(c);
  c.def("__repr__", one_line);
  c.def(
      "__str__", [](const DNDarray& x) { return to_string(x); }, Released(), "All elements, or some. Collective.");
  c.def("__len__", [](const DNDarray& x) {
    if (x.ndim() == 0) throw TypeError("[len] got an array without axes; expected at least one");
    return x.shape()[0];
  });
  c.def("item", number_in, Released(), "The value of an array of one element. Collective.");
  c.def(
      "__bool__", [](const DNDarray& x) { return x.item<bool>(); }, Released());
  c.def("__int__", [](nb::handle x) {
    static_cast<void>(single(nb::cast<const DNDarray&>(x)));
    return nb::int_(x.attr("item")());  // int() refuses complex numbers
  });
  c.def(
      "__float__", [](const DNDarray& x) { return single(x).item<double>(); }, Released());
  c.def(
      "__complex__", [](const DNDarray& x) { return single(x).item<std::complex<double>>(); }, Released());
  c.def("__index__", [](const DNDarray& x) {
    if (!is_integral(x.dtype()))
      throw TypeError("[index] got " + std::string(name(x.dtype())) + "; expected whole numbers");
    return single(x).item<std::int64_t>();
  });
  c.def("numpy", gathered, "All elements as a NumPy array, on every rank. Collective.");
  c.def(
      "tolist",
      [](const DNDarray& x) {  // NumPy has no bfloat16
        return gathered(x.dtype() == bfloat16 ? x.astype(float32) : x).attr("tolist")();
      },
      "All elements as nested lists. Collective.");
  c.def_prop_ro("T", [](const DNDarray& x) { return transpose(x); });
  c.def_prop_ro("mT", [](const DNDarray& x) { return matrix_transpose(x); });
  c.def_prop_ro("real", [](const DNDarray& x) { return real(x); });
  c.def_prop_ro("imag", [](const DNDarray& x) { return imag(x); });
  c.def_prop_ro("itemsize", [](const DNDarray& x) { return itemsize(x.dtype()); });
  c.def_prop_ro(
      "grid", [](const DNDarray& x) { return nb::tuple(nb::cast(x.grid())); },
      "The ranks along each axis: 1 along those that are not cut.");
  c.def_prop_ro("nbytes", [](const DNDarray& x) { return nbytes(x); });
  const auto array = [](nb::handle data, std::optional<Dtype> dtype, std::optional<int> split, Device device,
                        std::optional<Communicator> comm, const Grid& grid) {
    return array_of(data, {dtype, split, grid, device, comm});
  };
  m.def("array", array, "Numbers, lists or arrays that all ranks give alike, as an array with memory of its own.",
        "data"_a, "dtype"_a = nb::none(), "split"_a = nb::none(), "device"_a = cpu, "comm"_a = nb::none(),
        "grid"_a = Grid());
}

}  // namespace heatpp::python
