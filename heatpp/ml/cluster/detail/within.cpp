#include <heatpp/ml/cluster/detail/within.hpp>

#include <ATen/Parallel.h>

#include <heatpp/ml/neighbors/detail/search.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace heatpp::ml::detail {
namespace {

constexpr std::size_t most_axes = 4;

/// The cells that hold rows, in order, and the first row of each.
struct Index {
  std::vector<std::int64_t> keys, begins;
};

struct CellRows {
  std::int64_t begin, end;
};

}  // namespace

Within::Within(Metric metric, double eps, std::vector<double> box, std::vector<double> low, std::vector<double> high)
    : metric_(metric), eps_(eps), reach_(eps * (1 + 1e-9)), box_(std::move(box)), low_(std::move(low)) {
  for (const auto length : box_)
    if (std::isfinite(length)) reach_ = std::max(reach_, eps + 1e-14 * length);
  const auto axes = low_.size();
  if (axes == 0 || axes > most_axes || metric_ != Metric::euclidean) return;
  const auto most = std::pow(2.0, std::floor(60.0 / static_cast<double>(axes)));
  for (std::size_t a = 0; a < axes; ++a) {
    const auto length = std::max(0.0, high[a] - low_[a]);
    width_.push_back(std::max({reach_, length / (most - 4), std::numeric_limits<double>::min()}));
    cells_.push_back(static_cast<std::int64_t>(length / width_.back()) + 3);
  }
}

void Within::each_image(const double* place, const std::function<void(const double* image)>& f) const {
  f(place);
  if (box_.empty()) return;
  std::vector<std::vector<double>> all{std::vector<double>(place, place + box_.size())};
  for (std::size_t a = 0; a < box_.size(); ++a) {
    if (!std::isfinite(box_[a])) continue;
    const auto before = all.size();
    for (const double shift : {place[a] <= reach_ ? box_[a] : 0.0, place[a] >= box_[a] - reach_ ? -box_[a] : 0.0})
      for (std::size_t i = 0; shift != 0 && i < before; ++i) {
        all.push_back(all[i]);
        all.back()[a] += shift;
      }
  }
  for (std::size_t i = 1; i < all.size(); ++i) f(all[i].data());
}

std::int64_t Within::cell(std::size_t axis, double x) const {
  const auto at = std::floor((x - low_[axis]) / width_[axis]);
  return static_cast<std::int64_t>(std::clamp(at, -2.0, static_cast<double>(cells_[axis]))) + 1;
}

std::int64_t Within::key(const double* row) const {
  std::int64_t key = 0;
  for (std::size_t a = 0; a < cells_.size(); ++a) key = key * cells_[a] + cell(a, row[a]);
  return key;
}

std::vector<std::int64_t> Within::order(const at::Tensor& rows) const {
  std::vector<std::int64_t> order(static_cast<std::size_t>(rows.size(0)));
  std::iota(order.begin(), order.end(), 0);
  if (!in_cells()) return order;
  std::vector<std::pair<std::int64_t, std::int64_t>> keyed;
  keyed.reserve(order.size());
  const auto* x = rows.const_data_ptr<double>();
  for (const auto i : order) keyed.emplace_back(key(x + i * rows.size(1)), i);
  std::ranges::sort(keyed);
  std::ranges::transform(keyed, order.begin(), [](const auto& one) { return one.second; });
  return order;
}

void Within::operator()(const at::Tensor& asking, const at::Tensor& block, const Wanted& wanted,
                        const Found& found) const {
  if (in_cells()) return compare_cells(asking, block, wanted, found);
  const auto limit = reduced(metric_, eps_);
  const Search search{metric_, [&](std::int64_t i) { return wanted(i) ? limit : -1.0; },
                      [&](std::int64_t i, const Near& near) { found(i, near.row); }};
  search(comparable(metric_, asking, false), comparable(metric_, block, true), 0);
}

void Within::compare_cells(const at::Tensor& asking, const at::Tensor& block, const Wanted& wanted,
                           const Found& found) const {
  const auto axes = cells_.size();
  const auto* y = block.const_data_ptr<double>();
  const auto* x = asking.const_data_ptr<double>();
  Index index;
  for (std::int64_t j = 0; j < block.size(0); ++j)
    if (const auto k = key(y + static_cast<std::size_t>(j) * axes); index.keys.empty() || index.keys.back() != k)
      index.keys.push_back(k), index.begins.push_back(j);
  index.begins.push_back(block.size(0));
  std::int64_t steps = 1;
  for (std::size_t a = 0; a + 1 < axes; ++a) steps *= 3;

  // Finds the rows of a cell and its neighbors: cells next to each other on the last axis are contiguous.
  const auto around = [&](const double* place, std::vector<CellRows>& ranges) {
    ranges.clear();
    std::int64_t at[most_axes];
    for (std::size_t a = 0; a < axes; ++a) at[a] = cell(a, place[a]);
    for (std::int64_t step = 0; step < steps; ++step) {
      std::int64_t line = 0;
      bool inside = true;
      auto rest = step;
      for (std::size_t a = 0; a + 1 < axes; ++a, rest /= 3) {
        const auto c = at[a] + rest % 3 - 1;
        inside = inside && c >= 0 && c < cells_[a];
        line = line * cells_[a] + c;
      }
      const auto from = std::max<std::int64_t>(0, at[axes - 1] - 1),
                 to = std::min(cells_[axes - 1] - 1, at[axes - 1] + 1);
      if (!inside || from > to) continue;
      const auto first = std::ranges::lower_bound(index.keys, line * cells_[axes - 1] + from) - index.keys.begin();
      auto last = first;
      while (last < std::ssize(index.keys) &&
             index.keys[static_cast<std::size_t>(last)] <= line * cells_[axes - 1] + to)
        ++last;
      if (first < last)
        ranges.push_back({index.begins[static_cast<std::size_t>(first)], index.begins[static_cast<std::size_t>(last)]});
    }
  };
  const auto compare = [&](std::int64_t i, const double* place, const std::vector<CellRows>& ranges) {
    for (const auto& [begin, end] : ranges)
      for (auto j = begin; j < end; ++j) {
        double apart = 0;
        for (std::size_t a = 0; a < axes; ++a) {
          const auto d = place[a] - y[static_cast<std::size_t>(j) * axes + a];
          apart += d * d;
        }
        if (!(apart <= eps_ * eps_)) continue;
        found(i, j);
        if (!wanted(i)) return;
      }
  };
  at::parallel_for(0, asking.size(0), 1024, [&](auto first, auto last) {
    std::vector<CellRows> ranges, others;
    std::int64_t known = -1;
    for (auto i = first; i < last; ++i) {
      if (!wanted(i)) continue;
      const auto* place = x + static_cast<std::size_t>(i) * axes;
      if (const auto k = key(place); k != known) around(place, ranges), known = k;
      each_image(place, [&](const double* image) {
        if (image == place) return compare(i, place, ranges);
        if (!wanted(i)) return;
        around(image, others);
        compare(i, image, others);
      });
    }
  });
}

}  // namespace heatpp::ml::detail
