#include <heatpp/linalg/products/detail/grid_plan.hpp>

#include <heatpp/core/detail/cuts/placed_layout.hpp>
#include <heatpp/core/detail/relayout.hpp>
#include <heatpp/linalg/products/detail/multiplier.hpp>

#include <algorithm>
#include <numeric>

namespace heatpp::detail {

int LabelledLayout::axis(int label) const {
  return static_cast<int>(std::ranges::find(labels, label) - labels.begin());
}
bool LabelledLayout::has(int label) const { return axis(label) < layout.ndim(); }
std::int64_t LabelledLayout::extent(int label) const { return layout.shape()[static_cast<std::size_t>(axis(label))]; }

int GridPlan::ranks_along(RankDimension::Kind kind) const {
  int ranks = 1;
  for (const auto& dimension : dimensions)
    if (dimension.kind == kind) ranks *= dimension.cut.ranks();
  return ranks;
}

int GridPlan::place_along(RankDimension::Kind kind, int rank) const {
  int place = 0;
  for (const auto& dimension : dimensions)
    if (dimension.kind == kind) place = place * dimension.cut.ranks() + dimension.part(rank);
  return place;
}

const RankDimension* GridPlan::dimension_of(int label) const {
  const auto found = std::ranges::find(dimensions, label, &RankDimension::label);
  return found == dimensions.end() ? nullptr : &*found;
}

namespace {

using Kind = RankDimension::Kind;
using Labels = std::vector<int>;

std::vector<int> divisors_of(int number) {
  std::vector<int> divisors;
  for (int d = 1; d <= number / d; ++d)
    if (number % d == 0) {
      divisors.push_back(d);
      if (d != number / d) divisors.push_back(number / d);
    }
  std::ranges::sort(divisors);
  return divisors;
}

/// Makes the plans in which `a_` is the first array.
class GridPlanner {
 public:
  GridPlanner(const LabelledLayout& a, const LabelledLayout& b, const Labels& out, bool swapped)
      : a_(a), b_(b), out_(out), groups_(a.labels, b.labels, out), swapped_(swapped) {
    for (const auto label : out) shape_.push_back(a.has(label) ? a.extent(label) : b.extent(label));
  }

  /// Returns the plans that keep the first array as it is.
  [[nodiscard]] std::vector<GridPlan> keeping_first() const {
    std::vector<GridPlan> plans;
    if (!a_.layout.is_cut() || (a_.layout.is_grid() && a_.layout.grid_cut().copies() > 1)) return plans;
    const auto panel = longest(groups_.inner, [&](int label) {
      return std::pair(a_.layout.cut_along(a_.axis(label)).ranks(), a_.extent(label));
    });
    const auto parts = a_.layout.cut_along(a_.axis(*panel)).ranks();
    for (const auto columns : divisors_of(parts))
      for (auto& of_columns : columns_over(columns, *panel)) {
        auto plan = started(*panel);
        plan.dimensions = dimensions_of_first(*panel, columns);
        plan.inner_a = a_.layout.cut_along(a_.axis(*panel));
        plan.dimensions.insert(plan.dimensions.end(), of_columns.begin(), of_columns.end());
        if (fits(plan)) plans.push_back(finished(std::move(plan), true));
      }
    return plans;
  }

  /// Returns the plan with an even grid that sends the fewest elements.
  [[nodiscard]] GridPlan anew() const {
    std::optional<GridPlan> best;
    const auto ranks = a_.layout.ranks();
    const auto extent_a = [&](int label) { return a_.extent(label); };
    const auto panel = *longest(groups_.inner, extent_a);
    const auto batch = longest(groups_.batch, extent_a), rows = longest(groups_.rows, extent_a),
               columns = longest(groups_.columns, [&](int label) { return b_.extent(label); });
    const auto divisors = [](int number, bool any) { return any ? divisors_of(number) : std::vector{1}; };
    for (const auto i : divisors(ranks, batch.has_value()))
      for (const auto j : divisors(ranks / i, rows.has_value()))
        for (const auto k : divisors(ranks / i / j, columns.has_value())) {
          auto plan = started(panel);
          int stride = ranks;
          const auto add = [&](Kind kind, std::optional<int> label, int count) {
            stride /= count;
            if (count > 1) plan.dimensions.push_back(even_dimension(kind, *label, count, stride));
          };
          add(Kind::batch, batch, i);
          add(Kind::rows, rows, j);
          add(Kind::depth, panel, ranks / i / j / k);
          add(Kind::columns, columns, k);
          count_sent(plan);
          const auto rank = [this](const GridPlan& p) { return std::tuple(!fits(p), idle(p), p.sent); };
          if (!best || rank(plan) < rank(*best)) best = std::move(plan);
        }
    return finished(std::move(*best), false);
  }

