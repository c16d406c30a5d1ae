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
  auto here = failure ? std::vector<Far>(count, {-2, -2}) : farthest_here(rows, distances, count);
  if (!rows.distributed()) {
    if (failure) rows.comm().agree(failure);
    return here;
  }
  const auto& comm = rows.comm();
  std::vector<Far> all(count * static_cast<std::size_t>(comm.size()));
  const auto numbers = [](std::vector<Far>& v) { return std::span(&v[0].distance, 2 * v.size()); };
  const std::vector<std::int64_t> counts(static_cast<std::size_t>(comm.size()), 2 * static_cast<std::int64_t>(count));
  comm.allgather(numbers(here), numbers(all), counts);
  if (std::ranges::any_of(all, [](const Far& f) { return f.distance == -2; })) comm.agree(failure);
  std::sort(all.begin(), all.end(), Before());
  all.resize(count);
  return all;
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
