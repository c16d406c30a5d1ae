#include <heatpp/linalg/products/detail/plan.hpp>

#include <heatpp/core/detail/relayout.hpp>

#include <algorithm>

namespace heatpp::detail {

int Labelled::axis(int label) const {
  const auto found = std::ranges::find(labels, label);
  return found == labels.end() ? -1 : static_cast<int>(found - labels.begin());
}

std::int64_t Labelled::extent(int label) const { return array.shape()[static_cast<std::size_t>(axis(label))]; }

std::optional<int> Labelled::split_label() const {
  return array.split() ? std::optional(labels[static_cast<std::size_t>(*array.split())]) : std::nullopt;
}

namespace {

/// Collects the plans in which `a_` is the first array, with their costs.
class Planner {
 public:
  Planner(const Labelled& a, const Labelled& b, const std::vector<int>& out, bool swapped)
      : a_(a), b_(b), out_(out), swapped_(swapped) {
    for (const auto label : out) shape_.push_back(a.has(label) ? a.extent(label) : b.extent(label));
  }

  struct Candidate {
    bool idle;  ///< whether some ranks would have no work
    std::int64_t cost;
    Plan plan;
  };

  [[nodiscard]] Candidate replicated() const {
    return {false, 0, {Plan::Way::local, swapped_, a_.array.layout(), b_.array.layout(), uncut(shape_)}};
  }

  /// Cuts both along an axis of both along which the first is cut and that the result keeps.
  [[nodiscard]] std::optional<Candidate> along_common_axis() const {
    const auto label = a_.split_label();
    if (!label || !b_.has(*label) || !kept(*label)) return std::nullopt;
    const auto& cut = a_.array.layout();
    const auto to = cut.with(b_.array.shape(), b_.axis(*label));
    return Candidate{false, move(b_, to), {Plan::Way::local, swapped_, cut, to, cut.with(shape_, place(*label))}};
  }

  /// Cuts the result along an axis of the first array.
  [[nodiscard]] std::vector<Candidate> along_own_axis() const {
    const auto label = longest([&](int l) { return !b_.has(l); }, a_.split_label(), out_);
    if (!label) return {};
    const auto cut = cut_along(*label);
    const bool idle = a_.split_label() != label && a_.extent(*label) < ranks();
    const auto result = cut.with(shape_, place(*label));
    std::vector<Candidate> candidates{
        {idle, move(a_, cut) + travel(b_), {Plan::Way::rotate, swapped_, cut, b_.array.layout(), result}}};
    if (auto reduce = along_summed_axis(result)) {
      reduce->idle = idle;
      candidates.push_back(std::move(*reduce));
    }
    return candidates;
  }

  /// Cuts both along a summed axis; the result is as given.
  [[nodiscard]] std::optional<Candidate> along_summed_axis(const Layout& result) const {
    const auto summed = [&](int l) { return b_.has(l) && !kept(l); };
    const auto preferred = a_.split_label() && summed(*a_.split_label()) ? a_.split_label() : b_.split_label();
    const auto label = longest(summed, preferred, a_.labels);
    if (!label) return std::nullopt;
    const auto cut = a_.split_label() == label || b_.split_label() != label
                         ? cut_along(*label)
                         : b_.array.layout().with(a_.array.shape(), a_.axis(*label));
    const auto to = cut.with(b_.array.shape(), b_.axis(*label));
    const auto sums = size_of(shape_) * others() * item() * (result.split() ? 1 : 2);
    return Candidate{false, move(a_, cut) + move(b_, to) + sums, {Plan::Way::reduce, swapped_, cut, to, result}};
  }

  [[nodiscard]] Layout uncut(const Shape& shape) const { return a_.array.layout().replicated(shape); }
  [[nodiscard]] const Shape& shape() const { return shape_; }

 private:
  [[nodiscard]] int ranks() const { return a_.array.comm().size(); }
  /// Returns how many ranks get what a rank sends; a single rank plans as two do.
  [[nodiscard]] std::int64_t others() const { return std::max(1, ranks() - 1); }
  [[nodiscard]] std::int64_t item() const { return a_.array.larray().element_size(); }
  [[nodiscard]] bool kept(int label) const { return std::ranges::find(out_, label) != out_.end(); }
  [[nodiscard]] int place(int label) const { return static_cast<int>(std::ranges::find(out_, label) - out_.begin()); }
  [[nodiscard]] std::int64_t move(const Labelled& x, const Layout& to) const {
    return relayout_cost(x.array.layout(), to, item());
  }
  [[nodiscard]] std::int64_t travel(const Labelled& x) const {
    return x.array.split() ? x.array.size() * others() * item() : 0;
  }

  /// Cuts the first array along `label`: its own cut if it has that, else evenly.
  [[nodiscard]] Layout cut_along(int label) const {
    if (a_.split_label() == label) return a_.array.layout();
    return {a_.array.shape(), a_.axis(label), ranks()};
  }

  /// Returns the first array's preferred or longest label among `labels` that fit.
  template <class Fits>
  [[nodiscard]] std::optional<int> longest(Fits fits, std::optional<int> preferred,
                                           const std::vector<int>& labels) const {
    std::optional<int> best;
    for (const auto label : labels) {
      if (!a_.has(label) || !fits(label)) continue;
      if (label == preferred) return label;
      if (!best || a_.extent(label) > a_.extent(*best)) best = label;
    }
    return best;
  }

  const Labelled& a_;
  const Labelled& b_;
  const std::vector<int>& out_;
  bool swapped_;
  Shape shape_;
};

}  // namespace

Plan make_plan(const Labelled& a, const Labelled& b, const std::vector<int>& out, bool along_a) {
  const Planner first(a, b, out, false), second(b, a, out, true);
  if (!a.array.split() && !b.array.split()) return first.replicated().plan;

  std::vector<Planner::Candidate> candidates;
  for (const auto* planner : {&first, &second})
    if (auto candidate = planner->along_common_axis()) candidates.push_back(std::move(*candidate));
  std::ranges::move(first.along_own_axis(), std::back_inserter(candidates));
  if (!along_a || candidates.empty()) std::ranges::move(second.along_own_axis(), std::back_inserter(candidates));
  const bool only_sums = std::ranges::all_of(out, [&](int label) { return a.has(label) && b.has(label); });
  if (only_sums)
    if (auto candidate = first.along_summed_axis(first.uncut(first.shape())))
      candidates.push_back(std::move(*candidate));
  const auto moves = [](const Labelled& x, const Layout& to) {
    return x.array.split() && !same_cut(x.array.layout(), to);
  };
  const auto rank = [&](const Planner::Candidate& c) {
    const auto& [way, swapped, to_first, to_second, result] = c.plan;
    const auto moving = moves(swapped ? b : a, to_first) + moves(swapped ? a : b, to_second);
    return std::tuple(operands_may_move() ? 0 : moving, c.idle, c.cost, moving);
  };
  return std::ranges::min_element(candidates, {}, rank)->plan;
}

}  // namespace heatpp::detail
