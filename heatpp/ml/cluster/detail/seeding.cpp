#include <heatpp/ml/cluster/detail/seeding.hpp>

#include <heatpp/comm/detail/numbers/place.hpp>
#include <heatpp/core/detail/peers/few_ranks.hpp>
#include <heatpp/ml/cluster/detail/draw.hpp>
#include <heatpp/ml/cluster/detail/manhattan.hpp>
#include <heatpp/ml/detail/nearest.hpp>
#include <heatpp/ml/detail/row_random.hpp>

#include <numeric>

namespace heatpp::ml::detail {
namespace {

std::vector<double> weights_of(const Weighted& data) {
  const auto count = static_cast<std::size_t>(data.rows.count());
  return data.weights ? std::vector(data.weights, data.weights + count) : std::vector(count, 1.0);
}

/// Returns this rank's new candidates: each row joins with probability factor * mass.
at::Tensor joining(const Weighted& data, const Closest& closest, double factor, const RowRandom& random) {
  std::vector<at::Tensor> chosen;
  for (std::int64_t i = 0; i < data.rows.count(); ++i)
    if (random.uniform(data.rows.first() + i) < factor * closest.mass(i))
      chosen.push_back(data.rows.read(i, 1).to(at::kCPU, at::kDouble));
  return chosen.empty() ? at::empty({0, data.rows.features()}, at::kDouble) : at::cat(chosen).contiguous();
}

at::Tensor one_row(const Weighted& data, const RowRandom& random) {
  const std::array part{random.uniform(0)};
  return fetch_rows(data.rows, drawn(data.rows, weights_of(data), part));
}

}  // namespace

at::Tensor gathered_rows(const Rows& rows, const std::function<at::Tensor()>& chosen) {
  at::Tensor mine;
  const auto failure = heatpp::detail::failure_of([&] { mine = chosen(); });
  if (!rows.distributed()) {
    if (failure) rows.comm().agree(failure);
    return mine;
  }
  if (rows.comm().size() > heatpp::detail::few_ranks) {
    rows.comm().agree(failure);
    return rows_by_place(mine, rows.comm());
  }
  auto counts = rows.comm().allgather(failure ? -1 : mine.size(0));
  if (std::ranges::min(counts) < 0) rows.comm().agree(failure);
  auto all = at::empty({std::accumulate(counts.begin(), counts.end(), std::int64_t{0}), mine.size(1)}, at::kDouble);
  for (auto& count : counts) count *= mine.size(1);
  rows.comm().allgather(heatpp::detail::buffer_of(mine), heatpp::detail::buffer_of(all), counts);
  return all;
}

at::Tensor rows_by_place(const at::Tensor& mine, const Communicator& comm) {
  const auto place = heatpp::detail::place_in_whole(comm, mine.size(0));
  auto all = at::zeros({place.total, mine.size(1)}, at::kDouble);
  all.slice(0, place.offset, place.offset + mine.size(0)).copy_(mine);
  // The sum of the bits of one rank and zeros is exact.
  comm.allreduce({all.data_ptr(), all.numel(), int64});
  return all;
}

std::vector<double> weights_near(const Weighted& data, const at::Tensor& candidates, bool manhattan) {
  const auto count = static_cast<std::size_t>(candidates.size(0));
  const auto adding = [&](auto nearest) {
    return [&data, nearest](const auto& piece, std::span<double> sums) {
      std::vector<std::int32_t> labels(static_cast<std::size_t>(piece.rows));
      nearest(piece, labels.data());
      for (std::size_t i = 0; i < labels.size(); ++i)
        sums[static_cast<std::size_t>(labels[i])] +=
            data.weights ? data.weights[static_cast<std::size_t>(piece.first) + i] : 1.0;
    };
  };
  if (!manhattan) {
    const NearestCenters table(candidates, data.rows);
    return summed_stored(data.rows, count,
                         adding([&table](const auto& piece, auto* labels) { table.nearest(piece, labels); }));
  }
  const auto whole = candidates.contiguous();
  return summed(data.rows, count, adding([&whole](const auto& piece, auto* labels) {
                  std::vector<double> distances(static_cast<std::size_t>(piece.rows));
                  nearest_manhattan(piece, whole.template const_data_ptr<double>(), whole.size(0), labels,
                                    distances.data());
                }));
}

at::Tensor random_rows(const Weighted& data, std::int64_t k, std::uint64_t seed) {
  const RowRandom random(seed, 0);
  auto masses = weights_of(data);
  std::vector<std::int64_t> positions;
  for (std::int64_t c = 0; c < k; ++c) {
    const std::array part{random.uniform(c)};
    const auto row = drawn(data.rows, masses, part)[0];
    if (row >= data.rows.first() && row < data.rows.first() + data.rows.count())
      masses[static_cast<std::size_t>(row - data.rows.first())] = 0;
    positions.push_back(row);
  }
  return fetch_rows(data.rows, positions);
}

at::Tensor plus_plus(const Weighted& data, std::int64_t k, std::uint64_t seed) {
  const RowRandom random(seed, 1);
  const auto trials = 2 + static_cast<std::int64_t>(std::log(static_cast<double>(k)));
  std::vector<at::Tensor> centers{one_row(data, random)};
  Closest closest(data);
  for (std::int64_t c = 1; c < k; ++c) {
    closest.add(centers.back());
    std::vector<double> parts;
    for (std::int64_t t = 0; t < trials; ++t) parts.push_back(random.uniform(c * trials + t));
    const auto candidates = fetch_rows(data.rows, drawn(data.rows, closest.masses(), parts));
    const auto left = closest.sums_with(candidates);
    const auto best = std::ranges::min_element(left) - left.begin();
    centers.push_back(candidates.slice(0, best, best + 1));
  }
  return at::cat(centers);
}

at::Tensor parallel(const Weighted& data, std::int64_t k, std::uint64_t seed) {
  constexpr std::uint64_t rounds = 5;
  auto fresh = one_row(data, RowRandom(seed, 2));
  std::vector<at::Tensor> candidates{fresh};
  Closest closest(data);
  for (std::uint64_t round = 0; round < rounds && fresh.size(0) > 0; ++round) {
    closest.add(fresh);
    const auto left = closest.sum();
    if (!(left > 0)) break;
    const auto factor = 2.0 * static_cast<double>(k) / left;
    fresh = gathered_rows(data.rows, [&] { return joining(data, closest, factor, RowRandom(seed, 3 + round)); });
    candidates.push_back(fresh);
  }
  const auto all = at::cat(candidates);
  if (all.size(0) < k) return plus_plus(data, k, seed);
  const auto weights = weights_near(data, all);
  const Rows few(replicated(all, float64, data.rows.comm()));
  const Weighted weighted{data.op, few, weights.data()};
  return lloyd(weighted, plus_plus(weighted, k, seed), {}).centers;
}

}  // namespace heatpp::ml::detail
