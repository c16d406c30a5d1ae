#include <heatpp/ml/cluster/dbscan.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/torch.hpp>
#include <heatpp/ml/cluster/detail/nearby.hpp>
#include <heatpp/ml/detail/fitted.hpp>
#include <heatpp/ml/cluster/detail/whole_weights.hpp>
#include <heatpp/core/factories.hpp>
#include <heatpp/ml/detail/options/cluster.hpp>
#include <heatpp/ops/selection/selection.hpp>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <mutex>
#include <numeric>
#include <set>
#include <unordered_map>

namespace heatpp {
namespace {

using namespace ml::detail;
constexpr auto op = "DBSCAN.fit";

void check_options(const DBSCANOptions& o, const Rows& x) {
  if (!(o.eps > 0) || !std::isfinite(o.eps) || o.min_samples < 1)
    detail::raise<ValueError>(op, "got eps {} and min_samples {}; expected a finite eps > 0 and min_samples >= 1",
                              o.eps, o.min_samples);
  if (o.box.empty()) return;
  const bool wide = std::ranges::all_of(o.box, [&](double length) { return length > 2 * o.eps; });
  if (std::ssize(o.box) != x.features() || x.features() > 4 || o.metric != Metric::euclidean || !wide)
    detail::raise<ValueError>(op,
                              "got a box of {} lengths for {} features; expected one for each of at most 4, longer "
                              "than twice eps, and euclidean distances",
                              o.box.size(), x.features());
}

/// Disjoint sets of the numbers 0 .. n, named by the least member, united by several threads (Jayanti, Tarjan 2016).
class Sets {
 public:
  explicit Sets(std::int64_t n) : parents_(static_cast<std::size_t>(n)) {
    std::iota(parents_.begin(), parents_.end(), 0);
  }
  [[nodiscard]] std::int64_t find(std::int64_t i) {
    for (;;) {
      auto parent = at(i).load();
      if (parent == i) return i;
      const auto above = at(parent).load();
      if (above != parent) at(i).compare_exchange_weak(parent, above);
      i = above;
    }
  }
  void unite(std::int64_t a, std::int64_t b) {
    for (;;) {
      a = find(a), b = find(b);
      if (a == b) return;
      if (a < b) std::swap(a, b);
      auto root = a;
      if (at(a).compare_exchange_strong(root, b)) return;
    }
  }

 private:
  std::atomic_ref<std::int64_t> at(std::int64_t i) { return std::atomic_ref(parents_[static_cast<std::size_t>(i)]); }
  std::vector<std::int64_t> parents_;
};

/// Returns the minimum and maximum of each column. Collective: one all-reduce.
std::pair<std::vector<double>, std::vector<double>> limits_of(const Rows& x) {
  const auto f = static_cast<std::size_t>(x.features());
  auto high = summed(
      x, 2 * f,
      [&](const auto& piece, std::span<double> most) {
        check_finite(op, x, piece);
        for (std::int64_t i = 0; i < piece.rows; ++i)
          for (std::size_t j = 0; j < f; ++j) {
            const auto value = static_cast<double>(piece.row(i)[j]);
            most[j] = std::max(most[j], value), most[f + j] = std::max(most[f + j], -value);
          }
      },
      ReduceOp::max);
  std::vector<double> low(high.begin() + static_cast<std::ptrdiff_t>(f), high.end());
  for (auto& value : low) value = -value;
  high.resize(f);
  return {low, high};
}

/// Returns the numbers of all ranks in rank order. Collective: two all-gathers, none if rows are replicated.
std::vector<std::int64_t> gathered(const Rows& x, const std::vector<std::int64_t>& mine) {
  if (!x.distributed()) return mine;
  const auto counts = x.comm().allgather(std::ssize(mine));
  std::vector<std::int64_t> all(
      static_cast<std::size_t>(std::accumulate(counts.begin(), counts.end(), std::int64_t{0})));
  x.comm().allgather(mine, all, counts);
  return all;
}

/// The state of a fit for this rank's rows, by their places in order.
class Fit {
 public:
  Fit(const Rows& x, const DBSCANOptions& options, const Within& within, const Nearby& nearby)
      : x_(x), options_(options), within_(within), nearby_(nearby), sets_(nearby.count()), degrees_(count(), 0) {}

