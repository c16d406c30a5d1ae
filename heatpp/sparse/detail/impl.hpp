#pragma once

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/torch.hpp>
#include <heatpp/sparse/dcsr.hpp>

#include <mutex>

namespace heatpp::sparse {
namespace detail {

using heatpp::detail::formatted;
using heatpp::detail::raise;

struct HaloPlan;

/// Rows on this rank, in tensors on the CPU.
struct CsrBlock {
  at::Tensor row_ptr;  ///< (rows + 1,) int64, from 0
  at::Tensor columns;  ///< (entries,) int32 or int64, of all columns
  at::Tensor values;   ///< (entries,)
  [[nodiscard]] std::int64_t rows() const { return row_ptr.numel() - 1; }
  [[nodiscard]] std::int64_t entries() const { return columns.numel(); }
  [[nodiscard]] const std::int64_t* ptr() const { return row_ptr.const_data_ptr<std::int64_t>(); }
};

}  // namespace detail

struct DCSRMatrix::Impl {
  detail::CsrBlock block;
  Layout layout, entries;  ///< layout of the rows, and of the entries in sequence
  Communicator comm;
  mutable std::mutex mutex = {};                                   ///< protects the plan
  mutable std::shared_ptr<const detail::HaloPlan> plan = nullptr;  ///< plan of the latest product, for the next one

  Impl(detail::CsrBlock block_, Layout layout_, Layout entries_, Communicator comm_)
      : block(std::move(block_)), layout(std::move(layout_)), entries(std::move(entries_)), comm(std::move(comm_)) {}
};

namespace detail {

struct Access {
  [[nodiscard]] static const DCSRMatrix::Impl& impl(const DCSRMatrix& a);
};
[[nodiscard]] inline const CsrBlock& block_of(const DCSRMatrix& a) { return Access::impl(a).block; }

/// Returns the number of this rank's first row among all.
[[nodiscard]] std::int64_t first_row(const DCSRMatrix& a);
/// Throws ValueError for a matrix that is not square.
void check_square(const char* op, const DCSRMatrix& a);

/// Makes the matrix with these rows on this rank under `layout`; columns become int32 if all fit. Collective if the
/// matrix is cut: one allgather of 8 bytes.
[[nodiscard]] DCSRMatrix wrap(CsrBlock block, Layout layout, const Communicator& comm);
/// Returns the structure with other values. Local.
[[nodiscard]] DCSRMatrix with_values(const DCSRMatrix& a, at::Tensor values);

/// Returns the dtype of this many columns.
[[nodiscard]] inline at::ScalarType column_type(std::int64_t columns) {
  return columns <= std::numeric_limits<std::int32_t>::max() ? at::kInt : at::kLong;
}

}  // namespace detail
}  // namespace heatpp::sparse
