#pragma once

#include <heatpp/core/detail/peers/row_lists.hpp>
#include <heatpp/core/detail/torch.hpp>
#include <heatpp/sparse/detail/spmv.hpp>

namespace heatpp::sparse::detail {

/// How a product of a matrix that is cut by rows gets the elements of a vector that is cut in one way. It is made
/// once, by what `told` sends and an exchange of 8 bytes for each element from another rank. Then each product moves
/// only these elements, and the plan keeps 16 bytes for each rank from which or to which any come or go.
struct HaloPlan {
  heatpp::detail::Cut cut;  ///< that of the vector
  std::int64_t own = 0;     ///< elements of this rank
  Columns columns;          ///< numbers of this rank's elements, and from `own` on of those that arrive
  std::vector<heatpp::detail::RowsOfRank> receive, send;  ///< elements from other ranks, and to them
  at::Tensor sent;                      ///< int64: their places among this rank's, in the order of the ranks
  std::vector<std::int64_t> stretches;  ///< start of the elements for each rank of `send`, if none has gaps
  std::vector<std::int64_t>
      waiting;                ///< rows that need others' elements, and few more, as runs first, last, first, ...
  std::int64_t received = 0;  ///< elements from all ranks
  bool most_wait = false;     ///< whether half of the rows or more are waiting
};

/// Returns the plan for vectors that are cut like this; that of the latest product if it fits. Collective.
[[nodiscard]] std::shared_ptr<const HaloPlan> halo_plan(const DCSRMatrix& a, const heatpp::detail::Cut& cut);

/// Elements, or rows of k, on their way to the ranks that need them.
class Halo {
 public:
  /// Begins to fetch what the plan says of `x`, this rank's (own,) or (own, k) block, to `in` if that is given.
  /// Collective.
  Halo(const HaloPlan& plan, const at::Tensor& x, const Communicator& comm, at::Tensor in = {});
  /// Waits and returns them: (received,) or (received, k).
  [[nodiscard]] const at::Tensor& wait();

 private:
  at::Tensor out_, in_;
  Request request_;
};

/// Does the inverse: adds what ranks have for elements of others. `halo` has (received, ...) numbers for these, which
/// are added to the owners' `own` in the order of the ranks. Collective.
void add_to_owners(const HaloPlan& plan, const at::Tensor& halo, at::Tensor& own, const Communicator& comm);

}  // namespace heatpp::sparse::detail
