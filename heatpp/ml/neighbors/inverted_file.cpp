#include <heatpp/ml/neighbors/inverted_file.hpp>

#include <heatpp/core/detail/relayout.hpp>
#include <heatpp/core/detail/route.hpp>
#include <heatpp/core/promotion.hpp>
#include <heatpp/ml/cluster/kmeans.hpp>
#include <heatpp/ml/detail/around.hpp>
#include <heatpp/ml/detail/fitted.hpp>
#include <heatpp/ml/detail/options/neighbors.hpp>
#include <heatpp/ml/detail/sparse/row_block.hpp>
#include <heatpp/ml/neighbors/detail/best.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace heatpp {
namespace ml::detail {

/// The lists of this rank, one after another, each in the order of the rows' numbers.
struct Lists {
  DNDarray centers;
  Communicator comm;
  Dtype dtype;
  bool distributed;
  std::vector<std::int64_t> owners = {};  ///< rank of each list
  std::vector<std::int64_t> begins = {};  ///< first row of each list among this rank's rows, and the end
  at::Tensor rows = {}, numbers = {};
};

}  // namespace ml::detail

namespace {

using namespace ml::detail;
using detail::raise;

void check_options(const InvertedFileOptions& o, std::int64_t lists, const Rows& x) {
  if (o.n_neighbors < 1 || o.n_probe < 1 || lists < 1 || o.max_iterations < 1 || lists > x.size())
    raise<ValueError>("InvertedFile.fit",
                      "got {} neighbors, {} lists to search of {}, {} iterations and {} rows; expected at least one of "
                      "each, and as many rows as lists",
                      o.n_neighbors, o.n_probe, lists, o.max_iterations, x.size());
}

/// Returns the rank of each list: largest list first, each to the rank with the fewest rows so far.
std::vector<std::int64_t> dealt(const std::vector<double>& sizes, int ranks) {
  std::vector<std::size_t> order(sizes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater<>(), [&](std::size_t list) { return sizes[list]; });
  std::vector<std::int64_t> owners(sizes.size());
  std::vector<double> held(static_cast<std::size_t>(ranks), 0);
  for (const auto list : order) {
    const auto least = std::ranges::min_element(held);
    owners[list] = least - held.begin();
    *least += sizes[list];
  }
  return owners;
}

/// Sends rows to the ranks that have their lists, and sorts the received ones.
void keep(Lists& lists, const Rows& x, const at::Tensor& labels) {
  const auto* label = labels.const_data_ptr<std::int64_t>();
  const auto count = lists.centers.shape()[0];
  Totals sizes(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < labels.numel(); ++i) sizes.of(0)[static_cast<std::size_t>(label[i])] += 1;
  lists.owners = dealt(sizes.over_ranks(x), lists.distributed ? lists.comm.size() : 1);
  auto rows = block_of(x, lists.dtype);
  auto known = at::stack({labels, at::arange(x.first(), x.first() + x.count(), at::kLong)}, 1);
  if (lists.distributed) {
    const auto route = detail::route_to(at::tensor(lists.owners, at::kLong).index_select(0, labels), lists.comm);
    rows = route.there(rows);
    known = route.there(known);
  }
  const auto of = known.select(1, 0).contiguous();
  const auto order = std::get<1>(of.sort(/*stable=*/true, 0, /*descending=*/false));  // numbers already increase
  lists.rows = rows.index_select(0, order);
  lists.numbers = known.select(1, 1).index_select(0, order).contiguous();
  const auto held = at::bincount(of, {}, count).cumsum(0).contiguous();
  lists.begins.assign(1, 0);
  lists.begins.insert(lists.begins.end(), held.const_data_ptr<std::int64_t>(),
                      held.const_data_ptr<std::int64_t>() + count);
}

/// Returns the lists with the nearest centers for each row, (rows, probes).
at::Tensor nearest_lists(const at::Tensor& rows, const at::Tensor& centers, std::int64_t probes) {
  constexpr std::int64_t some = 1024;
  const auto found = at::empty({rows.size(0), probes}, at::kLong);
  for (std::int64_t first = 0; first < rows.size(0); first += some) {
    const auto part = rows.slice(0, first, first + some).to(at::kDouble);
    const auto apart = at::cdist(part, centers, 2, /*compute_mode=*/2);
    found.slice(0, first, first + some).copy_(std::get<1>(apart.topk(probes, 1, /*largest=*/false)));
  }
  return found;
}

/// The questions of rows to ranks: for each pair the row, and the lists there, padded with -1.
struct Questions {
  std::vector<std::int64_t> rows, ranks, lists;
};
Questions questions_of(const at::Tensor& probed, const std::vector<std::int64_t>& owners) {
  Questions all;
  const auto probes = probed.size(1);
  for (std::int64_t i = 0; i < probed.size(0); ++i) {
    const std::span lists(probed.const_data_ptr<std::int64_t>() + i * probes, static_cast<std::size_t>(probes));
    std::vector<std::int64_t> ranks;
    for (const auto list : lists) ranks.push_back(owners[static_cast<std::size_t>(list)]);
    std::ranges::sort(ranks);
    ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
    for (const auto rank : ranks) {
      all.rows.push_back(i);
      all.ranks.push_back(rank);
      const auto end = std::ssize(all.lists) + probes;
      for (const auto list : lists)
        if (owners[static_cast<std::size_t>(list)] == rank) all.lists.push_back(list);
      all.lists.resize(static_cast<std::size_t>(end), -1);
    }
  }
  return all;
}

/// Returns the best rows of this rank's lists for each asking row, list by list.
std::vector<Best> searched(const Lists& lists, const at::Tensor& asking, const at::Tensor& wanted, std::size_t most) {
  std::vector<Best> best(static_cast<std::size_t>(asking.size(0)));
  std::vector<std::vector<std::int64_t>> askers(lists.owners.size());
  for (std::int64_t i = 0; i < wanted.numel(); ++i)
    if (const auto list = wanted.const_data_ptr<std::int64_t>()[i]; list >= 0)
      askers[static_cast<std::size_t>(list)].push_back(i / wanted.size(1));
  const auto* numbers = lists.numbers.const_data_ptr<std::int64_t>();
  for (std::size_t list = 0; list < askers.size(); ++list) {
    const auto first = lists.begins[list], end = lists.begins[list + 1];
    const auto& who = askers[list];
    if (who.empty() || first == end) continue;
    const auto of = [&](std::int64_t i) -> Best& {
      return best[static_cast<std::size_t>(who[static_cast<std::size_t>(i)])];
    };
    const Search search{Metric::euclidean, [&](std::int64_t i) { return of(i).bound(most); },
                        [&](std::int64_t i, const Near& near) {
                          of(i).take({near.reduced, numbers[near.row]}, most);
                        }};
    search(asking.index_select(0, at::tensor(who, at::kLong)), lists.rows.slice(0, first, end).to(asking.scalar_type()),
           first);
  }
  return best;
}

/// Packs distances and numbers as (rows, most, 2), with -1 for missing ones.
at::Tensor packed(const std::vector<Best>& best, std::int64_t most) {
  const auto all = at::full({std::ssize(best), most, 2}, -1, at::kDouble);
  auto* to = all.data_ptr<double>();
  for (const auto& [heap] : best) {
    for (std::size_t j = 0; j < heap.size(); ++j)
      to[2 * j] = heap[j].reduced, to[2 * j + 1] = static_cast<double>(heap[j].row);
    to += 2 * most;
  }
  return all;
}

/// The clusters that are the lists; their errors name InvertedFile.
struct ListClusters : IteratedClusters {
  explicit ListClusters(const KMeansOptions& options) : IteratedClusters("InvertedFile", Rule::means, options) {}
  using IteratedClusters::learn_from;
};

}  // namespace

