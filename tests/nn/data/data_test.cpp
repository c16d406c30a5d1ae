#include "../training.hpp"
#include "../../support.hpp"

#include <heatpp_nn/data/data_loader.hpp>

#include <set>

using namespace heatpp::nn;

namespace {

/// Rows 0, 1, ...; rank r holds 5 + r of them, in two columns. The targets repeat the first column.
struct Rows {
  int ranks = ht::world().size(), rank = ht::world().rank();
  std::int64_t mine = 5 + rank, first = 5 * rank + rank * (rank - 1) / 2;
  at::Tensor block = torch::arange(2 * first, 2 * (first + mine), torch::kDouble).view({mine, 2});
  ht::DNDarray inputs = ht::from_local(block, {.split = 0});
  ht::DNDarray targets = ht::from_local(block.select(1, 0).to(torch::kLong), {.split = 0});
};

/// Returns the rows of one rank in an epoch.
std::vector<std::int64_t> rows_of(const DistributedSampler& sampler, std::int64_t epoch) {
  const auto rows = sampler.rows(epoch, 0, sampler.batches());
  return {rows.const_data_ptr<std::int64_t>(), rows.const_data_ptr<std::int64_t>() + rows.numel()};
}

}  // namespace

TEST_CASE("Every rank gets equally many batches", "[nn][data]") {
  const Rows rows;
  const auto& layout = rows.inputs.layout();
  const DistributedSampler drop(layout, rows.rank, {.batch_size = 2}),
      pad(layout, rows.rank, {.batch_size = 2, .remainder = Remainder::pad});

  CHECK(drop.batches() == 2);
  CHECK(pad.batches() == (5 + rows.ranks - 1 + 1) / 2);
  const auto dropped = rows_of(drop, 0), padded = rows_of(pad, 0);
  CHECK(std::set(dropped.begin(), dropped.end()).size() == 4);
  CHECK(std::set(padded.begin(), padded.end()).size() == static_cast<std::size_t>(rows.mine));
  CHECK(std::ssize(padded) == 2 * pad.batches());
  CHECK(std::ranges::min(padded) == rows.first);
  CHECK(std::ranges::max(padded) == rows.first + rows.mine - 1);
}

TEST_CASE("The order depends on seed, epoch and rank only", "[nn][data]") {
  const ht::Layout layout({400}, 0, 4);
  for (const auto shuffle : {Shuffle::local, Shuffle::blocks, Shuffle::global}) {
    const SamplerOptions options{.batch_size = 100, .shuffle = shuffle, .seed = 3};
    auto other = options;
    other.seed = 4;
    const auto rows = rows_of(DistributedSampler(layout, 1, options), 5);

    CHECK(rows == rows_of(DistributedSampler(layout, 1, options), 5));
    CHECK(rows != rows_of(DistributedSampler(layout, 1, options), 6));
    CHECK(rows != rows_of(DistributedSampler(layout, 1, other), 5));
    CHECK(rows != rows_of(DistributedSampler(layout, 2, options), 5));
  }
  const DistributedSampler plain(layout, 1, {.batch_size = 100, .shuffle = Shuffle::none});
  CHECK(equals(plain.rows(7, 0, 1), torch::arange(100, 200)));
}

TEST_CASE("With join the last batches are smaller and counted on every rank", "[nn][data]") {
  const ht::Layout uneven({10}, 0, {0, 7, 7, 10});
  const DistributedSampler own(uneven, 0, {.batch_size = 4, .remainder = Remainder::join}),
      all(uneven, 1, {.batch_size = 2, .shuffle = Shuffle::global, .remainder = Remainder::join});

  CHECK(own.batches() == 2);
  CHECK(own.total(0) == 7);
  CHECK(own.active_ranks(0) == 2);
  CHECK(own.active_ranks(1) == 1);
  for (const std::int64_t batch : {0, 1}) {
    std::set<std::int64_t> counts;
    for (int rank = 0; rank < 3; ++rank) counts.insert(own.count(batch, rank));
    for (const std::int64_t rows : {0, 1, 2, 3, 4}) CHECK(own.any_has(rows, batch) == counts.contains(rows));
  }
  CHECK(own.weight(1) == 3);
  CHECK(own.weight(0) == Approx(12.0 / 7));
  CHECK(DistributedSampler(uneven, 1, own.options()).rows(0, 0, 2).numel() == 0);
  CHECK(all.batches() == 2);
  CHECK(all.count(1, 0) == 2);
  CHECK(all.count(1, 1) == 1);
  CHECK(all.active_ranks(1) == 3);
}

