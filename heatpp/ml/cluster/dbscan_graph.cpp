#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/torch.hpp>
#include <heatpp/core/promotion.hpp>
#include <heatpp/ml/cluster/dbscan.hpp>
#include <heatpp/ml/cluster/detail/whole_weights.hpp>
#include <heatpp/ml/detail/options/cluster.hpp>
#include <heatpp/sparse/detail/halo.hpp>
#include <heatpp/sparse/detail/structure.hpp>
#include <heatpp/sparse/graph.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace heatpp {
namespace {

using detail::raise;
using sparse::DCSRMatrix;
using namespace ml::detail;
constexpr auto op = "DBSCAN.fit";

void check_distances(const DCSRMatrix& distances, const DBSCANOptions& o) {
  sparse::detail::check_square(op, distances);
  if (is_complex(distances.dtype()))
    raise<TypeError>(op, "got distances of {}; expected real numbers", name(distances.dtype()));
  if (!(o.eps > 0) || !std::isfinite(o.eps) || o.min_samples < 1 || !o.box.empty())
    raise<ValueError>(op,
                      "got eps {}, min_samples {} and a box of {} lengths for a graph; expected a finite eps > 0, "
                      "min_samples >= 1 and no box",
                      o.eps, o.min_samples, o.box.size());
  const auto wrong = [&] {
    const auto& values = sparse::detail::block_of(distances).values;
    if (values.numel() > 0 && !values.ge(0).all().item<bool>())
      raise<ValueError>(op, "got a distance that is negative or NaN; expected none");
  };
  if (distances.split()) all_or_none(distances.comm(), wrong);
  else wrong();
}

/// A graph that gives each entry a number of its column's vertex.
class Graph {
 public:
  explicit Graph(DCSRMatrix a) : a_(std::move(a)) {
    if (a_.split()) plan_ = sparse::detail::halo_plan(a_, a_.layout().cut());
  }
  /// Returns for each entry the number that its column's vertex has in `mine` on its rank. Collective if cut.
  [[nodiscard]] at::Tensor of_columns(const at::Tensor& mine) const {
    if (!plan_) return mine.index_select(0, block().columns.to(at::kLong));
    sparse::detail::Halo halo(*plan_, mine, a_.comm());
    return at::cat({mine, halo.wait()}).index_select(0, plan_->columns.places.to(at::kLong));
  }
  [[nodiscard]] const sparse::detail::CsrBlock& block() const { return sparse::detail::block_of(a_); }
  [[nodiscard]] const DCSRMatrix& matrix() const { return a_; }
  [[nodiscard]] at::Tensor of_rows(const at::Tensor& mine) const {
    return mine.repeat_interleave(block().row_ptr.diff());
  }
  /// Returns a graph with these vertices and the edges in `keep`.
  [[nodiscard]] DCSRMatrix kept(const at::Tensor& keep) const {
    const auto flags = keep.contiguous();
    const auto* const flag = flags.const_data_ptr<bool>();
    return sparse::detail::wrap(
        sparse::detail::filtered(block(), [flag](auto, auto, std::int64_t i) { return flag[i]; }), a_.layout(),
        a_.comm());
  }

 private:
  DCSRMatrix a_;
  std::shared_ptr<const sparse::detail::HaloPlan> plan_;
};

/// Returns the distinct numbers of all ranks, in increasing order. Collective if cut.
at::Tensor all_of(const at::Tensor& numbers, const DCSRMatrix& a) {
  const auto mine = std::get<0>(at::_unique(numbers, true));
  if (!a.split()) return mine;
  const auto counts = a.comm().allgather(mine.numel());
  auto all = at::empty({std::accumulate(counts.begin(), counts.end(), std::int64_t{0})}, at::kLong);
  a.comm().allgather(detail::buffer_of(mine.contiguous()), detail::buffer_of(all), counts);
  return std::get<0>(at::_unique(all, true));
}

/// Returns the weight of each of this rank's vertices together with its neighbors.
at::Tensor weight_near(const Graph& graph, const WholeWeights& weights) {
  auto sums = weights.numbers.clone();
  sums.index_add_(0, graph.of_rows(at::arange(sums.numel(), at::kLong)), graph.of_columns(weights.numbers));
  return sums.to(at::kDouble) * weights.unit;
}

/// Labels core vertices by connected components, and others by the first of their core neighbors.
at::Tensor labels_of(const Graph& graph, const at::Tensor& core, at::Tensor& starts) {
  const auto core_edges = graph.kept(graph.of_rows(core).logical_and(graph.of_columns(core)));
  const auto parts = sparse::connected_components(core_edges).labels.larray();
  starts = all_of(parts.masked_select(core), graph.matrix());
  auto labels = at::where(core, at::searchsorted(starts, parts), -1);
  constexpr auto none = std::numeric_limits<std::int64_t>::max();
  const auto near = graph.of_columns(labels);
  auto first = at::full({core.numel()}, none, at::kLong);
  const auto rows = graph.of_rows(at::arange(core.numel(), at::kLong));
  first.scatter_reduce_(0, rows, at::where(near.lt(0), none, near), "amin", true);
  return at::where(core.logical_or(first.eq(none)), labels, first);
}

}  // namespace

DBSCAN& DBSCAN::fit(const DCSRMatrix& distances, const FitOptions& options) {
  check_agreed(op, distances, options_);
  check_distances(distances, options_);
  const auto first = sparse::detail::first_row(distances);
  const auto& block = sparse::detail::block_of(distances);
  const auto rows = sparse::detail::triples_of(block, first).rows;
  const Graph graph(Graph(distances).kept(block.values.le(options_.eps).logical_and(block.columns.ne(rows))));
  const auto core =
      options.sample_weight
          ? weight_near(graph, whole_weights(op, distances, *options.sample_weight)).ge(options_.min_samples)
          : (graph.block().row_ptr.diff() + 1).ge(options_.min_samples);
  at::Tensor starts;
  const auto labels = labels_of(graph, core, starts);
  const auto found = at::nonzero(core).view(-1) + first;
  const auto& comm = distances.comm();
  const auto cut = distances.layout().with({distances.rows()}, distances.split());
  const auto cores = distances.split() ? Layout::from_counts({0}, 0, comm.allgather(found.numel()))
                                       : distances.layout().replicated({found.numel()});
  fitted_ = Fitted{detail::wrap(labels, cut, comm), detail::wrap(found, cores, comm), starts.numel()};
  return *this;
}

}  // namespace heatpp
