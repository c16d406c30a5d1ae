#include <heatpp/comm/detail/mpi.hpp>
#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/comm/detail/reproducible/marked_sum.hpp>
#include <heatpp/comm/detail/schedule/combine.hpp>
#include <heatpp/comm/recovery/detail/family.hpp>

#include <array>

namespace heatpp::detail {
namespace {

// MPI knows no 16-bit floats and leaves open what NaN does to a minimum. Open MPI 4.1 saturates sums of narrow integers
// if it has vector instructions. Functions of the library reduce these types.
template <ReduceOp Op, Dtype D>
void reduce(void* in, void* inout, int* count, MPI_Datatype*) {
  const void* sources[] = {in, inout};
  combine(Op, D, sources, inout, *count);
}

template <Dtype D>
MPI_Op own_op(ReduceOp op) {
  static const auto ops = [] {
    std::array<MPI_Op, 4> made{};
    MPI_Op_create(&reduce<ReduceOp::sum, D>, 1, &made[0]);
    MPI_Op_create(&reduce<ReduceOp::prod, D>, 1, &made[1]);
    MPI_Op_create(&reduce<ReduceOp::min, D>, 1, &made[2]);
    MPI_Op_create(&reduce<ReduceOp::max, D>, 1, &made[3]);
    return made;
  }();
  return ops[static_cast<std::size_t>(op)];
}

/// Returns an MPI operation for reductions that MPI libraries lack.
template <ReduceOp Op, Dtype D>
MPI_Op other_op() {
  static const auto op = [] {
    MPI_Op made;
    MPI_Op_create(&reduce<Op, D>, 1, &made);
    return made;
  }();
  return op;
}

}  // namespace

bool mpi_is_running() {
  int initialized = 0, finalized = 0;
  MPI_Initialized(&initialized);
  MPI_Finalized(&finalized);
  return initialized && !finalized;
}

void expect_running(const char* op) {
  if (!mpi_is_running())
    raise<CommError>(op,
                     "got a program in which MPI is not running; expected a heatpp::Environment in main, or the call "
                     "between MPI_Init and MPI_Finalize");
}

void check_mpi(int code, const char* op) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(code, text, &length);
  const auto what = formatted("the MPI error \"{}\"", std::string_view(text, static_cast<std::size_t>(length)));
  if (loss_of(code) != Loss::none) raise_loss(op, what);
  raise<CommError>(op, "got {}; expected success", what);
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
  if (op == marked_sum && dtype == Dtype::float64) return other_op<marked_sum, Dtype::float64>();
  if (op == marked_sum) return other_op<marked_sum, Dtype::complex128>();
  if (op == ReduceOp::mean) op = ReduceOp::sum;
  if (dtype == Dtype::bfloat16) return own_op<Dtype::bfloat16>(op);
  if (dtype == Dtype::float16) return own_op<Dtype::float16>(op);
  // The sum of booleans is "any", the product is "all"; for bytes 0 and 1 these are max and min.
  if (dtype == Dtype::bool_) return op == ReduceOp::sum || op == ReduceOp::max ? MPI_MAX : MPI_MIN;
  if (dtype == Dtype::uint8) return own_op<Dtype::uint8>(op);
  if (dtype == Dtype::int8) return own_op<Dtype::int8>(op);
  if (dtype == Dtype::int16) return own_op<Dtype::int16>(op);
  const bool extremum = op == ReduceOp::min || op == ReduceOp::max;
  if (extremum && dtype == Dtype::float32) return own_op<Dtype::float32>(op);
  if (extremum && dtype == Dtype::float64) return own_op<Dtype::float64>(op);
  const std::array ops{MPI_SUM, MPI_PROD, MPI_MIN, MPI_MAX};
  return ops[static_cast<std::size_t>(op)];
}

}  // namespace heatpp::detail