  /// Counts the neighbors of each row in order, or adds up their weights as multiples of `unit`.
  void count_neighbors(const at::Tensor& weights, double unit) {
    unit_ = unit;
    nearby_.around(weights, [&](const at::Tensor& block, const at::Tensor& others, bool) {
      const auto* w = others.defined() ? others.const_data_ptr<double>() : nullptr;
      within_(
          nearby_.rows(), block, [&](std::int64_t i) { return !core(i); },
          [&](std::int64_t i, std::int64_t j) {
            degrees_[static_cast<std::size_t>(i)] += w ? static_cast<std::int64_t>(w[j]) : 1;
          });
    });
  }

  /// Connects core rows of this rank with each other.
  void unite_own() {
    const bool once = within_.in_cells() && within_.box().empty();  // else rounding may depend on which row asks
    within_(
        nearby_.rows(), nearby_.rows(), [&](std::int64_t i) { return core(i); },
        [&](std::int64_t i, std::int64_t j) {
          if ((j < i || !once) && core(j)) sets_.unite(nearby_.place(i), nearby_.place(j));
        });
  }

  /// Finds what connects core rows with those of other ranks, and the core rows near the other rows.
  void look_around() {
    const auto roots = at::empty({nearby_.count()}, at::kDouble);
    for (std::int64_t i = 0; i < nearby_.count(); ++i)
      roots.data_ptr<double>()[i] = core(i) ? static_cast<double>(root(i)) : -1.0;
    touched_.resize(count());
    nearby_.around(roots, [&](const at::Tensor& block, const at::Tensor& others, bool own) {
      const auto* other = others.const_data_ptr<double>();
      within_(
          nearby_.rows(), block, [&](std::int64_t i) { return !own || !core(i); },
          [&](std::int64_t i, std::int64_t j) { touch(i, other[j]); });
    });
  }

  /// Finds the final root of each core row's set.
  void merge() {
    std::vector<std::int64_t> mine;
    for (const auto& [a, b] : links_) mine.insert(mine.end(), {a, b});
    const auto links = gathered(x_, mine);
    std::unordered_map<std::int64_t, std::int64_t> places;
    std::vector<std::int64_t> ends(links);
    std::ranges::sort(ends);
    ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
    for (const auto end : ends) places.emplace(end, std::ssize(places));
    Sets sets(std::ssize(ends));
    for (std::size_t l = 0; l < links.size(); l += 2) sets.unite(places.at(links[l]), places.at(links[l + 1]));
    for (const auto end : ends) merged_[end] = ends[static_cast<std::size_t>(sets.find(places.at(end)))];
    std::vector<std::int64_t> starts;
    for (std::int64_t i = 0; i < nearby_.count(); ++i)
      if (const auto number = nearby_.number(nearby_.place(i)); core(i) && final_root(root(i)) == number)
        starts.push_back(number);
    starts_ = gathered(x_, starts);
    std::ranges::sort(starts_);
  }

  /// Returns 2 * label + (1 for a core row) for each row, on the rank that gave the row.
  [[nodiscard]] at::Tensor verdicts() {
    auto verdicts = at::full({nearby_.count()}, -2, at::kLong);
    for (std::int64_t i = 0; i < nearby_.count(); ++i) {
      auto first = std::numeric_limits<std::int64_t>::max();
      if (core(i)) first = final_root(root(i));
      else
        for (const auto near : touched_[static_cast<std::size_t>(i)]) first = std::min(first, final_root(near));
      if (first == std::numeric_limits<std::int64_t>::max()) continue;
      const auto label = std::ranges::lower_bound(starts_, first) - starts_.begin();
      verdicts.data_ptr<std::int64_t>()[nearby_.place(i)] = 2 * label + (core(i) ? 1 : 0);
    }
    return nearby_.home(verdicts);
  }
  [[nodiscard]] std::int64_t clusters() const { return std::ssize(starts_); }

 private:
  [[nodiscard]] std::size_t count() const { return static_cast<std::size_t>(nearby_.count()); }
  [[nodiscard]] bool core(std::int64_t i) const {
    return unit_ * static_cast<double>(degrees_[static_cast<std::size_t>(i)]) >=
           static_cast<double>(options_.min_samples);
  }
  [[nodiscard]] std::int64_t root(std::int64_t i) { return nearby_.number(sets_.find(nearby_.place(i))); }
  [[nodiscard]] std::int64_t final_root(std::int64_t root) const {
    const auto found = merged_.find(root);
    return found == merged_.end() ? root : found->second;
  }