 private:
  [[nodiscard]] std::int64_t extent(int label) const { return a_.has(label) ? a_.extent(label) : b_.extent(label); }

  template <class Length>
  [[nodiscard]] static std::optional<int> longest(const Labels& labels, Length length) {
    const auto found = std::ranges::max_element(labels, {}, length);
    return found == labels.end() ? std::nullopt : std::optional(*found);
  }

  [[nodiscard]] GridPlan started(int panel) const {
    return {swapped_, {}, panel, {}, {}, {}, a_.layout, b_.layout, a_.layout.replicated(shape_), 0, 0};
  }

  [[nodiscard]] RankDimension even_dimension(Kind kind, int label, int count, int stride) const {
    return {kind, label, Cut::even(extent(label), count), [=](int rank) { return rank / stride % count; }};
  }

  [[nodiscard]] Kind kind_of(int label) const {
    if (!b_.has(label)) return Kind::rows;
    return std::ranges::find(out_, label) == out_.end() ? Kind::depth : Kind::batch;
  }

  /// Returns the dimensions of the first array's cuts. The ranks along `panel` are those of the depth and of `columns`.
  [[nodiscard]] std::vector<RankDimension> dimensions_of_first(int panel, int columns) const {
    std::vector<RankDimension> dimensions;
    for (const auto label : a_.labels) {
      const auto axis = a_.axis(label), share = label == panel ? columns : 1;
      const auto cut = coarsened(a_.layout.cut_along(axis), share);
      if (cut.ranks() == 1) continue;
      const auto part = [layout = a_.layout, axis, share](int rank) { return layout.place_along(axis, rank) / share; };
      dimensions.push_back({kind_of(label), label, cut, part});
    }
    return dimensions;
  }

  using Dimensions = std::vector<RankDimension>;

  /// Returns the dimensions that cut the columns over `count` ranks as the second array is cut, if that is so.
  [[nodiscard]] std::optional<Dimensions> columns_of_second(int count, const std::function<int(int)>& place) const {
    Dimensions dimensions;
    auto stride = count;
    for (const auto label : groups_.columns) {
      const auto cut = b_.layout.cut_along(b_.axis(label));
      if (cut.ranks() == 1) continue;
      if (stride % cut.ranks() != 0) return std::nullopt;
      stride /= cut.ranks();
      const auto part = [place, stride, ranks = cut.ranks()](int rank) { return place(rank) / stride % ranks; };
      dimensions.push_back({Kind::columns, label, cut, part});
    }
    return stride == 1 ? std::optional(dimensions) : std::nullopt;
  }

  /// Returns the ways to cut the columns over the ranks of a part along the depth of the first array's `panel`: as the
  /// second array is cut, and evenly.
  [[nodiscard]] std::vector<Dimensions> columns_over(int count, int panel) const {
    std::vector<Dimensions> ways;
    if (count == 1) ways.emplace_back();
    const auto main = longest(groups_.columns, [&](int label) { return b_.extent(label); });
    if (count == 1 || !main) return ways;
    const auto place = [layout = a_.layout, axis = a_.axis(panel), count](int rank) {
      return layout.place_along(axis, rank) % count;
    };
    if (auto as_second = columns_of_second(count, place)) ways.push_back(std::move(*as_second));
    ways.push_back({{Kind::columns, *main, Cut::even(b_.extent(*main), count), place}});
    return ways;
  }

  /// Whether the sums of a rank may be as large as they are. Those of a plan without depth are a share of the result.
  [[nodiscard]] bool fits(const GridPlan& plan) const {
    const auto all = static_cast<double>(a_.layout.size()) + static_cast<double>(b_.layout.size()) + size_of_result();
    return plan.ranks_along(Kind::depth) == 1 || size_of_result() * plan.ranks_along(Kind::depth) <= 4 * all;
  }
  [[nodiscard]] bool idle(const GridPlan& plan) const {
    return std::ranges::any_of(plan.dimensions, [](const auto& d) { return d.cut.extent() < d.cut.ranks(); });
  }
  [[nodiscard]] double size_of_result() const {
    double size = 1;
    for (const auto count : shape_) size *= static_cast<double>(count);
    return size;
  }

