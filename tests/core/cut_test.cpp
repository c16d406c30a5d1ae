#include "../catch.hpp"

#include <heatpp/core/layout.hpp>

#include <numeric>

namespace ht = heatpp;
using ht::detail::Cut;

namespace {

using Numbers = std::vector<std::int64_t>;

Numbers firsts(const Cut& cut) {
  Numbers all;
  for (int rank = 0; rank <= cut.ranks(); ++rank) all.push_back(cut.first(rank));
  return all;
}

/// Whether every index is between the first and the last one of its owner, asked one by one and all at once.
bool owners_fit(const Cut& cut) {
  Numbers indices(static_cast<std::size_t>(cut.extent())), owners(indices.size());
  std::iota(indices.begin(), indices.end(), 0);
  cut.owners(indices, owners.data());
  return std::ranges::all_of(indices, [&](auto i) {
    const auto owner = cut.owner(i);
    return owner == owners[static_cast<std::size_t>(i)] && cut.first(owner) <= i && i < cut.last(owner);
  });
}

}  // namespace

TEST_CASE("a cut has the offsets that it was made of", "[core][cut]") {
  const auto offsets =
      GENERATE(Numbers{0, 3, 6, 8, 10}, Numbers{0, 2, 4, 6}, Numbers{0, 5}, Numbers{0, 0, 0}, Numbers{0, 1, 2, 2, 2},
               Numbers{0, 0, 2, 2, 5}, Numbers{0, 7, 7, 7}, Numbers{0, 0, 0, 7}, Numbers{0, 6, 12, 16, 20},
               Numbers{0, 2, 5, 8}, Numbers{0, 3, 5, 8, 10}, Numbers{0, 4, 8, 9, 10, 12});

  const auto cut = Cut::at(offsets);

  CHECK(cut.ranks() == std::ssize(offsets) - 1);
  CHECK(cut.extent() == offsets.back());
  CHECK(firsts(cut) == offsets);
  CHECK(cut.offsets() == offsets);
  for (int rank = 0; rank < cut.ranks(); ++rank) {
    CHECK(cut.last(rank) == cut.first(rank + 1));
    CHECK(cut.extent(rank) == cut.last(rank) - cut.first(rank));
  }
  CHECK(owners_fit(cut));
  CHECK(cut.is_even() == (cut == Cut::even(offsets.back(), cut.ranks())));
}

TEST_CASE("even cuts give the first ranks one index more", "[core][cut]") {
  CHECK(firsts(Cut::even(10, 4)) == Numbers{0, 3, 6, 8, 10});
  CHECK(firsts(Cut::even(2, 4)) == Numbers{0, 1, 2, 2, 2});
  CHECK(firsts(Cut::even(0, 3)) == Numbers{0, 0, 0, 0});
  CHECK(Cut::even(10, 4).is_even());
}

TEST_CASE("a rule and the offsets that it gives are the same cut", "[core][cut]") {
  const auto extent = GENERATE(range(std::int64_t{0}, std::int64_t{9}));
  for (int ranks = 1; ranks <= 40; ++ranks) {
    const auto even = Cut::even(extent, ranks);
    CHECK(Cut::at(even.offsets()) == even);
    CHECK(Cut::at(even.offsets()).is_even());
    CHECK_FALSE(even == Cut::even(extent, ranks + 1));
    CHECK_FALSE(even == Cut::even(extent + 1, ranks));
    CHECK(owners_fit(even));
  }
}

TEST_CASE("cuts at other offsets are equal if these are", "[core][cut]") {
  const auto cut = Cut::at({0, 2, 5, 8}), copy = cut;

  CHECK(cut == copy);
  CHECK(cut == Cut::at({0, 2, 5, 8}));
  CHECK_FALSE(cut == Cut::at({0, 2, 4, 8}));
  CHECK_FALSE(cut == Cut::even(8, 3));
  CHECK_FALSE(Cut::at({0, 0, 3}) == Cut::at({0, 0, 0, 3}));
  CHECK_FALSE(cut.is_rule());
}

TEST_CASE("multiples of even cuts are rules", "[core][cut]") {
  const auto factor = GENERATE(0, 1, 2, 7);
  for (const auto& cut : {Cut::even(10, 4), Cut::even(8, 4), Cut::even(2, 4), Cut::at({0, 2, 5, 8})}) {
    auto wanted = cut.offsets();
    for (auto& offset : wanted) offset *= factor;

    const auto scaled = cut.scaled(factor);

    CHECK(firsts(scaled) == wanted);
    CHECK(scaled == Cut::at(wanted));
    CHECK(scaled.is_rule() == (cut.is_rule() || factor == 0));
    CHECK(owners_fit(scaled));
  }
  CHECK_FALSE(Cut::even(10, 4).scaled(2).is_even());
  CHECK(Cut::even(8, 4).scaled(2) == Cut::even(16, 4));
}

TEST_CASE("many ranks search their owners", "[core][cut]") {
  Numbers offsets{0};
  for (std::int64_t rank = 0; rank < 100; ++rank) offsets.push_back(offsets.back() + rank % 3);

  CHECK(owners_fit(Cut::at(offsets)));
  CHECK(owners_fit(Cut::even(1000, 100)));
  CHECK(owners_fit(Cut::even(77, 100)));
}

TEST_CASE("an even layout over very many ranks needs no memory for them", "[core][cut]") {
  constexpr int ranks = 2'147'483'646;  // their offsets would need 17 GB
  constexpr auto extent = std::int64_t{1} << 45;
  const ht::Layout layout({extent, 3}, 0, ranks);

  CHECK(layout.cut().is_rule());
  CHECK(layout.is_balanced());
  CHECK(layout == ht::Layout({extent, 3}, 0, ranks));
  CHECK(layout.with({extent}, 0).offset(ranks) == extent);
  CHECK(layout.owner(extent - 1) == ranks - 1);
  for (const int rank : {0, 1, 1'000'000, ranks - 1}) {
    CHECK(layout.owner(layout.offset(rank)) == rank);
    CHECK(layout.owner(layout.offset(rank + 1) - 1) == rank);
  }
  CHECK(layout.cut().scaled(3).owner(3 * extent - 1) == ranks - 1);
}

TEST_CASE("copies of an uneven layout share its offsets", "[core][cut]") {
  Numbers offsets(1'000'001);
  for (std::size_t rank = 1; rank < offsets.size(); ++rank)
    offsets[rank] = offsets[rank - 1] + static_cast<std::int64_t>(rank % 2);
  const auto n = offsets.back();
  const ht::Layout layout({n, 2}, 0, offsets);
  // Without shared offsets these would need 8 GB.
  const std::vector<ht::Layout> copies(1000, layout.with({4, n}, 1));

  CHECK_FALSE(layout.is_balanced());
  CHECK(std::ranges::all_of(copies, [&](const auto& copy) { return copy.cut() == layout.cut(); }));
}
