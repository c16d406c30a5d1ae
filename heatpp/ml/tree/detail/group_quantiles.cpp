#include <heatpp/ml/tree/detail/group_quantiles.hpp>

#include <ATen/Parallel.h>

#include <heatpp/ml/tree/detail/units.hpp>
#include <heatpp/ops/sorting/detail/keys.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace heatpp::ml::detail {
namespace {

using heatpp::detail::Keys;

constexpr std::int64_t most_counts = 65536;

/// The state of the search in a group: for the number at which the weight `needed` is reached.
struct Sought {
  std::int64_t needed = 0, below = 0;  ///< weight up to it, and of the numbers below the prefix
  std::uint64_t prefix = 0;
  double fraction = 0;              ///< of the way to the next number
  bool ends = false;                ///< whether exactly the needed weight is reached at it
  std::size_t begin = 0, live = 0;  ///< the items with the prefix come first
};

class QuantileSearch {
 public:
  QuantileSearch(const Rows& rows, Groups groups, double share)
      : rows_(rows), groups_(std::move(groups)), share_(share), sought_(groups_.count()) {
    while (bits_ > 1 && (std::ssize(sought_) << bits_) > most_counts) bits_ /= 2;
    for (std::size_t g = 0; g < sought_.size(); ++g) {
      sought_[g].begin = groups_.begin_of(g);
      sought_[g].live = groups_.end_of(g);
    }
  }

  std::vector<double> operator()() {
    for (int shift = 64 - bits_; shift >= 0; shift -= bits_) {
      const auto counts = counted(shift);
      for_groups([&](std::size_t g) {
        const auto of_group = std::span(counts).subspan(g << bits_, std::size_t{1} << bits_);
        if (shift + bits_ == 64) ask(sought_[g], std::accumulate(of_group.begin(), of_group.end(), std::int64_t{0}));
        narrow(sought_[g], of_group, shift);
      });
    }
    return numbers();
  }

 private:
  template <class F>
  void for_groups(F f) {
    at::parallel_for(0, std::ssize(sought_), 1, [&](std::int64_t first, std::int64_t last) {
      for (auto g = first; g < last; ++g) f(static_cast<std::size_t>(g));
    });
  }
  [[nodiscard]] std::span<Groups::Item> live(const Sought& group) {
    return groups_.items().subspan(group.begin, group.live - group.begin);
  }

  /// Sets the weight that is needed in a group.
  void ask(Sought& group, std::int64_t total) const {
    if (total <= 0) return;
    const auto all = static_cast<double>(total);
    if (groups_.weighted()) {
      group.needed = std::clamp<std::int64_t>(static_cast<std::int64_t>(std::ceil(share_ * all)), 1, total);
      return;
    }
    const auto place = share_ * (all - 1), whole = std::floor(place);
    group.needed = static_cast<std::int64_t>(whole) + 1;
    group.fraction = place - whole;
  }

  /// Returns the weight of each value of a digit among the live items, over all ranks.
  std::vector<std::int64_t> counted(int shift) {
    std::vector<std::int64_t> counts(sought_.size() << bits_, 0);
    const auto mask = (std::uint64_t{1} << bits_) - 1;
    for_groups([&](std::size_t g) {
      auto* own = counts.data() + (g << bits_);
      for (const auto& item : live(sought_[g])) own[item.key >> shift & mask] += item.weight;
    });
    if (rows_.distributed()) rows_.comm().allreduce(counts);
    return counts;
  }

  void narrow(Sought& group, std::span<const std::int64_t> counts, int shift) {
    std::size_t value = 0, last = 0;
    for (auto reached = group.below; value < counts.size(); ++value) {
      if (counts[value] > 0) last = value;
      reached += counts[value];
      if (counts[value] > 0 && reached >= group.needed) break;
      group.below = reached;
    }
    group.prefix = group.prefix << bits_ | last;
    group.ends = group.below + counts[last] == group.needed;
    const auto mask = (std::uint64_t{1} << bits_) - 1;
    const auto others = std::ranges::partition(
        live(group), [&](const Groups::Item& item) { return (item.key >> shift & mask) == last; });
    group.live -= others.size();
  }

  /// Returns the next larger number for each group that needs it.
  std::vector<double> next_numbers() {
    std::vector<double> next(sought_.size(), std::numeric_limits<double>::infinity());
    for_groups([&](std::size_t g) {
      auto least = ~std::uint64_t{0};
      for (auto i = groups_.begin_of(g); i < groups_.end_of(g); ++i)
        if (const auto key = groups_.items()[i].key; key > sought_[g].prefix) least = std::min(least, key);
      if (least != ~std::uint64_t{0}) next[g] = Keys<double>::element(least);
    });
    if (rows_.distributed()) rows_.comm().allreduce(next, ReduceOp::min);
    return next;
  }

  std::vector<double> numbers() {
    const auto between = [](const Sought& group) { return group.fraction > 0 && group.ends; };
    std::vector<double> result;
    for (const auto& group : sought_) result.push_back(group.needed > 0 ? Keys<double>::element(group.prefix) : 0.0);
    if (std::ranges::none_of(sought_, between)) return result;
    const auto next = next_numbers();
    for (std::size_t g = 0; g < result.size(); ++g)
      if (between(sought_[g]) && std::isfinite(next[g])) result[g] += sought_[g].fraction * (next[g] - result[g]);
    return result;
  }

  const Rows& rows_;
  Groups groups_;
  double share_;
  std::vector<Sought> sought_;
  int bits_ = 8;
};

}  // namespace

Groups::Groups(std::optional<double> total_weight)
    : weighted_(total_weight.has_value()), unit_(total_weight ? unit_of(*total_weight, 61) : 1.0) {}

void Groups::add(double number, double weight) {
  items_.push_back({Keys<double>::of(number), weighted_ ? std::llround(weight / unit_) : 1});
}

std::vector<double> group_quantiles(const Rows& rows, Groups groups, double share) {
  return QuantileSearch(rows, std::move(groups), share)();
}

}  // namespace heatpp::ml::detail
