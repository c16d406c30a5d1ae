#include <heatpp/ml/cluster/detail/draw.hpp>
#include <heatpp/ml/detail/nearest.hpp>

#include <limits>
#include <numeric>

namespace heatpp::ml::detail {
namespace {

/// Returns the row of this rank at which the running sum passes `mass`, and never a row without mass.
std::int64_t row_after(std::span<const double> masses, double mass) {
  std::int64_t last = 0;
  for (std::size_t i = 0; i < masses.size(); ++i) {
    if (!(masses[i] > 0)) continue;
    last = static_cast<std::int64_t>(i);
    if ((mass -= masses[i]) < 0) break;
  }
  return last;
}

std::vector<double> of_ranks(const Rows& rows, double mine) {
  if (!rows.distributed()) return {mine};
  const auto ranks = static_cast<std::size_t>(rows.comm().size());
  std::vector<double> all(ranks);
  rows.comm().allgather(std::array{mine}, all, std::vector<std::int64_t>(ranks, 1));
  return all;
}

}  // namespace

Closest::Closest(const Weighted& data)
    : data_(data), distances_(static_cast<std::size_t>(data.rows.count()), std::numeric_limits<double>::infinity()) {}

void Closest::add(const at::Tensor& centers) {
  const NearestCenters table(centers, data_.rows);
  const auto nearer = [&](const auto& piece, int) {
    std::vector<std::int32_t> labels(static_cast<std::size_t>(piece.rows));
    std::vector<double> distances(labels.size());
    table.nearest(piece, labels.data());
    table.distances(piece, labels.data(), distances.data());
    auto* kept = distances_.data() + piece.first;
    for (std::size_t i = 0; i < labels.size(); ++i) kept[i] = std::min(kept[i], distances[i]);
  };
  failure_ = heatpp::detail::failure_of([&] { for_stored(data_.rows, nearer); });
}

std::vector<double> Closest::sums_with(const at::Tensor& centers) const {
  const NearestCenters table(centers, data_.rows);
  Totals totals(static_cast<std::size_t>(centers.size(0)));
  const auto add = [&](const auto& piece, int thread) {
    const auto sums = totals.of(thread);
    std::vector<std::int32_t> labels(static_cast<std::size_t>(piece.rows));
    std::vector<double> distances(labels.size());
    for (std::size_t c = 0; c < sums.size(); ++c) {
      std::ranges::fill(labels, static_cast<std::int32_t>(c));
      table.distances(piece, labels.data(), distances.data());
      for (std::size_t i = 0; i < labels.size(); ++i) {
        const auto row = static_cast<std::size_t>(piece.first) + i;
        sums[c] += std::min(distances[i], distances_[row]) * (data_.weights ? data_.weights[row] : 1.0);
      }
    }
  };
  const auto failure = heatpp::detail::failure_of([&] { for_stored(data_.rows, add); });
  return totals.over_ranks(data_.rows, failure_ ? failure_ : failure);
}

double Closest::sum() const {
  Totals sums(1);
  const auto mine = masses();
  sums.of(0)[0] = std::accumulate(mine.begin(), mine.end(), 0.0);
  return sums.over_ranks(data_.rows, failure_)[0];
}

std::vector<double> Closest::masses() const {
  std::vector<double> all(distances_.size());
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = mass(static_cast<std::int64_t>(i));
  return all;
}

std::vector<std::int64_t> drawn(const Rows& rows, std::span<const double> masses, std::span<const double> parts) {
  const auto all = of_ranks(rows, std::accumulate(masses.begin(), masses.end(), 0.0));
  const auto total = std::accumulate(all.begin(), all.end(), 0.0);
  const auto me = rows.distributed() ? static_cast<std::size_t>(rows.comm().rank()) : 0;
  std::vector<std::int64_t> found;
  for (const auto part : parts) {
    if (!(total > 0)) {
      found.push_back(static_cast<std::int64_t>(part * static_cast<double>(rows.size())));
      continue;
    }
    auto before = part * total;
    std::size_t owner = 0, last = 0;
    for (; owner < all.size(); ++owner) {
      if (all[owner] > 0) last = owner;
      if (before < all[owner]) break;
      before -= all[owner];
    }
    if (owner == all.size()) owner = last, before = all[last];  // happens by rounding
    found.push_back(owner == me ? rows.first() + row_after(masses, before) : -1);
  }
  return found;
}

}  // namespace heatpp::ml::detail
