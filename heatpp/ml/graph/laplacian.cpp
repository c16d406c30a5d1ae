#include <heatpp/ml/graph/laplacian.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/promotion.hpp>
#include <heatpp/ml/detail/pieces.hpp>

namespace heatpp::graph {
namespace {

using namespace ml::detail;
constexpr auto op = "Laplacian.construct";

/// Returns this rank's part of the weights: those of the edges of its rows.
at::Tensor weights_of(const DNDarray& similarities, const Rows& x, const LaplacianOptions& o) {
  auto weights = similarities.larray().to(at::kCPU).clone();
  weights.diagonal(x.first()).fill_(0);
  if (o.mode == LaplacianMode::e_neighbour) {
    auto neighbors =
        o.threshold_key == LaplacianBoundary::upper ? weights.lt(o.threshold_value) : weights.gt(o.threshold_value);
    neighbors.diagonal(x.first()).fill_(false);
    weights = o.weighted ? at::where(neighbors, weights, 0.0).to(weights.dtype()) : neighbors.to(weights.dtype());
  } else if (!o.weighted) {
    weights.fill_(1).diagonal(x.first()).fill_(0);
  }
  return weights;
}

/// Gathers the degrees of all rows on every rank. Collective: one all-gather.
at::Tensor all_degrees(const Rows& x, const at::Tensor& mine) {
  if (!x.distributed()) return mine;
  std::vector<std::int64_t> counts;
  for (int r = 0; r < x.comm().size(); ++r) counts.push_back(x.layout().count(r));
  auto all = at::empty({x.size()}, at::kDouble);
  x.comm().allgather(heatpp::detail::buffer_of(mine), heatpp::detail::buffer_of(all), counts);
  return all;
}

/// Returns degrees to the power -`power`, and 0 for a vertex without neighbors.
at::Tensor inverse(const at::Tensor& degrees, double power) { return at::where(degrees > 0, degrees.pow(-power), 0.0); }

}  // namespace

LaplacianMatrix Laplacian::construct_with_degrees(const Rows& x) const {
  check_not_empty(op, x);
  const auto similarities = similarity_(x);
  if (similarities.shape() != Shape{x.size(), x.size()} ||
      similarities.layout() != x.layout().with({x.size(), x.size()}, x.layout().split()) ||
      !is_floating(similarities.dtype()))
    heatpp::detail::raise<ValueError>(op,
                                      "got {} similarities of shape {}, split {}; expected floating ones of ({}, {})"
                                      ", cut as the rows",
                                      name(similarities.dtype()), to_string(similarities.shape()),
                                      similarities.split().value_or(-1), x.size(), x.size());
  auto matrix = weights_of(similarities, x, options_);
  const auto degrees = matrix.sum(1, false, at::kDouble).contiguous();
  all_or_none(x.comm(), [&] {
    if (!degrees.isfinite().all().item<bool>() || matrix.lt(0).any().item<bool>())
      heatpp::detail::raise<ValueError>(op, "got similarities that are negative or not finite; expected others");
  });
  matrix.neg_().diagonal(x.first()).add_(degrees);
  if (options_.definition == LaplacianDefinition::norm_rw) {
    matrix.mul_(inverse(degrees, 1).unsqueeze(1));
  } else if (options_.definition == LaplacianDefinition::norm_sym) {
    matrix.mul_(inverse(degrees, 0.5).unsqueeze(1));
    matrix.mul_(inverse(all_degrees(x, degrees), 0.5));
  }
  return {as_rows(x, matrix), as_rows(x, degrees)};
}

}  // namespace heatpp::graph
