#include <heatpp/ml/cluster/minibatch_kmeans.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/ml/cluster/detail/start.hpp>
#include <heatpp/ml/detail/ending.hpp>
#include <heatpp/ml/detail/fitted.hpp>
#include <heatpp/ml/detail/nearest.hpp>
#include <heatpp/ml/detail/row_random.hpp>

#include <limits>
#include <numeric>

namespace heatpp {

namespace {

using namespace ml::detail;

void check_options(const char* op, const MiniBatchKMeansOptions& o, const Rows& x) {
  check_not_empty(op, x);
  if (o.n_clusters < 1 || o.n_clusters > x.size() || o.batch_size < 1 || o.max_iterations < 1 || !(o.tol >= 0) ||
      o.max_no_improvement < 0 || !(o.reassignment_ratio >= 0))
    detail::raise<ValueError>(op,
                              "got {} clusters of {} rows, batches of {}, {} iterations, tol {}, max_no_improvement {} "
                              "and reassignment_ratio {}; expected 1 <= clusters <= rows, batches and iterations >= 1, "
                              "and the others >= 0",
                              o.n_clusters, x.size(), o.batch_size, o.max_iterations, o.tol, o.max_no_improvement,
                              o.reassignment_ratio);
}

const double* data_of(const std::optional<at::Tensor>& weights) {
  return weights ? weights->const_data_ptr<double>() : nullptr;
}

/// Draws numbers of rows with equal probabilities, in increasing order.
std::vector<std::int64_t> drawn_rows(const Rows& x, std::int64_t count, const RowRandom& random) {
  std::vector<std::int64_t> rows;
  for (std::int64_t i = 0; i < count; ++i)
    rows.push_back(static_cast<std::int64_t>(random.uniform(i) * static_cast<double>(x.size())));
  std::ranges::sort(rows);
  return rows;
}

/// Centers and the total weight of the rows assigned to each, equal on every rank.
struct Running {
  at::Tensor places;           ///< (k, features)
  std::vector<double> counts;  ///< for each center
};

/// This rank's part of a selection of rows, as a source.
class SelectedRows {
 public:
  SelectedRows(const Weighted& whole, const std::vector<std::int64_t>& rows) : layout_(cut(whole.rows, rows)) {
    const auto& x = whole.rows;
    std::vector<std::int64_t> mine;
    for (const auto row : rows)
      if (row >= x.first() && row < x.first() + x.count()) mine.push_back(row - x.first());
    for (const auto row : mine) weights_.push_back(whole.weights ? whole.weights[row] : 1.0);
    source_ = std::make_shared<Source>(x, std::move(mine));
  }
  [[nodiscard]] Rows rows() const { return {source_, layout_, source_->x.dtype(), source_->x.comm()}; }
  [[nodiscard]] const double* weights() const { return weights_.data(); }

 private:
  /// Returns the layout in which each rank holds its own ones of `rows`, which increase.
  [[nodiscard]] static Layout cut(const Rows& x, const std::vector<std::int64_t>& rows) {
    const Shape shape{std::ssize(rows), x.features()};
    if (!x.distributed()) return x.layout().replicated(shape);
    std::vector<std::int64_t> counts;
    for (int r = 0; r < x.comm().size(); ++r)
      counts.push_back(std::ranges::lower_bound(rows, x.layout().offset(r + 1)) -
                       std::ranges::lower_bound(rows, x.layout().offset(r)));
    return Layout::from_counts(shape, 0, counts);
  }
  struct Source : RowSource {
    Source(const Rows& from, std::vector<std::int64_t> which) : x(from), rows(std::move(which)) {}
    [[nodiscard]] at::Tensor read(std::int64_t first, std::int64_t count) const override {
      const auto some = std::span(rows).subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count));
      if (x.in_memory())
        return x.read(0, x.count()).index_select(0, at::tensor(std::vector(some.begin(), some.end()), at::kLong));
      std::vector<at::Tensor> parts;
      for (const auto row : some) parts.push_back(x.read(row, 1).clone());
      return parts.empty() ? x.read(0, 0) : at::cat(parts);
    }
    Rows x;
    std::vector<std::int64_t> rows;
  };
  std::shared_ptr<const Source> source_;
  Layout layout_;
  std::vector<double> weights_;
};

struct Moved {
  double weight, inertia, shift;  ///< of the batch; inertia before the step, squared shift
};

