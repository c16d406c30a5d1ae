#include <heatpp/ml/neighbors/graph.hpp>

#include <heatpp/core/detail/torch.hpp>
#include <heatpp/sparse/detail/structure.hpp>

namespace heatpp {
namespace {

/// Returns the matrix whose rows on this rank have `counts` edges each, stored row by row.
sparse::DCSRMatrix graph_of(const char* op, const Rows& x, const at::Tensor& counts, const at::Tensor& columns,
                            const at::Tensor& distances, const NeighborsGraphOptions& options) {
  auto rows = at::arange(x.count(), at::kLong).repeat_interleave(counts);
  sparse::detail::Triples edges{rows, columns.reshape(-1).contiguous(), distances.reshape(-1).contiguous()};
  if (options.mode == GraphMode::connectivity) edges.values = at::ones_like(edges.values);
  if (!options.include_self) {
    const auto kept = at::nonzero(edges.columns.ne(edges.rows + x.first())).view(-1);
    edges = {edges.rows.index_select(0, kept), edges.columns.index_select(0, kept), edges.values.index_select(0, kept)};
  }
  auto block = sparse::detail::block_from(op, edges, 0, x.count(), sparse::detail::Duplicates::refused);
  return sparse::detail::wrap(std::move(block), x.layout().with({x.size(), x.size()}, x.layout().split()), x.comm());
}

}  // namespace

/// A search for neighbors whose errors name the graph's function.
class NeighborsGraph {
 public:
  static Neighbors nearest(const char* op, const Rows& x, std::int64_t k, const NeighborsGraphOptions& options) {
    NearestNeighbors model({.n_neighbors = k, .metric = options.metric});
    model.learn(op, x);
    return options.include_self ? model.found_for(op, x) : model.nearest(op, model.fitted_rows(op), true);
  }
  static RadiusNeighbors within(const char* op, const Rows& x, double radius, const NeighborsGraphOptions& options) {
    NearestNeighbors model({.radius = radius, .metric = options.metric});
    model.learn(op, x);
    return model.within(op, x);
  }
};

sparse::DCSRMatrix kneighbors_graph(const Rows& x, std::int64_t k, const NeighborsGraphOptions& options) {
  constexpr auto op = "kneighbors_graph";
  const auto found = NeighborsGraph::nearest(op, x, k, options);
  return graph_of(op, x, at::full({x.count()}, k, at::kLong), found.indices.larray(), found.distances.larray(),
                  options);
}

sparse::DCSRMatrix radius_neighbors_graph(const Rows& x, double radius, const NeighborsGraphOptions& options) {
  constexpr auto op = "radius_neighbors_graph";
  const auto found = NeighborsGraph::within(op, x, radius, options);
  return graph_of(op, x, found.counts.larray(), found.indices.larray(), found.distances.larray(), options);
}

}  // namespace heatpp
