#pragma once

#include <cstdint>

/// Kernels of formulas: one operation on a run of elements in the first-level cache. They round as LibTorch does.
namespace heatpp::detail::fused {

enum class Type : std::uint8_t { boolean, int32, int64, float32, float64 };
inline constexpr int type_count = 5;
inline constexpr std::int64_t bytes_of(Type type) {
  if (type == Type::boolean) return 1;
  return type == Type::int32 || type == Type::float32 ? 4 : 8;
}

/// What gives a value of a formula. The first three are no operations on values: a block of an array, a number, and a
/// run of copies of a number.
enum class Op : std::uint8_t {
  block,
  number,
  copies,
  add,
  subtract,
  multiply,
  divide,
  equal,
  different,
  less,
  less_or_equal,
  maximum,
  minimum,
  negative,
  absolute,
  sign,
  root,
  floor,
  ceil,
  trunc,
  rint,
  exp,
  exp2,
  expm1,
  log,
  log2,
  log10,
  log1p,
  sin,
  cos,
  tan,
  asin,
  acos,
  atan,
  sinh,
  cosh,
  asinh,
  acosh,
  atanh,
  tanh,
  both,
  either,
  one_of,
  opposite,
  select,
  convert
};
inline constexpr int op_count = static_cast<int>(Op::convert) + 1;

/// LibTorch gives every element the bits of a whole vector of the processor in runs of multiples of this length.
inline constexpr std::int64_t whole_vectors = 64;
/// Whether LibTorch computes the operation on a run, which has to be long for that.
inline constexpr bool is_of_torch(Op op) { return op >= Op::exp && op <= Op::tanh; }

/// Whether arguments are runs, or the second or the first one is a single number.
enum class Form : std::uint8_t { runs, second_number, first_number };
inline constexpr int form_count = 3;

/// Computes n elements of `out`, which may be one of the arguments.
using Kernel = void (*)(const void* a, const void* b, const void* c, void* out, std::int64_t n);
/// Returns the kernel for arguments of type `from` (of select: the last two) and a result of type `to`, or nullptr.
[[nodiscard]] Kernel kernel_of(Op op, Type from, Type to, Form form);
/// Returns LibTorch's function of runs of float32 or float64, which computes whole vectors, or nullptr.
[[nodiscard]] Kernel torch_kernel_of(Op op, Type type);

}  // namespace heatpp::detail::fused