/// Moves each center to the mean of all rows assigned to it. Collective: one all-reduce of k (f + 1) + 3 numbers.
Moved step(const Weighted& data, Running& centers, heatpp::detail::Watch& watch) {
  const auto k = centers.places.size(0), f = centers.places.size(1);
  const auto origin = centers.places.mean(0).contiguous();
  const NearestCenters table(centers.places, working_dtype(data.rows));
  Totals totals(static_cast<std::size_t>(k * (f + 1) + 2));
  totals.of(0).back() = watch.vote();
  const auto failure = heatpp::detail::failure_of([&] {
    for_pieces(data.rows, [&](const auto& piece, int thread) {
      const auto sums = totals.of(thread);
      const auto* weights = data.weights ? data.weights + piece.first : nullptr;
      std::vector<std::int32_t> labels(static_cast<std::size_t>(piece.rows));
      std::vector<double> distances(labels.size());
      table.nearest(piece, labels.data());
      squared_distances(piece, centers.places.const_data_ptr<double>(), labels.data(), distances.data());
      add_rows(piece, labels.data(), weights, origin.const_data_ptr<double>(), k, sums.data(), sums.data() + k * f);
      for (std::size_t i = 0; i < labels.size(); ++i)
        sums[static_cast<std::size_t>(k * (f + 1))] += distances[i] * (weights ? weights[i] : 1.0);
    });
  });
  auto sums = totals.over_ranks(data.rows, failure);
  watch.hear(sums.back());
  const auto got = at::from_blob(sums.data() + k * f, {k, 1}, at::kDouble);
  const auto before = at::from_blob(centers.counts.data(), {k, 1}, at::kDouble);
  const auto apart = at::from_blob(sums.data(), {k, f}, at::kDouble) - got * (centers.places - origin);
  const auto moved = at::where(got > 0, centers.places + apart / (before + got), centers.places).contiguous();
  const auto shift = (moved - centers.places).square().sum().item<double>();
  centers.places = moved;
  before.add_(got);
  return {got.sum().item<double>(), sums[static_cast<std::size_t>(k * (f + 1))], shift};
}

/// Moves centers with few rows to rows of the batch, at most half of it, with the least weight of the other centers.
/// Collective if there are such centers.
void reassign(const Weighted& data, Running& centers, double ratio, const RowRandom& random) {
  const auto most = *std::ranges::max_element(centers.counts);
  std::vector<std::size_t> poor;
  for (std::size_t c = 0; c < centers.counts.size(); ++c)
    if (centers.counts[c] < ratio * most) poor.push_back(c);
  std::ranges::stable_sort(poor, {}, [&](std::size_t c) { return centers.counts[c]; });
  poor.resize(std::min(poor.size(), static_cast<std::size_t>(data.rows.size() / 2)));
  if (poor.empty()) return;
  std::vector<std::int64_t> order(static_cast<std::size_t>(data.rows.size()));
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t i = 0; i < poor.size(); ++i) {
    const auto left = static_cast<double>(order.size() - i);
    std::swap(order[i], order[i + static_cast<std::size_t>(random.uniform(static_cast<std::int64_t>(i)) * left)]);
  }
  const auto rows = fetch_rows(data.rows, std::span(order).first(poor.size()));
  for (const auto c : poor) centers.counts[c] = std::numeric_limits<double>::infinity();
  const auto least = *std::ranges::min_element(centers.counts);
  for (std::size_t i = 0; i < poor.size(); ++i) {
    centers.places[static_cast<std::int64_t>(poor[i])].copy_(rows[static_cast<std::int64_t>(i)]);
    centers.counts[poor[i]] = least;
  }
}

/// Decides whether a fit has converged, by an exponential average of the batches' inertia.
class Progress {
 public:
  Progress(const MiniBatchKMeansOptions& options, std::int64_t rows, double tolerance)
      : options_(options),
        rate_(std::min(1.0, 2.0 * static_cast<double>(options.batch_size) / static_cast<double>(rows + 1))),
        tolerance_(tolerance) {}
  [[nodiscard]] bool ended(const Moved& moved) {
    if (std::exchange(first_, false)) return false;  // ignores the inertia of the start
    const auto inertia = moved.weight > 0 ? moved.inertia / moved.weight : 0;
    average_ = std::isnan(average_) ? inertia : average_ * (1 - rate_) + inertia * rate_;
    if (tolerance_ > 0 && moved.shift <= tolerance_) return true;
    if (average_ < least_) least_ = average_, without_ = 0;
    else ++without_;
    return options_.max_no_improvement > 0 && without_ >= options_.max_no_improvement;
  }
  [[nodiscard]] double average() const { return average_; }

 private:
  const MiniBatchKMeansOptions& options_;
  double rate_, tolerance_, average_ = NAN, least_ = std::numeric_limits<double>::infinity();
  std::int64_t without_ = 0;
  bool first_ = true;
};

/// Whether a search for centers with few rows is due: at intervals, and whenever a center has none.
bool due(const Running& centers, std::int64_t rows, std::int64_t& since) {
  since += rows;
  const bool none = std::ranges::any_of(centers.counts, [](double count) { return count == 0; });
  if (!none && since < 10 * std::ssize(centers.counts)) return false;
  since = 0;
  return true;
}

/// Returns first centers chosen among a sample of rows, which every rank gets.
at::Tensor first_of_some(const Weighted& data, const MiniBatchKMeansOptions& o) {
  if (std::holds_alternative<DNDarray>(o.init)) return first_centers(data, o.n_clusters, o.init, o.seed);
  const auto count = std::max(3 * o.batch_size, 3 * o.n_clusters);
  if (count >= data.rows.size()) return first_centers(data, o.n_clusters, o.init, o.seed);
  const auto positions = drawn_rows(data.rows, count, RowRandom(o.seed, 0));
  const Rows few(replicated(fetch_rows(data.rows, positions), float64, data.rows.comm()));
  return first_centers({data.op, few, nullptr}, o.n_clusters, o.init, o.seed);
}

}  // namespace