  /// Records that row i has a core row of another set beside it. For a core row the last set is enough; other rows have
  /// fewer than min_samples.
  void touch(std::int64_t i, double other) {
    if (other < 0) return;
    auto& known = touched_[static_cast<std::size_t>(i)];
    const auto set = static_cast<std::int64_t>(other);
    if (std::ranges::find(known, set) != known.end()) return;
    if (!core(i)) return known.push_back(set);
    known.assign(1, set);
    const std::lock_guard lock(mutex_);
    links_.emplace(root(i), set);
  }

  const Rows& x_;
  const DBSCANOptions& options_;
  const Within& within_;
  const Nearby& nearby_;
  Sets sets_;
  std::vector<std::int64_t> degrees_, starts_;
  double unit_ = 1;  // the weight of one unit in the degrees
  std::vector<std::vector<std::int64_t>> touched_;
  std::set<std::pair<std::int64_t, std::int64_t>> links_;
  std::unordered_map<std::int64_t, std::int64_t> merged_;
  std::mutex mutex_;
};

/// Returns whole numbers of rows, moved to where the rows are compared, in order. Collective if rows have moved.
at::Tensor beside_places(const Rows& x, const Nearby& nearby, const at::Tensor& mine, bool moved) {
  auto numbers = at::empty({nearby.count()}, at::kLong);
  for (std::int64_t i = 0; i < nearby.count(); ++i)
    numbers.data_ptr<std::int64_t>()[i] = nearby.number(nearby.place(i));
  const auto found = moved ? take(as_rows(x, mine), from_local(numbers, {.split = 0, .comm = x.comm()})).larray()
                           : mine.index_select(0, numbers - x.first());
  return found.to(at::kDouble).contiguous();
}

/// Returns the global numbers of the core rows, cut as the rows. Collective if these are split: an all-gather.
DNDarray cores_of(const Rows& x, const at::Tensor& verdicts) {
  const auto found = verdicts.bitwise_and(1).nonzero().select(1, 0) + x.first();
  const auto total = found.numel();
  const auto layout =
      x.distributed() ? Layout::from_counts({0}, 0, x.comm().allgather(total)) : x.layout().replicated({total});
  return detail::wrap(found, layout, x.comm());
}

}  // namespace

DBSCAN& DBSCAN::fit(const Rows& x, const FitOptions& options) {
  check_agreed(op, x, options_);
  check_options(options_, x);
  if (x.size() > 0) check_not_empty(op, x);  // no rows have no clusters
  auto [low, high] = limits_of(x);
  for (std::size_t a = 0; a < options_.box.size(); ++a)
    if (std::isfinite(options_.box[a])) low[a] = 0, high[a] = options_.box[a];
  const Within within(options_.metric, options_.eps, options_.box, low, high);
  const bool moves = within.in_cells() && x.distributed() && x.comm().size() > 1 && x.size() > 0;
  const auto nearby = moves ? moved_to_boxes(x, within) : compared_with_all(x, within);
  Fit fit(x, options_, within, *nearby);
  if (const auto& weights = options.sample_weight) {
    const auto whole = whole_weights(op, x, *weights);
    fit.count_neighbors(beside_places(x, *nearby, whole.numbers, moves), whole.unit);
  } else {
    fit.count_neighbors({}, 1);
  }
  fit.unite_own();
  fit.look_around();
  fit.merge();
  const auto verdicts = fit.verdicts();
  fitted_ = Fitted{as_rows(x, verdicts.bitwise_right_shift(1)), cores_of(x, verdicts), fit.clusters()};
  return *this;
}

const DBSCAN::Fitted& DBSCAN::fitted_state(const char* what) const { return fitted(what, fitted_); }
const DNDarray& DBSCAN::labels() const { return fitted_state("DBSCAN.labels").labels; }
const DNDarray& DBSCAN::core_indices() const { return fitted_state("DBSCAN.core_indices").core_indices; }
std::int64_t DBSCAN::n_clusters() const { return fitted_state("DBSCAN.n_clusters").clusters; }

}  // namespace heatpp
