#pragma once

#include <heatpp/comm/detail/impl.hpp>
#include <thread>

namespace heatpp::detail {

[[nodiscard]] bool mpi_is_running();
/// Throws CommError if MPI has not begun or has ended. A call of MPI would then end the program.
void expect_running(const char* op);

/// Throws CommError with MPI's text unless `code` is MPI_SUCCESS; ProcessFailure if a rank has ended.
void check_mpi(int code, const char* op);

[[nodiscard]] MPI_Datatype mpi_type(Dtype dtype);
/// Returns the reduction for elements of `dtype`, for which check_op() holds; for a mean, the sum.
[[nodiscard]] MPI_Op mpi_op(ReduceOp op, Dtype dtype);

/// MPI counts are ints: longer buffers go in pieces of this many elements.
inline constexpr std::int64_t max_count = std::int64_t{1} << 30;

// Tags of messages in one communicator: the library's own kinds, the program's, and those of schedules.
enum Tag : int {
  exchange_tag = 2,
  roll_call_tag = 3,
  gave_up_tag = 4,
  whereabouts_tag = 5,
  answer_tag = 6,
  hop_sizes_tag = 7,
  first_hop_tag = 8,
  second_hop_tag = 9,
  first_user_tag = 16
};
inline constexpr int user_tags = 1 << 14;  // half of what every MPI library provides

/// Calls f(first, n) for pieces of at most `limit` elements, at least once.
template <class F>
void for_each_piece(std::int64_t count, std::int64_t limit, F f) {
  std::int64_t first = 0;
  do {
    const auto n = std::min(count - first, limit);
    f(first, static_cast<int>(n));
    first += n;
  } while (first < count);
}

/// Returns the address of element `first` of the data.
[[nodiscard]] inline std::byte* address(const Buffer& data, std::int64_t first) {
  return static_cast<std::byte*>(data.data) + first * static_cast<std::int64_t>(itemsize(data.dtype));
}

}  // namespace heatpp::detail
