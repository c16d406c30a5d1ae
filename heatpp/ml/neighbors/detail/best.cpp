#include <heatpp/ml/neighbors/detail/best.hpp>

#include <heatpp/core/redistribute.hpp>
#include <heatpp/ml/detail/around.hpp>
#include <heatpp/ml/detail/sparse/row_block.hpp>
#include <heatpp/sparse/conversion.hpp>

#include <algorithm>
#include <limits>

namespace heatpp::ml::detail {

constexpr auto infinity = std::numeric_limits<double>::infinity();

void Best::take(const Near& near, std::size_t most) {
  if (heap.size() == most) {
    if (!(near < heap.front())) return;
    std::ranges::pop_heap(heap);
    heap.pop_back();
  }
  heap.push_back(near);
  std::ranges::push_heap(heap);
}

double Best::bound(std::size_t most) const { return heap.size() < most ? infinity : heap.front().reduced; }

Neighbors answers_of(Metric metric, std::vector<Best> best, std::int64_t k, at::ScalarType type, const Rows& rows) {
  const auto distances = at::full({rows.count(), k}, infinity, at::kDouble);
  const auto indices = at::full({rows.count(), k}, -1, at::kLong);
  for (std::size_t i = 0; i < best.size(); ++i) {
    auto& heap = best[i].heap;
    std::ranges::sort_heap(heap);
    const auto at = static_cast<std::int64_t>(i) * k;
    for (std::size_t j = 0; j < heap.size(); ++j) {
      distances.data_ptr<double>()[at + static_cast<std::int64_t>(j)] = distance_of(metric, heap[j].reduced);
      indices.data_ptr<std::int64_t>()[at + static_cast<std::int64_t>(j)] = heap[j].row;
    }
  }
  return {as_rows(rows, distances.to(type)), as_rows(rows, indices)};
}

Rows shared_out(const Rows& x, bool fitted_are_cut) {
  if (x.distributed() || !fitted_are_cut) return x;
  if (const auto* const matrix = sparse_rows(x)) return sparse::resplit(*matrix, 0);
  const auto all = as_rows(x, block_of(x, working_dtype(x)));
  return resplit(all, 0);
}

DNDarray back(const DNDarray& result, const Rows& x) {
  return x.distributed() ? result : resplit(result, std::nullopt);
}

}  // namespace heatpp::ml::detail
