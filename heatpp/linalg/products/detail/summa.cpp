#include <heatpp/linalg/products/detail/summa.hpp>

#include <heatpp/core/detail/cuts/group_along.hpp>
#include <heatpp/core/detail/cuts/placed_layout.hpp>

#include <algorithm>
#include <bit>
#include <utility>

namespace heatpp::detail {
namespace {

using Kind = RankDimension::Kind;

// Fewer products at once run slower, and more delay the first ones.
constexpr std::int64_t panel_depth = 512;

/// Returns the ranks that differ from this one only along dimensions of a kind, in C order of these.
Communicator ranks_along(const GridPlan& plan, Kind kind, const Communicator& comm) {
  Shape shape;
  std::vector<PlacedCut> axes;
  std::vector<std::int64_t> along;
  for (const auto& dimension : plan.dimensions) {
    if (dimension.kind == kind) along.push_back(std::ssize(shape));
    shape.push_back(dimension.cut.ranks());
    axes.push_back({Cut::even(shape.back(), dimension.cut.ranks()), dimension.part});
  }
  return group_along(placed_layout(std::move(shape), axes), comm, along);
}

/// Returns the indices of an axis that this rank computes with, except of the panels' axis.
at::Tensor needed(at::Tensor block, const LabelledLayout& from, const GridPlan& plan, int rank) {
  for (const auto& [kind, label, cut, part] : plan.dimensions)
    if (from.has(label) && label != plan.panel)
      block = block.narrow(from.axis(label), cut.first(part(rank)), cut.extent(part(rank)));
  return block;
}

/// A panel of an operand, which its owner broadcasts to a group by a binomial tree. It travels whole: in chunks, as in
/// ibroadcast, two ranks would have to look at messages for each of them while they multiply.
class Panel {
 public:
  /// A panel that does not travel.
  explicit Panel(at::Tensor block) : block_(std::move(block)) {}
  /// Starts to send or receive a contiguous block.
  Panel(at::Tensor block, const Communicator& group, int owner)
      : block_(std::move(block)),
        group_(group),
        owner_(owner),
        place_((group.rank() - owner + group.size()) % group.size()) {
    if (place_ > 0) receiving_ = group.ireceive(buffer_of(block_), at(place_ - lowest_bit()));
    else forward();
  }

  /// Passes the panel on if it has arrived.
  void advance() {
    if (!group_ || !receiving_.test()) return;
    if (place_ > 0 && !passed_on_) forward();
    for (auto& request : sending_) static_cast<void>(request.test());
  }
  /// Waits for the panel.
  [[nodiscard]] const at::Tensor& arrived() {
    receiving_.wait();
    advance();
    return block_;
  }

 private:
  [[nodiscard]] int at(int place) const { return (owner_ + place) % group_->size(); }
  [[nodiscard]] int lowest_bit() const {
    return place_ > 0 ? place_ & -place_ : static_cast<int>(std::bit_ceil(static_cast<unsigned>(group_->size())));
  }
  void forward() {
    passed_on_ = true;
    for (auto bit = lowest_bit() / 2; bit > 0; bit /= 2)
      if (place_ + bit < group_->size()) sending_.push_back(group_->isend(buffer_of(block_), at(place_ + bit)));
  }

  at::Tensor block_;  // outlives the requests
  std::optional<Communicator> group_;
  int owner_ = 0, place_ = 0;  // the place counts from the owner
  bool passed_on_ = false;
  Request receiving_;
  std::vector<Request> sending_;
};

/// An operand on this rank, as panels of indices of one axis that ranks along a dimension need in common.
class Panels {
 public:
  Panels(const GridOperand& x, Kind across, const Cut& inner, const GridPlan& plan, const Communicator& comm)
      : axis_(x.from.axis(plan.panel)), inner_(inner), block_(x.block) {
    const auto me = comm.rank(), members = plan.ranks_along(across);
    const auto* depth = plan.dimension_of(plan.panel);
    first_part_ = (depth ? depth->part(me) : 0) * members;
    if (!x.from.layout.is_cut()) {
      block_ = needed(block_, x.from, plan, me);
      return;
    }
    if (members > 1) group_ = ranks_along(plan, across, comm);
    origin_ = inner.first(first_part_ + (group_ ? group_->rank() : 0));
  }

  [[nodiscard]] bool travel() const { return group_.has_value(); }
  /// Returns the last index that the rank that holds `index` has, too.
  [[nodiscard]] std::int64_t end_of_part(std::int64_t index) const { return inner_.last(inner_.owner(index)); }

  /// Starts to send or receive indices first to before last, which one rank holds. They are there at once if every rank
  /// has them.
  [[nodiscard]] Panel start(std::int64_t first, std::int64_t last) const {
    if (!group_) return Panel(block_.narrow(axis_, first - origin_, last - first));
    const auto owner = inner_.owner(first) - first_part_;
    auto shape = block_.sizes().vec();
    shape[static_cast<std::size_t>(axis_)] = last - first;
    const auto mine = [&] { return block_.narrow(axis_, first - origin_, last - first).resolve_conj().resolve_neg(); };
    const auto panel =
        owner == group_->rank() ? mine().cpu().contiguous() : at::empty(shape, block_.options().device(at::kCPU));
    return panel.numel() > 0 ? Panel(panel, *group_, owner) : Panel(panel);
  }