TEST_CASE("Every row is as likely at every place of a global shuffle", "[nn][data]") {
  // n * n counts of rows and places over many epochs: their chi-squared has (n - 1)^2 degrees of freedom.
  constexpr std::int64_t n = 20, epochs = 4000;
  const ht::Layout layout({n}, 0, 2);
  const DistributedSampler first(layout, 0, {.batch_size = 5, .shuffle = Shuffle::global}),
      second(layout, 1, {.batch_size = 5, .shuffle = Shuffle::global});
  std::vector<double> seen(n * n);

  for (std::int64_t epoch = 0; epoch < epochs; ++epoch) {
    std::int64_t place = 0;
    for (const auto* sampler : {&first, &second})
      for (const auto row : rows_of(*sampler, epoch)) ++seen[static_cast<std::size_t>(place++ * n + row)];
  }

  double chi_squared = 0;
  constexpr double expected = static_cast<double>(epochs) / n;
  for (const auto count : seen) chi_squared += (count - expected) * (count - expected) / expected;
  constexpr double degrees = (n - 1) * (n - 1);
  CHECK(std::abs(chi_squared - degrees) < 4 * std::sqrt(2 * degrees));
}

TEST_CASE("Long orders are permutations too, and far from the identity", "[nn][data]") {
  constexpr std::int64_t n = 10007;
  const ht::Layout layout({n}, 0, 1);
  for (const auto& options : {SamplerOptions{.batch_size = n, .shuffle = Shuffle::global},
                              SamplerOptions{.batch_size = n, .shuffle = Shuffle::blocks, .block = 10, .mix = 50}}) {
    const auto rows = DistributedSampler(layout, 0, options).rows(1, 0, 1);

    CHECK(equals(std::get<0>(rows.sort()), torch::arange(n)));
    const auto distance = (rows - torch::arange(n)).abs().to(torch::kDouble).mean().item<double>();
    CHECK(distance == Approx(n / 3.0).epsilon(0.1));
  }
}

TEST_CASE("Too few rows and arrays cut otherwise are refused", "[nn][data]") {
  const ht::Layout three({3, 2}, 0, 4);

  const auto message = message_of<ht::ValueError>([&] { DistributedSampler(three, 0, {.batch_size = 1}); });

  CHECK_THAT(message, Catch::Contains("0 rows on rank 3"));
  CHECK_THROWS_AS(DistributedSampler(ht::Layout({8, 8}, 1, 4), 0), ht::ValueError);
  CHECK_THROWS_AS(DistributedSampler(ht::Layout({8}, 0, 4), 0, {.batch_size = 0}), ht::ValueError);
}

TEST_CASE("A loader gives inputs and their targets in memory that is used again", "[nn][data]") {
  const Rows rows;
  DataLoader loader({rows.inputs, rows.targets}, {.batch_size = 2});
  std::multiset<double> seen;
  std::set<const void*> memory;

  for (const auto& [inputs, targets] : loader.epoch(1)) {
    CHECK(equals(inputs.select(1, 0).to(torch::kLong), targets));
    memory.insert(inputs.data_ptr());
    for (int i = 0; i < 2; ++i) seen.insert(inputs[i][0].item<double>());
  }

  CHECK(memory.size() == 1);
  CHECK(seen.size() == 4);
  CHECK(*seen.begin() >= 2.0 * static_cast<double>(rows.first));
  CHECK(*seen.rbegin() < 2.0 * static_cast<double>(rows.first + rows.mine));
}

TEST_CASE("Inputs and targets may be cut in any way", "[nn][data]") {
  const Rows rows;
  const auto inputs = ht::resplit(rows.inputs, std::nullopt).larray();
  const auto targets = ht::resplit(rows.targets, std::nullopt).larray();
  for (const auto& of_inputs : every_layout(rows.inputs.shape()))
    for (const auto& of_targets : every_layout(rows.targets.shape())) {
      const Dataset dataset(distribute(inputs, of_inputs), distribute(targets, of_targets));
      const auto& layout = dataset.layout();
      CHECK(layout.split() == 0);
      if (of_inputs.split() == 0) CHECK(same_cut(layout, of_inputs));
      const auto first = layout.offset(rows.rank), count = layout.count(rows.rank);
      const auto batch = dataset.rows(torch::arange(first, first + count));
      CHECK(equals(batch.inputs, inputs.narrow(0, first, count)));
      CHECK(equals(batch.targets, targets.narrow(0, first, count)));
    }
}

TEST_CASE("Inputs and targets of unequal numbers of rows are refused", "[nn][data]") {
  const Rows rows;
  for (const auto& other : {ht::zeros({rows.inputs.shape().front() + 1}, {.split = 0}), ht::zeros({})})
    CHECK_THROWS_WITH(Dataset(rows.inputs, other), Catch::Contains("expected equally many rows"));
}
