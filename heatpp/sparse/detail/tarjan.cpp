#include <heatpp/sparse/detail/tarjan.hpp>

#include <algorithm>

namespace heatpp::sparse::detail {
namespace {

constexpr std::int32_t unseen = -1;

/// A depth-first search that numbers each component when it leaves it.
class Walk {
 public:
  explicit Walk(const Edges& edges)
      : edges_(edges),
        order_(static_cast<std::size_t>(edges.vertices()), unseen),
        low_(order_.size(), 0),
        next_(order_.size(), 0),
        component_(order_.size(), unseen) {}

  std::vector<std::int32_t> operator()() {
    for (std::int32_t v = 0; v < edges_.vertices(); ++v)
      if (order_[at(v)] == unseen) from(v);
    return std::move(component_);
  }

 private:
  static std::size_t at(std::int32_t v) { return static_cast<std::size_t>(v); }

  void enter(std::int32_t v) {
    order_[at(v)] = low_[at(v)] = seen_++;
    path_.push_back(v);
    open_.push_back(v);
  }

  void from(std::int32_t start) {
    enter(start);
    while (!path_.empty()) {
      const auto v = path_.back();
      const auto targets = edges_.of(v);
      auto& next = next_[at(v)];
      if (next == std::ssize(targets)) {
        leave(v);
        continue;
      }
      const auto target = targets[static_cast<std::size_t>(next++)];
      if (target >= edges_.vertices()) continue;
      if (order_[at(target)] == unseen) enter(target);
      else if (component_[at(target)] == unseen) low_[at(v)] = std::min(low_[at(v)], order_[at(target)]);
    }
  }

  void leave(std::int32_t v) {
    path_.pop_back();
    if (!path_.empty()) low_[at(path_.back())] = std::min(low_[at(path_.back())], low_[at(v)]);
    if (low_[at(v)] != order_[at(v)]) return;
    for (std::int32_t member = unseen; member != v; open_.pop_back()) {
      member = open_.back();
      component_[at(member)] = components_;
    }
    ++components_;
  }

  const Edges& edges_;
  std::vector<std::int32_t> order_, low_;
  std::vector<std::int64_t> next_;
  std::vector<std::int32_t> component_, path_, open_;
  std::int32_t seen_ = 0, components_ = 0;
};

}  // namespace

std::vector<std::int32_t> strong_components_of(const Edges& edges) { return Walk(edges)(); }

Edges reversed(const Edges& edges, std::int32_t vertices) {
  Edges result;
  result.begins.assign(static_cast<std::size_t>(vertices) + 1, 0);
  result.targets.resize(edges.targets.size());
  for (const auto target : edges.targets) ++result.begins[static_cast<std::size_t>(target) + 1];
  for (std::size_t v = 1; v < result.begins.size(); ++v) result.begins[v] += result.begins[v - 1];
  auto free = result.begins;
  for (std::int32_t v = 0; v < edges.vertices(); ++v)
    for (const auto target : edges.of(v))
      result.targets[static_cast<std::size_t>(free[static_cast<std::size_t>(target)]++)] = v;
  return result;
}

}  // namespace heatpp::sparse::detail