  void count_sent(GridPlan& plan) const {
    const auto times = [&](const LabelledLayout& x, Kind across) {
      return x.layout.is_cut() ? static_cast<double>(x.layout.size()) * (plan.ranks_along(across) - 1) : 0;
    };
    const auto sums = size_of_result() * (plan.ranks_along(Kind::depth) - 1);
    plan.sent = times(a_, Kind::columns) + times(b_, Kind::rows) + sums * (out_.empty() ? 2 : 1);
  }

  /// Cuts the arrays as the dimensions say.
  [[nodiscard]] GridPlan finished(GridPlan plan, bool keeps_first) const {
    const auto* depth = plan.dimension_of(plan.panel);
    const auto along_depth = depth ? depth->cut : Cut::even(extent(plan.panel), 1);
    if (!keeps_first) plan.inner_a = refined(along_depth, plan.ranks_along(Kind::columns));
    plan.inner_b = inner_of_second(plan, along_depth);
    count_sent(plan);
    if (!keeps_first && a_.layout.is_cut()) plan.a = operand(plan, a_, Kind::columns, plan.inner_a);
    if (b_.layout.is_cut()) plan.b = operand(plan, b_, Kind::rows, plan.inner_b);
    for (const auto& [x, to] : {std::pair(&a_, &plan.a), {&b_, &plan.b}})
      if (!same_cut(x->layout, *to)) plan.moved += static_cast<double>(x->layout.size());
    if (plan.ranks_along(Kind::depth) > 1) plan.scattered = longest(out_, [&](int label) { return extent(label); });
    plan.result = result(plan);
    return plan;
  }

  /// Returns the second array's own cut, if its parts lie in those along the depth.
  [[nodiscard]] Cut inner_of_second(const GridPlan& plan, const Cut& depth) const {
    const auto rows = plan.ranks_along(Kind::rows);
    const auto own = b_.layout.cut_along(b_.axis(plan.panel));
    if (own.ranks() == rows * depth.ranks() && coarsened(own, rows) == depth) return own;
    return refined(depth, rows);
  }

  /// Returns the layout of an operand whose blocks ranks along `across` need in common.
  [[nodiscard]] Layout operand(const GridPlan& plan, const LabelledLayout& x, Kind across, const Cut& inner) const {
    std::vector<PlacedCut> axes;
    for (const auto label : x.labels) {
      const auto* dimension = plan.dimension_of(label);
      if (label == plan.panel)
        axes.push_back({inner, [&plan, across, dimension](int rank) {
                          const auto part = dimension ? dimension->part(rank) : 0;
                          return part * plan.ranks_along(across) + plan.place_along(across, rank);
                        }});
      else if (dimension) axes.push_back({dimension->cut, dimension->part});
      else axes.push_back({Cut::even(x.extent(label), 1), {}});
    }
    return placed_layout(x.layout.shape(), axes);
  }

  [[nodiscard]] Layout result(const GridPlan& plan) const {
    if (plan.ranks_along(Kind::depth) > 1 && !plan.scattered) return plan.result;
    std::vector<PlacedCut> axes;
    for (const auto label : out_) {
      const auto* dimension = plan.dimension_of(label);
      const auto cut = dimension ? dimension->cut : Cut::even(extent(label), 1);
      if (label != plan.scattered) axes.push_back({cut, dimension ? dimension->part : nullptr});
      else
        axes.push_back({refined(cut, plan.ranks_along(Kind::depth)), [&plan, dimension](int rank) {
                          const auto part = dimension ? dimension->part(rank) : 0;
                          return part * plan.ranks_along(Kind::depth) + plan.place_along(Kind::depth, rank);
                        }});
    }
    return placed_layout(shape_, axes);
  }

  const LabelledLayout& a_;
  const LabelledLayout& b_;
  const Labels& out_;
  LabelGroups groups_;
  bool swapped_;
  Shape shape_;
};

}  // namespace

GridPlan make_grid_plan(const LabelledLayout& a, const LabelledLayout& b, const std::vector<int>& out) {
  const GridPlanner first(a, b, out, false), second(b, a, out, true);
  auto plans = first.keeping_first();
  std::ranges::move(second.keeping_first(), std::back_inserter(plans));
  plans.push_back(first.anew());
  const auto rank = [](const GridPlan& plan) {
    return std::tuple(operands_may_move() ? 0 : plan.moved, plan.moved + plan.sent, plan.moved);
  };
  return *std::ranges::min_element(plans, {}, rank);
}

}  // namespace heatpp::detail
