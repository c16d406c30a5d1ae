#include "casters.hpp"

#include <ATen/ops/from_blob.h>
#include <nanobind/ndarray.h>

#include <heatpp/interop/torch.hpp>

#include "array.hpp"

namespace heatpp::python {
namespace {

bool is_list(nb::handle object) { return PyList_Check(object.ptr()) || PyTuple_Check(object.ptr()); }

/// Returns a NumPy number or an array without axes as a Python number, and other objects unchanged.
nb::object plain(nb::handle object) {
  const bool of_numpy =
      !PyNumber_Check(object.ptr()) || PyFloat_CheckExact(object.ptr()) || PyLong_CheckExact(object.ptr());
  if (of_numpy || !nb::hasattr(object, "item") || nb::isinstance<DNDarray>(object)) return nb::borrow(object);
  const bool whole = nb::hasattr(object, "ndim") && nb::cast<int>(nb::object(object.attr("ndim"))) > 0;
  return whole ? nb::borrow(object) : nb::object(object.attr("item")());
}

template <class T>
std::vector<T> all_of_list(nb::handle list) {
  std::vector<T> values;
  for (nb::handle item : list) values.push_back(nb::cast<T>(item));
  return values;
}

}  // namespace

template <>
std::optional<Scalar> read(nb::handle object) {
  const nb::object number = plain(object);
  PyObject* value = number.ptr();
  if (PyBool_Check(value)) return Scalar(value == Py_True);
  if (PyLong_Check(value)) {
    int overflow = 0;
    const auto whole = PyLong_AsLongLongAndOverflow(value, &overflow);
    if (!overflow) return Scalar(static_cast<std::int64_t>(whole));
    const auto large = PyLong_AsDouble(value);
    if (large == -1.0 && PyErr_Occurred()) throw nb::python_error();
    return Scalar(large);
  }
  if (PyFloat_Check(value)) return Scalar(PyFloat_AS_DOUBLE(value));
  if (PyComplex_Check(value)) return Scalar(nb::cast<std::complex<double>>(number));
  return {};
}
template <>
nb::object written(const Scalar& value) {
  if (value.is_bool()) return nb::bool_(value.to<bool>());
  if (value.is_integral()) return nb::int_(value.to<std::int64_t>());
  if (value.is_floating()) return nb::float_(value.to<double>());
  return nb::cast(value.to<std::complex<double>>());
}

const DNDarray* array_in(nb::handle object) {
  if (PyFloat_CheckExact(object.ptr()) || PyLong_CheckExact(object.ptr())) return nullptr;  // fast: lists contain many
  const DNDarray* array = nullptr;
  if (nb::try_cast(object, array, false) && array) return array;
  const nb::object inside = nb::getattr(object, "_x", nb::none());  // exists while the array of heatpp.heat does
  return nb::try_cast(inside, array, false) ? array : nullptr;
}

template <>
std::optional<Operand> read(nb::handle object) {
  if (const auto* array = array_in(object)) return Operand(*array);
  const auto number = read<Scalar>(object);
  return number ? std::optional<Operand>(*number) : std::nullopt;
}
template <>
nb::object written(const Operand& value) {
  return value.array() ? nb::cast(*value.array()) : written(value.number());
}
template <>
std::optional<KeptOperand> read(nb::handle object) {
  const auto operand = read<Operand>(object);
  return operand ? std::optional<KeptOperand>(*operand) : std::nullopt;
}
template <>
nb::object written(const KeptOperand& value) {
  return written<Operand>(value);
}

/// Throws if the number does not fit this many bits.
template <class Whole>
Whole read_whole(nb::handle object) {
  const auto value = PyNumber_AsSsize_t(object.ptr(), PyExc_OverflowError);
  if (value == -1 && PyErr_Occurred()) throw nb::python_error();
  if (!std::in_range<Whole>(value)) throw nb::cast_error();
  return static_cast<Whole>(value);
}

/// Reads an integer, or a list or a NumPy array of integers.
template <class T>
std::optional<T> read_extents(nb::handle object) {
  using Whole = typename T::value_type;
  if (nb::isinstance<DNDarray>(object)) return {};
  const bool many =
      is_list(object) || (nb::hasattr(object, "ndim") && nb::cast<int>(nb::object(object.attr("ndim"))) == 1);
  if (!many && !PyIndex_Check(object.ptr())) return {};
  if (!many) return T{read_whole<Whole>(object)};
  T values;
  for (nb::handle item : object) {
    if (!PyIndex_Check(item.ptr())) return {};
    values.push_back(read_whole<Whole>(item));
  }
  return values;
}
template <>
std::optional<Shape> read(nb::handle object) {
  return read_extents<Shape>(object);
}
template <>
nb::object written(const Shape& value) {
  return nb::tuple(nb::cast(std::vector<std::int64_t>(value)));
}
template <>
std::optional<Axes> read(nb::handle object) {
  if (object.is_none()) return Axes(std::nullopt);
  auto axes = read_extents<std::vector<int>>(object);
  return axes ? std::optional<Axes>(std::move(*axes)) : std::nullopt;
}
template <>
nb::object written(const Axes& value) {
  return value.all() ? nb::none() : nb::object(nb::tuple(nb::cast(value.values())));
}

template <>
std::optional<Grid> read(nb::handle object) {
  if (object.is_none()) return Grid();
  if (nb::isinstance<nb::str>(object))
    return nb::cast<std::string>(object) == "balanced" ? std::optional(balanced_grid) : std::nullopt;
  auto ranks = read_extents<std::vector<int>>(object);
  return ranks ? std::optional<Grid>(std::move(*ranks)) : std::nullopt;
}
template <>
nb::object written(const Grid& value) {
  if (value.balanced) return nb::str("balanced");
  return value.empty() ? nb::none() : nb::object(nb::tuple(nb::cast(value.ranks)));
}

// `...` is the split that is not given.
template <>
std::optional<BlockSplit> read(nb::handle object) {
  if (object.is(nb::ellipsis())) return BlockSplit();
  if (object.is_none()) return std::optional<BlockSplit>(std::in_place, std::nullopt);
  if (!PyIndex_Check(object.ptr())) return {};
  return BlockSplit(read_whole<int>(object));
}
template <>
nb::object written(const BlockSplit&) {
  return nb::ellipsis();  // the default is the only one that Python prints
}

template <>
std::optional<Slice> read(nb::handle object) {
  if (!PySlice_Check(object.ptr())) return {};
  const auto end = [&](const char* name) {
    return nb::cast<std::optional<std::int64_t>>(nb::object(object.attr(name)));
  };
  return Slice{end("start"), end("stop"), end("step").value_or(1)};
}
template <>
nb::object written(const Slice& value) {
  return nb::module_::import_("builtins").attr("slice")(value.start, value.stop, value.step);
}

template <>
std::optional<Device> read(nb::handle object) {
  if (object.is_none()) return cpu;
  if (!nb::isinstance<nb::str>(object) && !(nb::hasattr(object, "type") && nb::hasattr(object, "index"))) return {};
  const std::string name = nb::str(object).c_str();  // also accepts torch's devices
  const auto colon = name.find(':');
  const int number = colon == std::string::npos ? 0 : std::stoi(name.substr(colon + 1));
  const auto kind = name.substr(0, colon);
  if (kind == "cuda" || kind == "gpu") return gpu(number);
  return kind == "cpu" ? std::optional<Device>(cpu) : std::nullopt;
}
template <>
nb::object written(const Device& value) {
  return nb::cast(value == cpu ? std::string("cpu") : to_string(value));
}

template <>
std::optional<Piece> read(nb::handle object) {
  if (const auto number = read<Scalar>(object)) return Piece(*number);
  return Piece(nb::cast<std::function<DNDarray(const DNDarray&)>>(object));
}
template <>
nb::object written(const Piece&) {
  return nb::none();
}

template <>
std::optional<Blocks> read(nb::handle object) {
  if (!is_list(object)) {
    const auto operand = read<KeptOperand>(object);
    return operand ? std::optional<Blocks>(*operand) : std::nullopt;
  }
  // Blocks of several parts are made of arrays, or of rows of arrays.
  const bool nested = nb::len(object) > 0 && is_list(object[0]);
  return nested ? Blocks(all_of_list<std::vector<DNDarray>>(object)) : Blocks(all_of_list<DNDarray>(object));
}
template <>
nb::object written(const Blocks&) {
  return nb::none();
}

template <>
std::optional<Choices> read(nb::handle object) {
  Choices choices;
  for (nb::handle item : object) choices.push_back(nb::cast<KeptOperand>(item));
  return choices;
}
template <>
nb::object written(const Choices&) {
  return nb::none();
}

template <>
std::optional<HistogramRange> read(nb::handle object) {
  if (object.is_none()) return HistogramRange();
  const auto ends = nb::cast<std::pair<double, double>>(object);
  return HistogramRange(ends.first, ends.second);
}
template <>
nb::object written(const HistogramRange& value) {
  return value ? nb::cast(*value) : nb::none();
}

template <>
std::optional<linalg::NormOrder> read(nb::handle object) {
  if (nb::isinstance<nb::str>(object)) return linalg::NormOrder(nb::cast<std::string>(object).c_str());
  return linalg::NormOrder(nb::cast<double>(object));
}
template <>
nb::object written(const linalg::NormOrder& value) {
  using Kind = linalg::NormOrder::Kind;
  if (value.kind() == Kind::number) return nb::float_(value.number());
  return nb::str(value.kind() == Kind::frobenius ? "fro" : "nuc");
}

template <>
std::optional<io::Source> read(nb::handle object) {
  if (is_list(object)) {
    std::vector<std::string> names;
    for (const auto& path : all_of_list<std::filesystem::path>(object)) names.push_back(path.string());
    return io::Source(std::move(names));
  }
  return io::Source(nb::cast<std::filesystem::path>(object));
}
template <>
nb::object written(const io::Source& value) {
  return nb::cast(value.names());
}

template <>
std::optional<Target> read(nb::handle object) {
  const DNDarray* array = nullptr;  // read by its caster, so that lists beside it use its precision
  return nb::try_cast(object, array, false) && array ? std::optional<Target>(object) : std::nullopt;
}
template <>
nb::object written(const Target&) {
  return nb::none();
}

template <>
std::optional<Values> read(nb::handle object) {
  const bool other = !nb::isinstance<DNDarray>(object) && !PyType_Check(object.ptr()) &&
                     (nb::hasattr(object, "__array__") || nb::hasattr(object, "__dlpack__"));
  return is_list(object) || PyRange_Check(object.ptr()) || other ? std::optional(Values{object}) : std::nullopt;
}
template <>
nb::object written(const Values& value) {
  return nb::borrow(value.object);
}

template <>
std::optional<at::Tensor> read(nb::handle object) {
  nb::ndarray<nb::device::cpu> shared;
  if (!nb::try_cast(object, shared)) return {};
  const auto type = shared.dtype();
  const char* const kinds[] = {"int", "uint", "float", nullptr, "bfloat", "complex", "bool"};
  if (type.code >= std::size(kinds) || !kinds[type.code]) return {};
  const auto dtype = dtype_named(kinds[type.code] + (type.code == 6 ? "" : std::to_string(type.bits)));
  if (!dtype) return {};
  for (std::size_t i = 0; i < shared.ndim(); ++i)
    if (shared.stride(i) < 0) return {};  // LibTorch has no negative strides
  auto* array = new nb::ndarray<nb::device::cpu>(std::move(shared));
  std::vector<std::int64_t> shape, strides;
  for (std::size_t i = 0; i < array->ndim(); ++i) {
    shape.push_back(static_cast<std::int64_t>(array->shape(i)));
    strides.push_back(array->stride(i));
  }
  const auto release = [array](void*) {
    nb::gil_scoped_acquire gil;
    delete array;
  };
  return at::from_blob(array->data(), shape, strides, release, at::TensorOptions(to_torch(*dtype)));
}
template <>
nb::object written(const at::Tensor& value) {
  if (!value.is_cpu())
    throw TypeError("[larray] got a block on " + value.device().str() +
                    "; expected one on the CPU, as of x.to_device(\"cpu\")");
  if (value.scalar_type() == at::kBFloat16)
    throw TypeError("[numpy] got bfloat16, which NumPy does not have; expected another dtype, as of x.astype(float32)");
  const auto owner =
      nb::capsule(new at::Tensor(value), [](void* kept) noexcept { delete static_cast<at::Tensor*>(kept); });
  const auto sizes = value.sizes(), strides = value.strides();
  const std::vector<std::size_t> shape(sizes.begin(), sizes.end());
  const auto type = value.scalar_type();
  const auto code = type == at::kBool          ? nb::dlpack::dtype_code::Bool
                    : at::isComplexType(type)  ? nb::dlpack::dtype_code::Complex
                    : type == at::kBFloat16    ? nb::dlpack::dtype_code::Bfloat
                    : at::isFloatingType(type) ? nb::dlpack::dtype_code::Float
                    : type == at::kByte        ? nb::dlpack::dtype_code::UInt
                                               : nb::dlpack::dtype_code::Int;
  const nb::dlpack::dtype dtype{static_cast<std::uint8_t>(code), static_cast<std::uint8_t>(8 * value.element_size()),
                                1};
  return nb::cast(nb::ndarray<nb::numpy>(value.data_ptr(), shape.size(), shape.data(), owner, strides.data(), dtype));
}

nb::object named_tuple(const char* name, std::span<const char* const> names) {
  nb::list fields;
  for (const char* field : names) fields.append(field);
  return nb::module_::import_("collections").attr("namedtuple")(name, fields, "module"_a = "heatpp");
}

nb::module_ submodule(nb::module_& root, const char* path) {
  nb::module_ m = root;
  for (std::string rest = path; !rest.empty();) {
    const auto dot = rest.find('.');
    const auto name = rest.substr(0, dot);
    m = nb::hasattr(m, name.c_str()) ? nb::borrow<nb::module_>(m.attr(name.c_str())) : m.def_submodule(name.c_str());
    rest = dot == std::string::npos ? "" : rest.substr(dot + 1);
  }
  return m;
}

}  // namespace heatpp::python
