#include <heatpp/comm/detail/mpi.hpp>
#include <heatpp/comm/detail/raise.hpp>

#include <bit>
#include <cstring>

namespace heatpp::detail {
namespace {

// MPI knows no 16-bit floats: they travel as two bytes and are reduced by these functions, in float32.
float widen_bfloat16(std::uint16_t bits) { return std::bit_cast<float>(std::uint32_t{bits} << 16); }

std::uint16_t narrow_bfloat16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if (value != value) return static_cast<std::uint16_t>((bits >> 16) | 0x40);  // keep a NaN a NaN
  return static_cast<std::uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

float widen_float16(std::uint16_t bits) { return static_cast<float>(std::bit_cast<_Float16>(bits)); }
std::uint16_t narrow_float16(float value) { return std::bit_cast<std::uint16_t>(static_cast<_Float16>(value)); }

/// NaN wins over every number, as in NumPy; MPI's own minimum and maximum leave that open.
template <ReduceOp Op, class T>
T combine(T a, T b) {
  if constexpr (Op == ReduceOp::sum) return a + b;
  if constexpr (Op == ReduceOp::prod) return a * b;
  if (a != a || b != b) return a != a ? a : b;
  if constexpr (Op == ReduceOp::min) return a < b ? a : b;
  return a > b ? a : b;
}

template <ReduceOp Op, class T>
void reduce_floats(void* in, void* inout, int* count, MPI_Datatype*) {
  const auto* a = static_cast<const T*>(in);
  auto* b = static_cast<T*>(inout);
  for (int i = 0; i < *count; ++i) b[i] = combine<Op>(a[i], b[i]);
}

template <class T>
MPI_Op extremum_of_floats(ReduceOp op) {
  static const auto ops = [] {
    std::array<MPI_Op, 2> made{};
    MPI_Op_create(&reduce_floats<ReduceOp::min, T>, 1, &made[0]);
    MPI_Op_create(&reduce_floats<ReduceOp::max, T>, 1, &made[1]);
    return made;
  }();
  return ops[op == ReduceOp::min ? 0 : 1];
}

template <ReduceOp Op, float (*Widen)(std::uint16_t), std::uint16_t (*Narrow)(float)>
void reduce16(void* in, void* inout, int* count, MPI_Datatype*) {
  const auto* a = static_cast<const std::uint16_t*>(in);
  auto* b = static_cast<std::uint16_t*>(inout);
  for (int i = 0; i < *count; ++i) b[i] = Narrow(combine<Op>(Widen(a[i]), Widen(b[i])));
}

template <float (*Widen)(std::uint16_t), std::uint16_t (*Narrow)(float)>
MPI_Op op16(ReduceOp op) {
  static const auto ops = [] {
    std::array<MPI_Op, 4> made{};
    MPI_Op_create(&reduce16<ReduceOp::sum, Widen, Narrow>, 1, &made[0]);
    MPI_Op_create(&reduce16<ReduceOp::prod, Widen, Narrow>, 1, &made[1]);
    MPI_Op_create(&reduce16<ReduceOp::min, Widen, Narrow>, 1, &made[2]);
    MPI_Op_create(&reduce16<ReduceOp::max, Widen, Narrow>, 1, &made[3]);
    return made;
  }();
  return ops[static_cast<std::size_t>(op)];
}

}  // namespace

void check_mpi(int code, const char* op) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(code, text, &length);
  raise<CommError>(op, "got the MPI error \"{}\"; expected success",
                   std::string_view(text, static_cast<std::size_t>(length)));
}

MPI_Datatype mpi_type(Dtype dtype) {
  switch (dtype) {
    case Dtype::bool_:
    case Dtype::uint8: return MPI_UINT8_T;
    case Dtype::int8: return MPI_INT8_T;
    case Dtype::int16: return MPI_INT16_T;
    case Dtype::int32: return MPI_INT32_T;
    case Dtype::int64: return MPI_INT64_T;
    case Dtype::float16:
    case Dtype::bfloat16: return MPI_UINT16_T;
    case Dtype::float32: return MPI_FLOAT;
    case Dtype::float64: return MPI_DOUBLE;
    case Dtype::complex64: return MPI_C_FLOAT_COMPLEX;
    case Dtype::complex128: return MPI_C_DOUBLE_COMPLEX;
  }
  raise<TypeError>("mpi_type", "got dtype {}; expected one of the dtypes of heatpp", static_cast<int>(dtype));
}

MPI_Op mpi_op(ReduceOp op, Dtype dtype) {
  if (dtype == Dtype::bfloat16) return op16<widen_bfloat16, narrow_bfloat16>(op);
  if (dtype == Dtype::float16) return op16<widen_float16, narrow_float16>(op);
  const bool ordered = dtype != Dtype::complex64 && dtype != Dtype::complex128;
  if (!ordered && (op == ReduceOp::min || op == ReduceOp::max))
    raise<TypeError>("allreduce", "got min or max of {}; expected a dtype with an order", name(dtype));
  // The sum of booleans is "any", their product "all"; as bytes 0 and 1 these are max and min.
  if (dtype == Dtype::bool_) return op == ReduceOp::sum || op == ReduceOp::max ? MPI_MAX : MPI_MIN;
  const bool extremum = op == ReduceOp::min || op == ReduceOp::max;
  if (extremum && dtype == Dtype::float32) return extremum_of_floats<float>(op);
  if (extremum && dtype == Dtype::float64) return extremum_of_floats<double>(op);
  switch (op) {
    case ReduceOp::sum: return MPI_SUM;
    case ReduceOp::prod: return MPI_PROD;
    case ReduceOp::min: return MPI_MIN;
    case ReduceOp::max: return MPI_MAX;
  }
  return MPI_OP_NULL;
}

}  // namespace heatpp::detail
