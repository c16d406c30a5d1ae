#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/ml/detail/row_random.hpp>
#include <heatpp/ml/metrics/detail/labels.hpp>
#include <heatpp/ml/metrics/separation.hpp>
#include <heatpp/random/detail/bijection.hpp>

#include <limits>

namespace heatpp {
namespace {

using namespace ml::detail;

constexpr auto op = "silhouette_score";
constexpr std::int64_t others_at_once = 1024, own_at_once = 256;

/// Returns which rows of this rank belong to a random sample of all.
at::Tensor sample(const Rows& rows, const SilhouetteOptions& options) {
  if (!options.sample_size) return at::arange(rows.count(), at::kLong);
  if (*options.sample_size < 2 || *options.sample_size > rows.size())
    detail::raise<ValueError>(op, "got a sample of {} of {} rows; expected 2 to all", *options.sample_size,
                              rows.size());
  const random::detail::Bijection place(random::detail::Key(seed_of(options.seed, 0)), 0, rows.size());
  std::vector<std::int64_t> places(static_cast<std::size_t>(rows.count()));
  place.inverse_at(rows.first(), rows.count(), places.data());
  const auto all = at::from_blob(places.data(), {rows.count()}, at::kLong);
  return (all < *options.sample_size).nonzero().flatten();
}

/// Returns rows of this rank in float64. An error on one rank is thrown on all.
at::Tensor chosen_rows(const Rows& rows, const at::Tensor& which) {
  auto found = at::empty({which.numel(), rows.features()}, at::kDouble);
  static_cast<void>(summed(rows, 0, [&](const auto& piece, std::span<double>) {
    check_finite(op, rows, piece);
    const auto* at = which.template const_data_ptr<std::int64_t>();
    const auto* end = at + which.numel();
    for (const auto* i = std::lower_bound(at, end, piece.first); i != end && *i < piece.first + piece.rows; ++i)
      std::ranges::copy_n(piece.row(*i - piece.first), piece.features,
                          found.template mutable_data_ptr<double>() + (i - at) * piece.features);
  }));
  return found;
}

/// Adds the distances of `mine` to `others` to the sums for the groups of `others`.
void add_distances(const at::Tensor& mine, const at::Tensor& others, const at::Tensor& groups, at::Tensor& sums) {
  constexpr std::int64_t by_differences = 2;
  const auto member = at::one_hot(groups, sums.size(1)).to(at::kDouble);
  for (std::int64_t i = 0; i < mine.size(0); i += own_at_once) {
    const auto end = std::min(mine.size(0), i + own_at_once);
    sums.slice(0, i, end).addmm_(at::cdist(mine.slice(0, i, end), others, 2, by_differences), member);
  }
}

/// Calls f(rows, groups) with the rows of every rank in turn, in pieces.
template <class F>
void for_all_rows(const Rows& rows, const at::Tensor& mine, const at::Tensor& groups, F f) {
  const auto f64 = at::TensorOptions().dtype(at::kDouble);
  const auto own = at::cat({mine, groups.unsqueeze(1).to(at::kDouble)}, 1);
  const auto counts =
      rows.distributed() ? rows.comm().allgather(mine.size(0)) : std::vector<std::int64_t>{mine.size(0)};
  for (std::size_t rank = 0; rank < counts.size(); ++rank)
    for (std::int64_t i = 0; i < counts[rank]; i += others_at_once) {
      const auto n = std::min(others_at_once, counts[rank] - i);
      const auto root = static_cast<int>(rank);
      const auto here = !rows.distributed() || rows.comm().rank() == root;
      auto piece = here ? own.slice(0, i, i + n).contiguous() : at::empty({n, own.size(1)}, f64);
      if (rows.distributed()) rows.comm().broadcast(detail::buffer_of(piece), root);
      f(piece.slice(1, 0, mine.size(1)), piece.select(1, mine.size(1)).to(at::kLong));
    }
}

/// Returns each row's coefficient from its sums of distances by group and the sizes of groups.
at::Tensor coefficients(const at::Tensor& sums, const at::Tensor& groups, const at::Tensor& sizes) {
  const auto column = groups.unsqueeze(1);
  const auto own_size = sizes.index_select(0, groups);
  const auto inner = sums.gather(1, column).squeeze(1) / (own_size - 1).clamp_min(1);
  const auto means = at::where(sizes > 0, sums / sizes, std::numeric_limits<double>::infinity());
  const auto outer = means.scatter(1, column, std::numeric_limits<double>::infinity()).amin(1);
  const auto most = at::maximum(inner, outer);
  return at::where((own_size > 1).logical_and(most > 0), (outer - inner) / most, 0.0);
}

}  // namespace

double silhouette_score(const Rows& x, const DNDarray& labels, const SilhouetteOptions& options) {
  const auto all = labels_beside(op, x, labels);
  const auto which = sample(x, options);
  const auto mine = all.index_select(0, which).contiguous();
  const auto known = distinct_labels(x, mine);
  const auto n = options.sample_size.value_or(x.size());
  if (std::ssize(known) < 2 || std::ssize(known) >= n)
    detail::raise<ValueError>(op, "got {} labels for {} rows; expected 2 to rows - 1", known.size(), n);
  const auto rows = chosen_rows(x, which);
  const auto positions = positions_among(known, mine);
  const auto groups =
      at::tensor(at::ArrayRef<std::int32_t>(positions.data(), positions.size()), at::kInt).to(at::kLong);
  auto sums = at::zeros({rows.size(0), std::ssize(known)}, at::kDouble);
  auto sizes = at::zeros({std::ssize(known)}, at::kDouble);
  for_all_rows(x, rows, groups, [&](const at::Tensor& others, const at::Tensor& of) {
    add_distances(rows, others.contiguous(), of, sums);
    sizes += at::bincount(of, {}, std::ssize(known)).to(at::kDouble);
  });
  auto total = coefficients(sums, groups, sizes).sum().reshape({1});
  sum_over_ranks(x, total, std::nullopt);
  return total.item<double>() / static_cast<double>(n);
}

}  // namespace heatpp
