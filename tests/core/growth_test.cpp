// Tests what one rank of many holds for the ranks with which it exchanges data. One process makes the real lists for
// any number of ranks. Allocations are counted; no times are measured.
#include "../catch.hpp"
#include "../counted_memory.hpp"

#include <heatpp/core/blocks/detail/bricks.hpp>
#include <heatpp/core/layout.hpp>
#include <heatpp/ops/calculus/detail/ghost_lists.hpp>
#include <heatpp/ops/calculus/detail/halo_reach.hpp>
#include <heatpp/ops/calculus/detail/window.hpp>

#include <bit>
#include <functional>
#include <numeric>

namespace ht = heatpp;
using namespace ht::detail;

namespace {

constexpr std::array many{1000, 10000, 65536, 100000};
constexpr std::array few{1, 2, 3, 5, 8, 13};

/// Makes a cut in which every seventh rank holds nothing and the others 3 to 5 indices.
Cut uneven(int ranks) {
  std::vector<std::int64_t> offsets{0};
  for (int rank = 0; rank < ranks; ++rank) offsets.push_back(offsets.back() + (rank % 7 == 3 ? 0 : 3 + rank % 3));
  return Cut::at(std::move(offsets));
}

std::vector<Cut> cuts_over(int ranks) { return {Cut::even(5 * ranks + 1, ranks), Cut::even(2, ranks), uneven(ranks)}; }

/// The rows that a rank has and needs, in a function that fetches rows.
struct Rule {
  Wanted wanted;
  std::function<std::vector<RankRange>(int rank)> takers;
  [[nodiscard]] GhostLists lists(const Cut& cut, int rank) const {
    return ghost_lists(cut, rank, wanted, takers(rank));
  }
};
Rule halo_rule(const Cut& cut, const ht::HaloOptions& options) {
  return {[=](int rank) { return halo_rows(cut, rank, options); },
          [=](int rank) { return halo_takers(cut, rank, options); }};
}
Rule window_rule(const ConvolutionWindow& window) {
  return {[&](int rank) { return window.missing(rank); }, [&](int rank) { return window.takers(rank); }};
}

/// Checks that each rank sends every other rank the rows that it waits for.
void check_pairs(const Cut& cut, const Rule& rule) {
  std::vector<GhostLists> lists;
  for (int rank = 0; rank < cut.ranks(); ++rank) lists.push_back(rule.lists(cut, rank));
  const auto part = [](const std::vector<HeldPart>& parts, int rank) {
    const auto found = std::ranges::find(parts, rank, &HeldPart::rank);
    return found == parts.end() ? std::vector<std::int64_t>() : found->indices;
  };
  for (int giver = 0; giver < cut.ranks(); ++giver)
    for (int taker = 0; taker < cut.ranks(); ++taker)
      if (giver != taker)
        CHECK(part(lists[static_cast<std::size_t>(giver)].leaving, taker) ==
              part(lists[static_cast<std::size_t>(taker)].arriving, giver));
}

/// Checks that the lists of a rank of many are short and small.
void check_small(const Cut& cut, const Rule& rule, std::size_t neighbors) {
  for (const auto rank : {0, 1, cut.ranks() / 3, cut.ranks() - 1}) {
    const auto lists = rule.lists(cut, rank);
    CHECK(lists.arriving.size() <= neighbors);
    CHECK(lists.leaving.size() <= neighbors);
    const auto cost = cost_of([&] { return rule.lists(cut, rank); });
    INFO("rank " << rank << " of " << cut.ranks() << ": " << cost.allocations << " allocations, " << cost.bytes);
    CHECK(cost.allocations <= 60);
    CHECK(cost.bytes <= 2 << 10);
    CHECK(cost.kept <= 1 << 10);
  }
}

std::vector<ht::HaloOptions> halos(std::int64_t extent, std::int64_t most) {
  using enum ht::Boundary;
  std::vector<ht::HaloOptions> all;
  for (const auto boundary : {none, constant, periodic, edge, reflect})
    for (const auto width : {std::int64_t{0}, std::int64_t{1}, std::int64_t{4}, extent - 1, extent})
      for (const auto behind : {width, std::int64_t{2}})
        if (std::max(width, behind) <= std::min(most, boundary == reflect ? extent - 1 : extent))
          all.push_back({.width = width, .behind = behind, .boundary = boundary});
  return all;
}

/// Returns parts of the full convolution: all of it, as much as the array, and where all taps meet it.
std::vector<OutputRange> parts_of(std::int64_t n, std::int64_t taps) {
  std::vector<OutputRange> parts;
  for (const auto stride : {1, 2, 7})
    for (const auto& [start, count] :
         {std::pair{std::int64_t{0}, n + taps - 1}, {(taps - 1) / 2, n}, {taps - 1, n - taps + 1}})
      if (count > 0) parts.push_back({start, (count + stride - 1) / stride, stride});
  return parts;
}

std::int64_t log2_of(int ranks) { return std::bit_width(static_cast<unsigned>(ranks - 1)); }

}  // namespace

