#pragma once

#include <nanobind/nanobind.h>

#include <heatpp/core/dndarray.hpp>

namespace heatpp::python {

/// Whether floats beside an array make a result in float64 or complex128.
[[nodiscard]] bool is_wide(const DNDarray& x);

/// What a call is given where it takes an array, and what stands beside it. Floats of Python's are as precise there as
/// what they meet: float64 where an array beside them makes results in float64, the default dtype else, so that
/// `x == [0.1]` holds for a 0.1 of either dtype. Which it is shows when all arguments of the call have been read. One
/// for each such argument; those of a thread know of each other while they live, as they do for one call.
class Given {
 public:
  Given() { ++living; }
  Given(const Given&) = delete;
  Given& operator=(const Given&) = delete;
  ~Given() {
    if (--living == 0) exact = false;
  }

  /// Numbers, lists and arrays of NumPy's as an array, in which floats of Python's are float64 until `settle`; nothing
  /// for all else.
  [[nodiscard]] std::optional<DNDarray> read(nanobind::handle source);
  /// The dtype to stay in for what was read. Needs no lock of Python's.
  void settle(DNDarray& x);
  /// An array of ours among the arguments, as type_caster<DNDarray> tells of each that it reads.
  static void beside(const DNDarray& x);

 private:
  bool floats_of_python_ = false;
  inline static thread_local int living = 0;
  inline static thread_local bool exact = false;
};

}  // namespace heatpp::python
