#include <heatpp/ml/cluster/detail/relocate.hpp>
#include <heatpp/ml/detail/nearest.hpp>

namespace heatpp::ml::detail {
namespace {

struct Before {
  [[nodiscard]] bool operator()(const Far& a, const Far& b) const {
    return a.distance > b.distance || (a.distance == b.distance && a.row < b.row);
  }
};

/// Returns the `count` farthest rows of this rank, padded with distance -1.
std::vector<Far> farthest_here(const Rows& rows, std::span<const double> distances, std::size_t count) {
  std::vector<Far> far(std::max(count, distances.size()), {-1, -1});
  for (std::size_t i = 0; i < distances.size(); ++i)
    far[i] = {distances[i], static_cast<double>(rows.first()) + static_cast<double>(i)};
  std::partial_sort(far.begin(), far.begin() + static_cast<std::ptrdiff_t>(count), far.end(), Before());
  far.resize(count);
  return far;
}

/// Keeps the farthest rows of two lists. The first entry of a list has the number of those that follow, in their order,
/// and whether a rank has failed.
void keep_farthest(const void* list, void* kept, std::int64_t) {
  const auto* const other = static_cast<const Far*>(list) + 1;
  auto* const mine = static_cast<Far*>(kept) + 1;
  const auto count = static_cast<std::ptrdiff_t>(mine[-1].distance);
  mine[-1].row = std::max(mine[-1].row, other[-1].row);
  std::ptrdiff_t i = 0, j = 0;  // how many of mine and of the others are kept
  while (i + j < count) (Before()(other[j], mine[i]) ? j : i) += 1;
  for (auto place = count; j > 0;) {
    const bool is_mine = i > 0 && Before()(other[j - 1], mine[i - 1]);
    mine[--place] = is_mine ? mine[--i] : other[--j];
  }
}

std::vector<double> distances_to_own(const Weighted& data, const Assignment& assignment) {
  std::vector<double> distances(assignment.labels.size());
  const NearestCenters table(assignment.centers, data.rows);
  for_stored(data.rows, [&](const auto& piece, int) {
    table.distances(piece, assignment.labels.data() + piece.first, distances.data() + piece.first);
  });
  return distances;
}

/// Returns for each of the rows its features, its label and its weight, on every rank.
at::Tensor with_labels(const Weighted& data, const Assignment& assignment, const std::vector<Far>& far) {
  const auto f = data.rows.features();
  auto found = at::zeros({std::ssize(far), f + 2}, at::kDouble);
  const auto add = [&](std::size_t i) {
    const auto local = static_cast<std::int64_t>(far[i].row) - data.rows.first();
    if (far[i].distance < 0 || local < 0 || local >= data.rows.count()) return;
    auto line = found[static_cast<std::int64_t>(i)];
    line.slice(0, 0, f).copy_(data.rows.read(local, 1)[0]);
    line[f] = assignment.labels[static_cast<std::size_t>(local)];
    line[f + 1] = data.weights ? data.weights[local] : 1.0;
  };
  const auto failure = heatpp::detail::failure_of([&] {
    for (std::size_t i = 0; i < far.size(); ++i) add(i);
  });
  sum_over_ranks(data.rows, found, failure);
  return found;
}

}  // namespace

std::vector<Far> farthest(const Rows& rows, std::span<const double> distances, std::size_t count,
                          const std::optional<Communicator::Failure>& failure) {
  auto here = failure ? std::vector<Far>(count, {-1, -1}) : farthest_here(rows, distances, count);
  if (!rows.distributed()) {
    if (failure) rows.comm().agree(failure);
    return here;
  }
  here.insert(here.begin(), Far{static_cast<double>(count), failure ? 1.0 : 0.0});
  rows.comm().allreduce_records(here.data(), 1, std::ssize(here) * std::int64_t{sizeof(Far)}, &keep_farthest);
  if (here.front().row > 0) rows.comm().agree(failure);
  here.erase(here.begin());
  return here;
}

void relocate_empty(const Weighted& data, const Assignment& assignment, const ClusterSums& sums) {
  const auto k = assignment.centers.size(0), f = assignment.centers.size(1);
  std::vector<std::int64_t> empty;
  for (std::int64_t c = 0; c < k; ++c)
    if (!(sums.counts[c] > 0)) empty.push_back(c);
  if (empty.empty()) return;
  std::vector<double> distances;
  const auto failure = heatpp::detail::failure_of([&] { distances = distances_to_own(data, assignment); });
  const auto far = farthest(data.rows, distances, empty.size(), failure);
  if (!(far[0].distance > 0)) return;
  const auto rows = with_labels(data, assignment, far);
  const auto about = (rows.slice(1, 0, f) - assignment.origin).contiguous();
  for (std::size_t i = 0; i < empty.size() && far[i].distance >= 0; ++i) {
    const auto line = static_cast<std::int64_t>(i);
    const auto from = static_cast<std::int64_t>(rows[line][f].item<double>());
    const auto weight = rows[line][f + 1].item<double>();
    const auto* x = about.const_data_ptr<double>() + line * f;
    for (std::int64_t j = 0; j < f; ++j) {
      sums.sums[from * f + j] -= weight * x[j];
      sums.sums[empty[i] * f + j] = weight * x[j];
    }
    sums.counts[from] -= weight;
    sums.counts[empty[i]] = weight;
  }
}

}  // namespace heatpp::ml::detail