TEST_CASE("ranks send what others wait for in halos and convolutions", "[growth]") {
  for (const auto ranks : few)
    for (const auto& cut : cuts_over(ranks)) {
      for (const auto& options : halos(cut.extent(), cut.extent())) check_pairs(cut, halo_rule(cut, options));
      const ht::Layout layout({cut.extent()}, 0, cut);
      for (const std::int64_t taps : {1, 2, 3, 8, 40})
        for (const auto& part : parts_of(cut.extent(), taps)) {
          const ConvolutionWindow window(layout, part, taps);
          check_pairs(cut, window_rule(window));
        }
    }
}

TEST_CASE("halos and convolutions list their neighbors only, on any number of ranks", "[growth]") {
  for (const auto ranks : many)
    for (const auto& cut : {Cut::even(5 * std::int64_t{ranks} + 1, ranks), uneven(ranks)}) {
      for (const auto& options : halos(cut.extent(), 4)) check_small(cut, halo_rule(cut, options), 5);
      const ht::Layout layout({cut.extent()}, 0, cut);
      const ConvolutionWindow window(layout, {1, cut.extent(), 1}, 3);
      check_small(cut, window_rule(window), 2);
      if (cut.is_rule()) CHECK(window.layout({cut.extent()}).cut() == cut);
    }
}

TEST_CASE("parcels reach their ranks", "[growth]") {
  for (const auto ranks : {1, 2, 3, 4, 5, 7, 12, 16, 37}) {
    std::vector<Parcels> at;
    std::vector<std::vector<ParcelRound>> rounds;
    std::vector<std::int64_t> expected(static_cast<std::size_t>(ranks), 0), got(expected);
    for (int rank = 0; rank < ranks; ++rank) {
      rounds.push_back(parcel_rounds(ranks, rank));
      CHECK(std::ssize(rounds.back()) == log2_of(ranks));
      at.push_back({2, {}});
      for (int to = 0; to < ranks; to += 1 + rank % 3) {
        at.back().numbers.insert(at.back().numbers.end(), {to, 1000 * rank + to + 1});
        expected[static_cast<std::size_t>(to)] += 1000 * rank + to + 1;
      }
    }
    for (std::size_t k = 0; k < rounds.front().size(); ++k) {
      std::vector<Parcels> sent;
      for (std::size_t rank = 0; rank < at.size(); ++rank)
        sent.push_back(take_others(at[rank], rounds[rank][k].first, rounds[rank][k].last));
      std::vector<int> taken(at.size(), 0);
      for (std::size_t rank = 0; rank < at.size(); ++rank)
        for (const auto from : rounds[rank][k].from) {
          const auto giver = static_cast<std::size_t>(from);
          CHECK(rounds[giver][k].to == static_cast<int>(rank));
          ++taken[giver];
          at[rank].numbers.insert(at[rank].numbers.end(), sent[giver].numbers.begin(), sent[giver].numbers.end());
        }
      for (std::size_t rank = 0; rank < at.size(); ++rank) CHECK(taken[rank] == (rounds[rank][k].to >= 0 ? 1 : 0));
    }
    for (std::size_t rank = 0; rank < at.size(); ++rank)
      for (std::size_t i = 0; i < at[rank].count(); ++i) {
        CHECK(at[rank].record(i)[0] == static_cast<std::int64_t>(rank));
        got[rank] += at[rank].record(i)[1];
      }
    CHECK(got == expected);
  }
}