 private:
  int axis_;
  Cut inner_;
  at::Tensor block_;
  std::optional<Communicator> group_;
  int first_part_ = 0;
  std::int64_t origin_ = 0;
};

/// Returns the places at which panels of both operands end.
std::vector<std::int64_t> ends_of_panels(const Panels& a, const Panels& b, std::int64_t first, std::int64_t last) {
  std::vector<std::int64_t> ends;
  while (first < last) {
    auto end = last;
    for (const auto* panels : {&a, &b})
      if (panels->travel()) end = std::min({end, panels->end_of_part(first), first + panel_depth});
    ends.push_back(end);
    first = end;
  }
  return ends;
}

/// Adds the products of all panels up in `sums`. The next panels travel meanwhile.
void add_panels(const at::Tensor& sums, const Panels& a, const Panels& b, const Multiplier& multiplier,
                std::int64_t first, std::int64_t last) {
  const auto ends = ends_of_panels(a, b, first, last);
  if (ends.empty()) sums.zero_();
  const auto start = [&](std::size_t i) {
    const auto from = i == 0 ? first : ends[i - 1];
    return std::pair(a.start(from, ends[i]), b.start(from, ends[i]));
  };
  std::optional<std::pair<Panel, Panel>> now, next;
  if (!ends.empty()) next = start(0);
  const Poll poll = [&] {
    for (auto* panels : {&now, &next})
      if (*panels) (*panels)->first.advance(), (*panels)->second.advance();
  };
  for (std::size_t i = 0; i < ends.size(); ++i) {
    now.reset();  // its messages end before its memory is reused
    now = std::exchange(next, std::nullopt);
    const auto left = now->first.arrived().to(sums.device()), right = now->second.arrived().to(sums.device());
    if (i + 1 < ends.size()) next = start(i + 1);
    if (sums.numel() > 0) multiplier(sums, left, right, i > 0, a.travel() || b.travel() ? poll : Poll());
  }
}

/// Adds up what the ranks along the depth have. Returns the part of this rank, along the first axis of `sums`.
at::Tensor added_up(const at::Tensor& sums, const Communicator& group) {
  const auto parts = Cut::even(sums.size(0), group.size());
  std::vector<std::int64_t> counts;
  const auto each = sums.numel() / std::max<std::int64_t>(1, sums.size(0));
  for (int rank = 0; rank < group.size(); ++rank) counts.push_back(parts.extent(rank) * each);
  const auto on_host = sums.cpu();
  if (on_host.numel() > 0) group.reduce_scatter(buffer_of(on_host), counts);
  return on_host.narrow(0, parts.first(group.rank()), parts.extent(group.rank())).clone().to(sums.device());
}

/// A rank's sums, before they are added up along the depth. The axis that is then cut comes first in memory.
struct Sums {
  at::Tensor memory;
  std::int64_t front;  ///< the place of that axis in the result

  Sums(const std::vector<int>& labels, const GridPlan& plan, int rank, const std::function<std::int64_t(int)>& extent,
       const at::TensorOptions& options)
      : front(plan.scattered ? std::ranges::find(labels, *plan.scattered) - labels.begin() : 0) {
    std::vector<std::int64_t> shape;
    for (const auto label : labels) {
      const auto* dimension = plan.dimension_of(label);
      shape.push_back(dimension ? dimension->cut.extent(dimension->part(rank)) : extent(label));
    }
    if (front > 0) std::rotate(shape.begin(), shape.begin() + front, shape.begin() + front + 1);
    memory = at::empty(shape, options);
  }
  [[nodiscard]] at::Tensor in_order(const at::Tensor& block) const {
    return front > 0 ? block.movedim(0, front) : block;
  }
};

}  // namespace

at::Tensor multiply_on_grid(const GridOperand& a, const GridOperand& b, const std::vector<int>& labels,
                            const Multiplier& multiplier, const GridPlan& plan, const Communicator& comm) {
  const auto me = comm.rank();
  const Panels left(a, Kind::columns, plan.inner_a, plan, comm), right(b, Kind::rows, plan.inner_b, plan, comm);
  const auto extent = [&](int label) { return (a.from.has(label) ? a : b).from.extent(label); };
  const Sums sums(labels, plan, me, extent, a.block.options());
  const auto* depth = plan.dimension_of(plan.panel);
  const auto first = depth ? depth->cut.first(depth->part(me)) : 0;
  const auto last = depth ? depth->cut.last(depth->part(me)) : plan.inner_a.extent();
  add_panels(sums.in_order(sums.memory), left, right, multiplier, first, last);
  if (plan.ranks_along(Kind::depth) == 1) return sums.memory;
  const auto group = ranks_along(plan, Kind::depth, comm);
  if (plan.scattered) return sums.in_order(added_up(sums.memory, group)).contiguous();
  const auto on_host = sums.memory.cpu();
  group.allreduce(buffer_of(on_host));
  return on_host.to(sums.memory.device());
}

}  // namespace heatpp::detail
