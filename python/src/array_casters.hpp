#pragma once

#include "casters.hpp"
#include "given.hpp"

// Conversion of arguments to arrays and operands.
namespace heatpp::python {

/// Takes arrays and numbers, and lists instead of arrays.
template <class T>
struct OperandCaster : Caster<T> {
  bool from_python(nb::handle source, std::uint32_t flags, nb::detail::cleanup_list* cleanup) noexcept {
    if (Caster<T>::from_python(source, flags, cleanup)) return true;
    if (!(flags & nb::detail::cast_flags::convert)) return false;
    try {
      list = given.read(source);
    } catch (const std::exception&) {
      PyErr_Clear();
    }
    return list.has_value();
  }
  T& settled() {
    if (list) given.settle(*list), this->value = *std::exchange(list, {});
    return *this->value;
  }
  explicit operator T*() { return &settled(); }
  explicit operator T&() { return settled(); }
  explicit operator T&&() { return std::move(settled()); }
  std::optional<DNDarray> list;
  Given given;
};

}  // namespace heatpp::python

namespace nanobind::detail {

/// Converts lists and numbers to arrays that exist until the call ends.
template <>
struct type_caster<heatpp::DNDarray> : type_caster_base<heatpp::DNDarray> {
  using Array = heatpp::DNDarray;
  bool from_python(handle source, std::uint32_t flags, cleanup_list* cleanup) noexcept {
    constexpr std::uint32_t convert = cast_flags::convert;
    if (type_caster_base::from_python(source, flags & ~convert, cleanup)) {
      if (auto* array = pointer()) heatpp::python::Given::beside(*array);
      return true;
    }
    if (!(flags & convert) || !cleanup) return false;
    try {
      auto made = given.read(source);
      if (!made) return false;
      object held = nanobind::cast(std::move(*made));
      const bool known = type_caster_base::from_python(held, flags & ~convert, cleanup);
      cleanup->append(held.release().ptr());
      return known;
    } catch (const std::exception&) {
      PyErr_Clear();
      return false;
    }
  }
  operator Array*() { return settled(); }               // as nanobind's
  operator Array&() { return *settled(); }              // NOLINT
  operator Array&&() { return std::move(*settled()); }  // NOLINT

 private:
  Array* pointer() { return static_cast<type_caster_base&>(*this).operator Array*(); }
  Array* settled() {
    auto* const array = pointer();
    if (array) given.settle(*array);
    return array;
  }
  heatpp::python::Given given;
};

template <>
struct type_caster<heatpp::Operand> : heatpp::python::OperandCaster<heatpp::Operand> {
  static constexpr auto Name = const_name("DNDarray | bool | int | float | complex");
};
template <>
struct type_caster<heatpp::KeptOperand> : heatpp::python::OperandCaster<heatpp::KeptOperand> {
  static constexpr auto Name = const_name("DNDarray | bool | int | float | complex");
};

}  // namespace nanobind::detail
