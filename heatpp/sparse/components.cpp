#include <heatpp/comm/detail/numbers/place.hpp>
#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/relayout.hpp>
#include <heatpp/core/detail/route.hpp>
#include <heatpp/ops/operands/index.hpp>
#include <heatpp/sparse/detail/halo.hpp>
#include <heatpp/sparse/detail/strong.hpp>
#include <heatpp/sparse/graph.hpp>

#include <numeric>

namespace heatpp::sparse {

using namespace detail;

namespace {

/// Sets of this rank's vertices and of other ranks' vertices that its edges name, each with its lowest known vertex.
class Sets {
 public:
  explicit Sets(std::vector<std::int64_t> vertices) : above_(vertices.size()), least_(std::move(vertices)) {
    std::iota(above_.begin(), above_.end(), 0);
  }
  [[nodiscard]] std::size_t root(std::size_t vertex) {
    while (above_[vertex] != vertex) vertex = above_[vertex] = above_[above_[vertex]];
    return vertex;
  }
  void join(std::size_t a, std::size_t b) {
    const auto from = root(a), to = root(b);
    if (from == to) return;
    above_[from] = to;
    least_[to] = std::min(least_[to], least_[from]);
  }
  [[nodiscard]] std::int64_t least(std::size_t vertex) { return least_[root(vertex)]; }
  /// Returns whether it is lower than the known one.
  bool hear(std::size_t vertex, std::int64_t least) {
    auto& known = least_[root(vertex)];
    return least < known && (known = least, true);
  }

 private:
  std::vector<std::size_t> above_;
  std::vector<std::int64_t> least_;
};

at::Tensor least_of(Sets& sets, std::int64_t first, std::int64_t count) {
  auto result = at::empty({count}, at::kLong);
  auto* const out = result.data_ptr<std::int64_t>();
  for (std::int64_t i = 0; i < count; ++i) out[i] = sets.least(static_cast<std::size_t>(first + i));
  return result;
}

void join_edges(Sets& sets, const CsrBlock& block, const at::Tensor& columns) {
  const auto* const column = columns.const_data_ptr<std::int32_t>();
  for (std::int64_t row = 0; row < block.rows(); ++row)
    for (auto i = block.ptr()[row]; i < block.ptr()[row + 1]; ++i)
      sets.join(static_cast<std::size_t>(row), static_cast<std::size_t>(column[i]));
}

std::vector<std::int64_t> vertices(std::int64_t first, std::int64_t own, const at::Tensor& others) {
  std::vector<std::int64_t> all(static_cast<std::size_t>(own));
  std::iota(all.begin(), all.end(), first);
  const auto* const other = others.const_data_ptr<std::int64_t>();
  all.insert(all.end(), other, other + others.numel());
  return all;
}

/// Returns the least vertex of the component of each of this rank's vertices.
at::Tensor least_vertices(const DCSRMatrix& a) {
  const auto& comm = a.comm();
  const auto& block = block_of(a);
  if (!a.split()) {
    Sets sets(vertices(0, a.rows(), at::empty({0}, at::kLong)));
    join_edges(sets, block, block.columns.to(at::kInt));
    return least_of(sets, 0, a.rows());
  }
  const auto plan = halo_plan(a, a.layout().cut());
  const auto first = a.layout().offset(comm.rank());
  Sets sets(vertices(first, plan->own, Halo(*plan, at::arange(first, first + plan->own, at::kLong), comm).wait()));
  join_edges(sets, block, plan->columns.places);
  const auto* const asked = plan->sent.const_data_ptr<std::int64_t>();
  for (std::array<bool, 1> changed{true}; changed[0]; comm.allreduce(changed)) {
    changed[0] = false;
    const auto heard =
        heatpp::detail::exchange_rows(least_of(sets, plan->own, plan->received), plan->receive, plan->send, comm);
    for (std::int64_t i = 0; i < heard.numel(); ++i)
      changed[0] |= sets.hear(static_cast<std::size_t>(asked[i]), heard.const_data_ptr<std::int64_t>()[i]);
    Halo halo(*plan, least_of(sets, 0, plan->own), comm);
    const auto& told = halo.wait();
    for (std::int64_t i = 0; i < told.numel(); ++i)
      changed[0] |= sets.hear(static_cast<std::size_t>(plan->own + i), told.const_data_ptr<std::int64_t>()[i]);
  }
  return least_of(sets, 0, plan->own);
}

}  // namespace

Components connected_components(const DCSRMatrix& a, const ComponentsOptions& options) {
  check_square("connected_components", a);
  const auto& comm = a.comm();
  const auto layout = a.layout().with({a.rows()}, a.split());
  const auto first = first_row(a);
  const bool strong = options.directed && options.connection == Connection::strong;
  const auto least = strong ? least_of_strong_components(a) : least_vertices(a);
  const auto is_first = least.eq(at::arange(first, first + least.numel(), at::kLong));
  const auto here = is_first.sum().item<std::int64_t>();
  using Place = heatpp::detail::PlaceInWhole;
  const auto [before, all] = a.split() ? heatpp::detail::place_in_whole(comm, here) : Place{0, here};
  const auto numbers = heatpp::detail::wrap(is_first.cumsum(0) - 1 + before, layout, comm);
  const auto labels = numbers.index({heatpp::detail::wrap(least, layout, comm)});
  return {all, heatpp::detail::brought_to(labels, layout)};
}

}  // namespace heatpp::sparse
