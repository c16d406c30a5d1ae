#include <heatpp/ml/cluster/detail/boxes.hpp>

#include <algorithm>

namespace heatpp::ml::detail {
namespace {

/// Returns how many rows of each rank are sampled: with 1024, boxes hold equal shares within a few percent. If those of
/// all ranks are more than 4 MiB, fewer are, but at least 16.
std::int64_t sampled(std::int64_t features, std::int64_t ranks) {
  constexpr std::int64_t bytes = std::int64_t{4} << 20;
  const auto row = std::max<std::int64_t>(1, features) * static_cast<std::int64_t>(sizeof(double));
  return std::clamp<std::int64_t>(bytes / row / ranks, 16, 1024);
}

/// Returns every n-th row of all rows, equal on every rank.
std::vector<double> sample_of(const Rows& rows, const at::Tensor& mine) {
  const auto n = rows.size(), f = rows.features();
  const auto ranks = rows.comm().size();
  const auto wanted = std::min(n, sampled(f, ranks) * ranks);
  std::vector<double> own, all(static_cast<std::size_t>(wanted * f));
  std::vector<std::int64_t> counts(static_cast<std::size_t>(ranks), 0);
  const auto* x = mine.const_data_ptr<double>();
  int owner = 0;
  for (std::int64_t i = 0; i < wanted; ++i) {
    const auto row = i * (n / wanted) + i * (n % wanted) / wanted;
    while (row >= rows.layout().offset(owner + 1)) ++owner;
    counts[static_cast<std::size_t>(owner)] += f;
    if (owner == rows.comm().rank())
      own.insert(own.end(), x + (row - rows.first()) * f, x + (row - rows.first() + 1) * f);
  }
  rows.comm().allgather(own, all, counts);
  return all;
}

}  // namespace

Boxes::Boxes(const Rows& rows, const at::Tensor& mine) {
  const auto all = sample_of(rows, mine);
  std::vector<const double*> sample;
  for (std::size_t i = 0; i < all.size(); i += static_cast<std::size_t>(rows.features())) sample.push_back(&all[i]);
  root_ = divide(std::move(sample), rows.features(), 0, rows.comm().size());
}

int Boxes::divide(std::vector<const double*> sample, std::int64_t features, int first, int last) {
  if (last - first == 1) return -1 - first;
  std::int64_t axis = 0;
  double widest = -1;
  for (std::int64_t a = 0; a < features && !sample.empty(); ++a) {
    const auto [low, high] = std::ranges::minmax(sample, {}, [&](const double* row) { return row[a]; });
    if (high[a] / 2 - low[a] / 2 > widest) widest = high[a] / 2 - low[a] / 2, axis = a;
  }
  const auto ranks = (last - first) / 2;
  const auto place = std::ssize(sample) * ranks / (last - first);
  std::ranges::nth_element(sample, sample.begin() + place, {}, [&](const double* row) { return row[axis]; });
  const auto cut = sample.empty() ? 0.0 : sample[static_cast<std::size_t>(place)][axis];
  std::vector<const double*> right(sample.begin() + place, sample.end());
  sample.resize(static_cast<std::size_t>(place));
  const Node node{axis, cut, divide(std::move(sample), features, first, first + ranks),
                  divide(std::move(right), features, first + ranks, last)};
  nodes_.push_back(node);
  return static_cast<int>(nodes_.size()) - 1;
}

int Boxes::owner(const double* place) const {
  auto at = root_;
  while (at >= 0) {
    const auto& node = nodes_[static_cast<std::size_t>(at)];
    at = place[node.axis] < node.cut ? node.left : node.right;
  }
  return -1 - at;
}

void Boxes::near(const double* place, double reach, std::vector<int>& ranks) const { near(root_, place, reach, ranks); }

void Boxes::near(int at, const double* place, double reach, std::vector<int>& ranks) const {
  if (at < 0) return ranks.push_back(-1 - at);
  const auto& node = nodes_[static_cast<std::size_t>(at)];
  if (place[node.axis] - reach < node.cut) near(node.left, place, reach, ranks);
  if (place[node.axis] + reach >= node.cut) near(node.right, place, reach, ranks);
}

}  // namespace heatpp::ml::detail