InvertedFile& InvertedFile::fit(const Rows& x) {
  check_agreed("InvertedFile.fit", x, options_);
  const auto root = std::llround(std::sqrt(static_cast<double>(x.size())));
  const auto count = options_.n_lists.value_or(std::max<std::int64_t>(1, root));
  check_options(options_, count, x);
  ListClusters clusters({.n_clusters = count,
                         .init = KMeansInit::parallel,
                         .max_iterations = options_.max_iterations,
                         .seed = options_.seed});
  clusters.learn_from(x, {});
  Lists lists{clusters.centers().astype(float64), x.comm(), working_dtype(x), x.distributed() && x.comm().size() > 1};
  keep(lists, x, clusters.labels().larray().to(at::kCPU).contiguous());
  lists_ = std::make_shared<const Lists>(std::move(lists));
  return *this;
}

Neighbors InvertedFile::kneighbors(const Rows& x) const {
  constexpr auto op = "InvertedFile.kneighbors";
  const auto& lists = fitted(op, lists_);
  check_features(op, x, lists.centers.shape()[1]);
  detail::check_same_comm(op, x.comm(), lists.comm);
  check_all_finite(op, x);
  const auto mine = shared_out(x, lists.distributed);
  const auto asking = block_of(mine, promote_types(working_dtype(mine), lists.dtype));
  const auto probes = std::min(options_.n_probe, n_lists());
  const auto most = static_cast<std::size_t>(options_.n_neighbors);
  const auto probed = nearest_lists(asking, lists.centers.larray(), probes);
  const auto answer = [&](const at::Tensor& rows, const at::Tensor& wanted) {
    return searched(lists, rows, wanted.contiguous(), most);
  };
  std::vector<Best> best(static_cast<std::size_t>(mine.count()));
  if (!lists.distributed) {
    best = answer(asking, probed);
  } else {
    const auto all = questions_of(probed, lists.owners);
    const auto route = detail::route_to(at::tensor(all.ranks, at::kLong), lists.comm);
    const auto rows = route.there(asking.index_select(0, at::tensor(all.rows, at::kLong)));
    const auto wanted = route.there(at::tensor(all.lists, at::kLong).reshape({-1, probes}));
    const auto found = route.back(packed(answer(rows, wanted), options_.n_neighbors)).contiguous();
    const auto* at = found.const_data_ptr<double>();
    for (const auto row : all.rows)
      for (std::size_t j = 0; j < most; ++j, at += 2)
        if (at[1] >= 0) best[static_cast<std::size_t>(row)].take({at[0], static_cast<std::int64_t>(at[1])}, most);
  }
  const auto [distances, indices] =
      answers_of(Metric::euclidean, std::move(best), options_.n_neighbors, asking.scalar_type(), mine);
  return {back(distances, x), back(indices, x)};
}

const DNDarray& InvertedFile::centers() const { return fitted("InvertedFile.centers", lists_).centers; }
std::int64_t InvertedFile::n_lists() const { return fitted("InvertedFile.n_lists", lists_).centers.shape()[0]; }

}  // namespace heatpp