TEST_CASE("parcels take log2 P rounds and as little memory", "[growth]") {
  for (const auto ranks : many)
    for (const auto rank : {0, 1, ranks / 3, ranks - 1}) {
      for (const auto& round : parcel_rounds(ranks, rank)) CHECK(round.from.size() <= 2);
      CHECK(std::ssize(parcel_rounds(ranks, rank)) == log2_of(ranks));
      CHECK(cost_of([&] { return parcel_rounds(ranks, rank); }).kept <= 1 << 10);
    }
}

TEST_CASE("bricks along the split hold data of their neighbors only, on any number of ranks", "[growth]") {
  for (const auto ranks : many) {
    // Bricks of five planes, two planes off the blocks of the array, and more ghosts before them than behind.
    const ht::Layout layout({5 * std::int64_t{ranks}, 100, 100}, 0, ranks);
    const auto bricks_of = [&](int rank) {
      const auto first = rank == 0 ? 0 : 5 * std::int64_t{rank} - 2,
                 last = rank + 1 == ranks ? 5 * std::int64_t{ranks} : 5 * std::int64_t{rank} + 3;
      return std::vector<ht::Brick>{{{first, 0, 0}, {last - first, 100, 100}, {2, 0, 0}, {1, 0, 0}}};
    };
    for (const auto rank : {0, 1, ranks / 3, ranks - 1}) {
      const auto mine = bricks_of(rank);
      const auto structures = [&] {
        auto out = boxes_to_owners(mine, rank, layout);
        Boxes here(3);
        for (auto peer = std::max(0, rank - 1); peer <= std::min(ranks - 1, rank + 1); ++peer) {
          const auto theirs = boxes_to_owners(bricks_of(peer), peer, layout);
          for (std::size_t i = 0; i < theirs.count(); ++i)
            if (theirs.parcels().record(i)[0] == rank)
              here.add(rank, peer, 0, theirs.whole(i).first, theirs.whole(i).count);
        }
        check_disjoint("from_blocks", here, layout);
        auto of_block = pieces_of_block(here, layout, rank);
        return std::tuple(std::move(out), std::move(here), pieces_of_bricks(mine, layout), std::move(of_block));
      };
      CHECK(cost_of(structures).kept <= 2 << 10);
      CHECK(cost_of(structures).bytes <= 6 << 10);
    }
  }
}

TEST_CASE("bricks along three axes take 72 bytes for each one that meets a block", "[growth]") {
  for (const auto each : {10, 22, 46}) {  // 46 cubed are 97336 ranks
    const auto ranks = each * each * each;
    const std::int64_t edge = each * each;
    const ht::Layout layout({edge * each, edge, edge}, 0, ranks);  // blocks of one plane, bricks of each * each
    const auto brick_of = [&](int rank) {
      const std::int64_t x = rank / (each * each), y = rank / each % each, z = rank % each;
      return ht::Brick{{x * edge, y * each, z * each}, {edge, each, each}};
    };
    const auto rank = ranks / 3;
    const auto out = cost_of([&] { return boxes_to_owners({brick_of(rank)}, rank, layout); });
    const std::int64_t owners = each * each;
    CHECK(out.kept <= 2 * 72 * owners + 1024);  // a vector has room for twice as many
    const auto here = cost_of([&] {
      Boxes boxes(3);
      for (int peer = rank / (each * each) * each * each, n = 0; n < each * each; ++n, ++peer)
        boxes.add(rank, peer, 0, brick_of(peer).offset, brick_of(peer).shape);
      check_disjoint("from_blocks", boxes, layout);
      return boxes;
    });
    CHECK(here.kept <= 2 * 72 * owners + 1024);
    std::size_t pieces = 0;
    for (const auto& peer : pieces_of_bricks({brick_of(rank)}, layout)) pieces += peer.pieces.size();
    CHECK(pieces == static_cast<std::size_t>(owners));
  }
}
