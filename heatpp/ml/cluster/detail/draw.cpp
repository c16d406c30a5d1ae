#include <heatpp/ml/cluster/detail/draw.hpp>

#include <heatpp/comm/detail/numbers/place.hpp>
#include <heatpp/core/detail/peers/few_ranks.hpp>
#include <heatpp/ml/detail/nearest.hpp>

#include <array>
#include <cmath>
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

std::vector<std::int64_t> any_rows(const Rows& rows, std::span<const double> parts) {
  std::vector<std::int64_t> found;
  for (const auto part : parts) found.push_back(static_cast<std::int64_t>(part * static_cast<double>(rows.size())));
  return found;
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

std::vector<std::int64_t> drawn_by_place(const Rows& rows, std::span<const double> masses,
                                         std::span<const double> parts) {
  constexpr double units = 0x1p52;
  const auto mine = std::accumulate(masses.begin(), masses.end(), 0.0);
  std::array total{mine};
  rows.comm().allreduce(total);
  if (!(total[0] > 0) || std::isinf(total[0])) return any_rows(rows, parts);
  const auto unit = total[0] / units;
  const auto count = static_cast<std::int64_t>(mine / unit);
  const auto place = heatpp::detail::place_in_whole(rows.comm(), count);
  std::vector<std::int64_t> found;
  for (const auto part : parts) {
    const auto wanted = static_cast<std::int64_t>(part * static_cast<double>(place.total)) - place.offset;
    const bool here = wanted >= 0 && wanted < count;
    found.push_back(here ? rows.first() + row_after(masses, static_cast<double>(wanted) * unit) : -1);
  }
  return found;
}

std::vector<std::int64_t> drawn(const Rows& rows, std::span<const double> masses, std::span<const double> parts) {
  if (rows.distributed() && rows.comm().size() > heatpp::detail::few_ranks) return drawn_by_place(rows, masses, parts);
  const auto all = of_ranks(rows, std::accumulate(masses.begin(), masses.end(), 0.0));
  const auto total = std::accumulate(all.begin(), all.end(), 0.0);
  if (!(total > 0)) return any_rows(rows, parts);
  const auto me = rows.distributed() ? static_cast<std::size_t>(rows.comm().rank()) : 0;
  std::vector<std::int64_t> found;
  for (const auto part : parts) {
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
