#pragma once

#include <ATen/core/Tensor.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/complex.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <heatpp/heatpp.hpp>
#include <heatpp/ml/decomposition/pca.hpp>
#include <heatpp/ml/tree/hist_gradient_boosting.hpp>
#include <heatpp_io/compression.hpp>
#include <heatpp_io/source.hpp>
#include <tuple>

namespace nb = nanobind;

// Conversion of arguments and results between the languages.
namespace heatpp::python {
using namespace nb::literals;

/// The names of an enum's values, which count from 0.
template <class T>
struct Names;
/// The names of a struct's members, and the members.
template <class T>
struct Fields;
template <class T>
concept Fielded = requires {
  Fields<T>::names;
};

/// The array argument of a function in place. If it is a view, the result is written to its base, too.
class Target {
 public:
  explicit Target(nb::handle object) : object_(nb::borrow(object)) {}
  nb::object change(const std::function<void(DNDarray&)>& f) const;
  /// Returns the result of f, in the array or in a new one.
  static nb::object filled(const std::optional<Target>& out, const std::function<DNDarray(Out)>& f);

 private:
  nb::object object_;
};

/// The result of `x[...]`: an array that knows its origin, so that writing to it writes there, as in NumPy.
struct View : DNDarray {
  View(DNDarray part, nb::object of, std::vector<Index> at)
      : DNDarray(std::move(part)), base(std::move(of)), entries(std::move(at)) {}
  nb::object base;
  std::vector<Index> entries;
};

/// A value that `read` makes from an argument, and `written` converts to a result; both hold the GIL. `read` returns
/// nullopt if the argument is no such value.
template <class T>
std::optional<T> read(nb::handle object);
template <class T>
nb::object written(const T& value);

/// Lists, tuples, and arrays of other libraries that array() accepts; equal on all ranks.
struct Values {
  nb::handle object;
};
template <>
std::optional<Values> read(nb::handle object);

/// Returns a heatpp array, or the one inside an array of heatpp.heat; nullptr for anything else.
const DNDarray* array_in(nb::handle object);

/// The dtype of Python's floats: the default one, or float64.
enum class Floats { usual, exact };

/// Returns numbers, lists or arrays that are equal on all ranks as an array with memory of its own. Throws TypeError
/// for arrays of other libraries that are split over the ranks.
DNDarray array_of(nb::handle data, const ArrayOptions& options, Floats floats = Floats::usual);

/// Returns the entries of `x[entries]`.
std::vector<Index> entries_of(nb::handle key);

/// The interface that nanobind requires of a type's conversion.
template <class T>
struct Caster {
  using Value = T;
  template <class U>
  using Cast = nb::detail::movable_cast_t<U>;
  template <class U>
  static constexpr bool can_cast() {
    return true;
  }
  explicit operator T*() { return &*value; }
  explicit operator T&() { return *value; }
  explicit operator T&&() { return std::move(*value); }
  static nb::handle from_cpp(const T& value, nb::rv_policy, nb::detail::cleanup_list*) noexcept {
    return guarded([&] { return written(value); });
  }
  bool from_python(nb::handle source, std::uint32_t, nb::detail::cleanup_list*) noexcept {
    try {
      value = read<T>(source);
    } catch (const std::exception&) {
      PyErr_Clear();
      return false;
    }
    return value.has_value();
  }
  /// Returns the new reference that f makes, or null with Python's error set.
  static nb::handle guarded(const auto& f) noexcept {
    try {
      return f().release();
    } catch (nb::python_error& error) {
      error.restore();
    } catch (const std::exception& error) {
      PyErr_SetString(PyExc_ValueError, error.what());
    }
    return {};
  }
  std::optional<T> value;
};

/// Converts enums to strings. nanobind's own conversion of enums admits only one enum at a time.
template <class T>
struct EnumCaster {
  using Value = T;
  static constexpr auto Name = Names<T>::text;
  template <class U>
  using Cast = nb::detail::movable_cast_t<U>;
  template <class U>
  static constexpr bool can_cast() {
    return true;
  }
  explicit operator T*() { return &value; }
  explicit operator T&() { return value; }
  explicit operator T&&() { return std::move(value); }
  T value;
  bool from_python(nb::handle source, std::uint32_t, nb::detail::cleanup_list*) noexcept {
    if (!PyUnicode_Check(source.ptr())) return false;
    for (std::size_t i = 0; i < std::size(Names<T>::values); ++i)
      if (PyUnicode_CompareWithASCIIString(source.ptr(), Names<T>::values[i]) == 0)
        return value = static_cast<T>(i), true;
    return false;
  }
  static nb::handle from_cpp(T given, nb::rv_policy, nb::detail::cleanup_list*) noexcept {
    return PyUnicode_FromString(Names<T>::values[static_cast<std::size_t>(given)]);
  }
};

/// Returns the named tuple of a struct's name and members, one for each type.
nb::object named_tuple(const char* name, std::span<const char* const> names);

/// Returns the submodule "a.b" of root; parts that do not exist yet are created.
nb::module_ submodule(nb::module_& root, const char* path);

/// Returns the class of a type, and creates it if it does not exist yet.
template <class... Types>
auto made(nb::module_& m, const char* name, const char* doc) {
  using Class = nb::class_<Types...>;
  // scikit-learn's tools set attributes of their own on estimators.
  return nb::hasattr(m, name) ? nb::borrow<Class>(m.attr(name)) : Class(m, name, doc, nb::dynamic_attr());
}

/// Returns options given by scikit-learn's names under heatpp's; None if they have these already.
nb::object renamed(nb::handle type, const nb::dict& given);

/// Turns warnings of the log into Python's, on rank 0, unless HEATPP_LOG is set; once, from the main thread.
void warn_by_python();

/// Defines the constructor with scikit-learn's names, for classes with options, of their own or of a base.
template <class Class>
void renames(Class& c) {
  using Model = typename Class::Type;
  if constexpr (std::is_copy_constructible_v<Model> && requires(const Model& model) { model.options(); })
    c.def("__init__", [](nb::pointer_and_handle<Model> self, const nb::args& given, const nb::kwargs& named) {
      const auto made = renamed(nb::type<Model>(), named);
      if (made.is_none()) throw nb::next_overload();
      new (self.p) Model(nb::cast<const Model&>(nb::type<Model>()(*given, **nb::cast<nb::dict>(made))));
    });
}

/// Defines the constructor with scikit-learn's names, get_params and set_params of an estimator.
template <class Model>
void parameters(nb::class_<Model>& c) {
  using Options = std::remove_cvref_t<decltype(std::declval<const Model&>().options())>;
  const auto get = [](const Model& model) {
    nb::dict found;
    const auto& options = model.options();
    std::apply(
        [&](const auto&... members) {
          std::size_t i = 0;
          ((found[Fields<Options>::names[i++]] = nb::cast(members)), ...);
        },
        Fields<Options>::tie(options));
    return found;
  };
  nb::list names;
  for (const char* name : Fields<Options>::names) names.append(name);
  c.attr("_options") = names;
  c.def(
      "get_params", [get](const Model& model, bool) { return get(model); }, "deep"_a = true, "The options by name.");
  c.def("__sklearn_clone__", [get](nb::handle self) { return self.type()(**get(nb::cast<const Model&>(self))); });
  renames(c);
  c.def("__copy__", [](const Model& model) { return Model(model); });
  c.def("__deepcopy__", [](const Model& model, nb::handle) { return Model(model); });
  c.def("__repr__", [get](nb::handle self) {
    std::string text;
    for (const auto& [name, value] : get(nb::cast<const Model&>(self)))
      text += (text.empty() ? "" : ", ") + nb::cast<std::string>(name) + "=" + nb::repr(value).c_str();
    return nb::cast<std::string>(nb::object(self.type().attr("__name__"))) + "(" + text + ")";
  });
  c.def(
      "set_params",
      [get](nb::handle self, const nb::kwargs& changed) {
        nb::dict all = get(nb::cast<const Model&>(self));
        const auto ours = renamed(self.type(), changed);
        for (const auto& [name, value] : ours.is_none() ? nb::dict(changed) : nb::cast<nb::dict>(ours)) {
          if (!all.contains(name))
            throw ValueError("[set_params] got " + nb::cast<std::string>(name) + "; expected an option");
          all[name] = value;
        }
        nb::cast<Model&>(self) = nb::cast<Model&>(self.type()(**all));
        return nb::borrow(self);
      },
      "Changes options, and deletes the fitted state.");
}
template <class Model, class Base>
void parameters(nb::class_<Model, Base>& c) {
  parameters<Model>(static_cast<nb::class_<Model>&>(static_cast<nb::object&>(c)));
}

}  // namespace heatpp::python

