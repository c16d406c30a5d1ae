#pragma once

#include <nanobind/nanobind.h>

#include <heatpp/core/dndarray.hpp>

namespace heatpp::python {

/// Whether floats beside an array give a result in float64 or complex128.
[[nodiscard]] bool is_wide(const DNDarray& x);

/// An argument that is no heatpp array, in a call that takes one. Python's floats get the precision of the other
/// arguments: float64 if an array beside them gives results in float64, otherwise the default dtype. So `x == [0.1]`
/// holds for a 0.1 of either dtype. The precision is known after all arguments of the call were read. Each such
/// argument has one object; those of a thread refer to each other while they exist, that is during one call.
class Given {
 public:
  Given() { ++living; }
  Given(const Given&) = delete;
  Given& operator=(const Given&) = delete;
  ~Given() {
    if (--living == 0) exact = false;
  }

  /// Returns numbers, lists and NumPy's arrays as an array, in which Python's floats are float64 until `settle`;
  /// nullopt for anything else.
  [[nodiscard]] std::optional<DNDarray> read(nanobind::handle source);
  /// Converts the array that was read to its final dtype. Does not need Python's lock.
  void settle(DNDarray& x);
  /// Takes a heatpp array among the arguments; type_caster<DNDarray> calls it for each that it reads.
  static void beside(const DNDarray& x);

 private:
  bool floats_of_python_ = false;
  inline static thread_local int living = 0;
  inline static thread_local bool exact = false;
};

}  // namespace heatpp::python