MiniBatchKMeans& MiniBatchKMeans::fit(const Rows& x, const FitOptions& options) {
  constexpr auto op = "MiniBatchKMeans.fit";
  check_agreed(op, x, options_);
  check_options(op, options_, x);
  const auto weights = weights_beside(op, x, options.sample_weight);
  const Weighted data{op, x, data_of(weights)};
  const auto tolerance = options_.tol * mean_variance(op, x);
  const auto batch = std::min(options_.batch_size, x.size());
  const auto most = std::max<std::int64_t>(1, options_.max_iterations * x.size() / batch);
  Running centers{first_of_some(data, options_), std::vector<double>(static_cast<std::size_t>(options_.n_clusters))};
  Progress progress(options_, x.size(), tolerance);
  heatpp::detail::Watch watch;
  std::int64_t done = 0, since = 0;
  bool converged = false;
  while (done < most) {
    const RowRandom random(seed_of(options_.seed, 1 + static_cast<std::uint64_t>(done)), 0);
    const SelectedRows selected(data, drawn_rows(x, batch, random));
    const Rows rows = selected.rows();
    const Weighted some{op, rows, selected.weights()};
    const auto moved = step(some, centers, watch);
    if (due(centers, batch, since))
      reassign(some, centers, options_.reassignment_ratio,
               RowRandom(options_.seed, 2 + static_cast<std::uint64_t>(done)));
    ++done;
    converged = progress.ended(moved);
    watch.ask(options_.progress, FitProgress{done, most, progress.average()});
    if (converged || watch.ended()) break;
  }
  watch.settle(x.comm(), x.distributed());
  const bool no_end = options_.tol == 0 && options_.max_no_improvement == 0;  // no test of convergence
  warn_unless(converged || no_end || watch.ended(), op, done);
  learn(judged(data, replicated(centers.places, working_dtype(x), x.comm()), done, converged));
  counts_ = replicated(at::tensor(centers.counts, at::kDouble), float64, x.comm());
  since_reassignment_ = since;
  return *this;
}

MiniBatchKMeans& MiniBatchKMeans::partial_fit(const Rows& x, const FitOptions& options) {
  constexpr auto op = "MiniBatchKMeans.partial_fit";
  const auto clusters = options_.n_clusters;
  if (!is_fitted()) check_agreed(op, x, options_);
  if (is_fitted()) check_features(op, x, centers().shape()[1]);
  else check_options(op, options_, x);
  const auto weights = weights_beside(op, x, options.sample_weight);
  const Weighted data{op, x, data_of(weights)};
  static_cast<void>(mean_variance(op, x));
  Running centers{is_fitted() ? this->centers().larray().to(at::kDouble).clone() : first_of_some(data, options_),
                  std::vector<double>(static_cast<std::size_t>(clusters))};
  if (counts_) std::copy_n(counts_->larray().const_data_ptr<double>(), clusters, centers.counts.begin());
  const auto done = is_fitted() ? iterations() : 0;
  heatpp::detail::Watch none;
  static_cast<void>(step(data, centers, none));
  if (due(centers, x.size(), since_reassignment_))
    reassign(data, centers, options_.reassignment_ratio,
             RowRandom(options_.seed, 2 + static_cast<std::uint64_t>(done)));
  learn(judged(data, replicated(centers.places, working_dtype(x), x.comm()), done + 1, false));
  counts_ = replicated(at::tensor(centers.counts, at::kDouble), float64, x.comm());
  return *this;
}

const DNDarray& MiniBatchKMeans::counts() const { return fitted("MiniBatchKMeans.counts", counts_); }

ModelState MiniBatchKMeans::state() const {
  const auto& found = fitted_state("state");
  ModelState state{kind(), texts_of(options_), {{"centers", found.centers}, {"counts", counts()}}};
  state.options.insert({{"since_reassignment", text_of(since_reassignment_)},
                        {"inertia", text_of(found.inertia)},
                        {"iterations", text_of(found.iterations)},
                        {"converged", text_of(found.converged)}});
  write_given(options_.init, state);
  return state;
}

MiniBatchKMeans MiniBatchKMeans::from_state(const ModelState& state) {
  const StateReader read("MiniBatchKMeans", state);
  auto options = options_from<MiniBatchKMeansOptions>(read, {"init"});
  const auto k = options.n_clusters;
  options.init = given_or(options.init, read, k);
  MiniBatchKMeans model(options);
  model.learn({read.array("centers", {k, -1}), DNDarray(), read.option<double>("inertia"),
               read.option<std::int64_t>("iterations"), read.option<bool>("converged")});
  model.counts_ = read.array("counts", {k}).astype(float64);
  model.since_reassignment_ = read.option<std::int64_t>("since_reassignment");
  return model;
}

}  // namespace heatpp