namespace nanobind::detail {

#define HEATPP_CASTER(Type, text)                                           \
  template <>                                                               \
  struct type_caster<heatpp::Type> : heatpp::python::Caster<heatpp::Type> { \
    static constexpr auto Name = const_name(text);                          \
  };
// Types for which None has a meaning.
#define HEATPP_CASTER_OF_NONE(Type, text) \
  HEATPP_CASTER(Type, text)               \
  template <>                             \
  struct has_arg_defaults<heatpp::Type> : std::true_type {};
HEATPP_CASTER(Dtype, "heatpp.dtype")
HEATPP_CASTER_OF_NONE(Device, "str")
HEATPP_CASTER(Shape, "int | tuple[int, ...]")
HEATPP_CASTER_OF_NONE(Axes, "int | tuple[int, ...]")
HEATPP_CASTER_OF_NONE(Grid, "tuple[int, ...] | \"balanced\"")
HEATPP_CASTER_OF_NONE(BlockSplit, "int | None | EllipsisType")
HEATPP_CASTER(Scalar, "bool | int | float | complex")
HEATPP_CASTER(Slice, "slice")
HEATPP_CASTER(Piece, "number | Callable")
HEATPP_CASTER(Blocks, "DNDarray | number | list")
HEATPP_CASTER(Choices, "list")
HEATPP_CASTER_OF_NONE(HistogramRange, "tuple[float, float]")
HEATPP_CASTER(MinkaMle, "\"mle\"")
HEATPP_CASTER(FeatureChoice, "list[int] | list[bool]")
HEATPP_CASTER(linalg::NormOrder, "float | str")
HEATPP_CASTER(io::Source, "str | os.PathLike | list[str]")
HEATPP_CASTER(python::Target, "DNDarray")
HEATPP_CASTER(python::Values, "list | array")
#undef HEATPP_CASTER_OF_NONE
#undef HEATPP_CASTER
template <>
struct type_caster<at::Tensor> : heatpp::python::Caster<at::Tensor> {
  static constexpr auto Name = const_name("numpy.ndarray");
};
/// Takes a number instead of a list with one.
template <>
struct type_caster<std::vector<std::int64_t>> : list_caster<std::vector<std::int64_t>, std::int64_t> {
  bool from_python(handle source, std::uint32_t flags, cleanup_list* cleanup) noexcept {
    make_caster<std::int64_t> one;
    if (!(flags & cast_flags::convert) || !PyLong_Check(source.ptr()))
      return list_caster::from_python(source, flags, cleanup);
    return one.from_python(source, flags, cleanup) && (value = {one.value}, true);
  }
};
/// Takes a codec, its name or a level. Names are read inside the function, so an error tells the name.
template <>
struct type_caster<std::optional<heatpp::io::Compression>> {
  using Value = std::optional<heatpp::io::Compression>;
  static constexpr auto Name = const_name("heatpp.io.Compression | str | int | None");
  template <class U>
  using Cast = Value;
  template <class U>
  static constexpr bool can_cast() {
    return true;
  }
  explicit operator Value() { return read ? read() : std::nullopt; }
  bool from_python(handle source, uint32_t, cleanup_list*) noexcept {
    const heatpp::io::Compression* known = nullptr;
    if (source.is_none()) return true;
    if (try_cast(source, known) && known) return read = [=] { return Value(*known); }, true;
    if (int level = 0; try_cast(source, level)) return read = [=] { return Value(level); }, true;
    if (std::string text; try_cast(source, text)) return read = [=] { return Value(text); }, true;
    return false;
  }
  static handle from_cpp(const Value& value, rv_policy policy, cleanup_list* cleanup) noexcept {
    return value ? make_caster<heatpp::io::Compression>::from_cpp(*value, policy, cleanup) : none().release();
  }
  std::function<Value()> read;
};
/// Converts callbacks that tell whether to continue. None, the result of a function without return, means yes.
template <class... Arguments>
struct type_caster<std::function<bool(Arguments...)>> {
  using Asked = std::function<object(Arguments...)>;
  struct Answer {
    Asked ask;
    bool operator()(Arguments... arguments) const {
      gil_scoped_acquire held;
      const auto said = ask(forward_t<Arguments>(arguments)...);
      const auto yes = said.is_none() ? 1 : PyObject_IsTrue(said.ptr());
      if (yes < 0) raise_python_error();
      return yes != 0;
    }
  };
  NB_TYPE_CASTER(std::function<bool(Arguments...)>, const_name("collections.abc.Callable[[") +
                                                        concat(make_caster<Arguments>::Name...) +
                                                        const_name("], bool | None]"))
  bool from_python(handle source, std::uint32_t flags, cleanup_list* cleanup) noexcept {
    make_caster<Asked> asked;
    if (!asked.from_python(source, flags, cleanup)) return false;
    if (asked.value) value = Answer{std::move(asked.value)};
    return true;
  }
  static handle from_cpp(const Value& value, rv_policy policy, cleanup_list* cleanup) noexcept {
    if (const auto* answer = value.template target<Answer>())
      return make_caster<Asked>::from_cpp(answer->ask, policy, cleanup);
    return value ? cpp_function(value).release() : none().release();
  }
};

template <class F>
struct has_arg_defaults<std::function<F>> : std::true_type {};

template <heatpp::python::Fielded T>
struct type_caster<T> : heatpp::python::Caster<T> {
  using Fields = heatpp::python::Fields<T>;
  using Members = decltype(Fields::tie(std::declval<T&>()));
  static constexpr auto Count = std::make_index_sequence<std::tuple_size_v<Members>>();
  static constexpr auto Name = const_name("tuple");

