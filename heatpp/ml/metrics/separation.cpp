#include <heatpp/ml/metrics/separation.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/ml/detail/nearest.hpp>
#include <heatpp/ml/metrics/detail/labels.hpp>

#include <cmath>

namespace heatpp {
namespace {

using namespace ml::detail;

/// The group of each row of this rank, among `groups` groups.
struct Grouped {
  std::int64_t groups;
  std::vector<std::int32_t> of_row;
};

Grouped grouped(const char* op, const Rows& rows, const DNDarray& labels) {
  const auto mine = labels_beside(op, rows, labels);
  const auto all = distinct_labels(rows, mine);
  if (std::ssize(all) < 2 || std::ssize(all) >= rows.size())
    detail::raise<ValueError>(op, "got {} labels for {} rows; expected 2 to rows - 1", all.size(), rows.size());
  return {std::ssize(all), positions_among(all, mine)};
}

/// The spread of each group about its center.
struct Shapes {
  at::Tensor centers;    ///< (groups, features)
  at::Tensor counts;     ///< (groups,)
  at::Tensor distances;  ///< (groups,): sums of the distances to the center
  at::Tensor squares;    ///< (groups,): of their squares
};

Shapes shapes(const char* op, const Rows& rows, const Grouped& in) {
  const auto k = static_cast<std::size_t>(in.groups), f = static_cast<std::size_t>(rows.features());
  const std::vector<double> origin(f, 0.0);
  auto total = summed(rows, k * (f + 1), [&](const auto& piece, std::span<double> sums) {
    check_finite(op, rows, piece);
    add_rows(piece, in.of_row.data() + piece.first, nullptr, origin.data(), in.groups, sums.data(),
             sums.data() + k * f);
  });
  const auto counts = at::from_blob(total.data() + k * f, {in.groups}, at::kDouble).clone();
  const auto centers =
      (at::from_blob(total.data(), {in.groups, rows.features()}, at::kDouble) / counts.unsqueeze(1)).contiguous();
  auto spread = summed(rows, 2 * k, [&](const auto& piece, std::span<double> sums) {
    const auto* group = in.of_row.data() + piece.first;
    std::vector<double> squares(static_cast<std::size_t>(piece.rows));
    squared_distances(piece, centers.template const_data_ptr<double>(), group, squares.data());
    for (std::size_t i = 0; i < squares.size(); ++i) {
      sums[static_cast<std::size_t>(group[i])] += std::sqrt(squares[i]);
      sums[k + static_cast<std::size_t>(group[i])] += squares[i];
    }
  });
  const auto both = at::from_blob(spread.data(), {2, in.groups}, at::kDouble).clone();
  return {centers, counts, both[0], both[1]};
}

}  // namespace

double calinski_harabasz_score(const Rows& x, const DNDarray& labels) {
  constexpr auto op = "calinski_harabasz_score";
  const auto in = grouped(op, x, labels);
  const auto found = shapes(op, x, in);
  const auto n = static_cast<double>(x.size()), k = static_cast<double>(in.groups);
  const auto mean = (found.centers * found.counts.unsqueeze(1)).sum(0) / n;
  const auto between = ((found.centers - mean).square().sum(1) * found.counts).sum().item<double>();
  const auto within = found.squares.sum().item<double>();
  return within == 0 ? 1 : between * (n - k) / (within * (k - 1));
}

double davies_bouldin_score(const Rows& x, const DNDarray& labels) {
  constexpr auto op = "davies_bouldin_score";
  const auto in = grouped(op, x, labels);
  const auto found = shapes(op, x, in);
  constexpr std::int64_t by_differences = 2;
  const auto apart = at::cdist(found.centers, found.centers, 2, by_differences);
  const auto mean = found.distances / found.counts;
  const auto likeness = (mean.unsqueeze(0) + mean.unsqueeze(1)) / apart;
  return at::where(apart > 0, likeness, 0.0).amax(1).mean().item<double>();
}

}  // namespace heatpp