  template <std::size_t... I>
  static std::optional<T> read(handle source, std::index_sequence<I...>) {
    if (!PySequence_Check(source.ptr()) || len(source) != sizeof...(I)) return {};
    return T{cast<std::remove_cvref_t<std::tuple_element_t<I, Members>>>(source[I])...};
  }
  bool from_python(handle source, uint32_t, cleanup_list*) noexcept {
    try {
      this->value = read(source, Count);
    } catch (const std::exception&) {
      PyErr_Clear();
    }
    return this->value.has_value();
  }
  static handle from_cpp(const T& value, rv_policy, cleanup_list*) noexcept {
    return heatpp::python::Caster<T>::guarded([&] {
      return std::apply(
          [](const auto&... members) {
            static const auto& type = *new object(heatpp::python::named_tuple(Fields::name, Fields::names));
            return type(members...);
          },
          Fields::tie(value));
    });
  }
};

/// Numbers in a row.
template <class T>
struct type_caster<std::span<const T>> {
  static constexpr auto Name = const_name("list");
  template <class U>
  using Cast = std::span<const T>;
  template <class U>
  static constexpr bool can_cast() {
    return true;
  }
  explicit operator std::span<const T>() { return *values; }
  bool from_python(handle source, uint32_t flags, cleanup_list* cleanup) noexcept {
    make_caster<std::vector<T>> caster;
    if (!caster.from_python(source, flags, cleanup)) return false;
    values = std::move(caster.value);
    return true;
  }
  static handle from_cpp(std::span<const T> value, rv_policy policy, cleanup_list* cleanup) noexcept {
    return make_caster<std::vector<T>>::from_cpp(std::vector<T>(value.begin(), value.end()), policy, cleanup);
  }
  std::optional<std::vector<T>> values;
};

}  // namespace nanobind::detail

#include "array_casters.hpp"  // needs the casters above; all users need it
