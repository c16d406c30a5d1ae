// Tests what one rank of many sends and holds to cut a sorted array. The real search runs for any number of ranks in
// one process, which holds the keys of all ranks. It computes sums over the ranks itself, and takes samples from the
// runs that the ranks would have.
#include "../../catch.hpp"

#include <heatpp/ops/sorting/detail/collective_messages.hpp>
#include <heatpp/ops/sorting/detail/runs.hpp>

#include <bit>
#include <cmath>
#include <functional>
#include <random>
#include <string>

using namespace heatpp::detail;

namespace {

/// Counts what a rank hands to collectives, and how much of it travels: twice in a sum, log2 P times in a prefix sum.
template <class K>
class Counted : public SplitterMessages<K> {
 public:
  Counted(const std::vector<K>& runs, const SpreadKeys& spread) : runs_(runs), spread_(spread) {}
  std::int64_t calls = 0, bytes = 0, sent = 0;

  void sum(std::span<std::int64_t> values, std::int64_t most) override { count(bytes_of(values, most), 2); }
  void sum_before(std::span<std::int64_t> values, std::int64_t most) override {
    if (!values.empty()) count(bytes_of(values, most), std::bit_width(static_cast<unsigned>(spread_.ranks - 1)));
    std::ranges::fill(values, 0);
  }
  void join(std::span<K> keys) override {
    for (std::size_t i = 0; i < keys.size() && calls == 0; ++i)
      keys[i] = runs_[static_cast<std::size_t>(spread_.place_of_sample(static_cast<std::int64_t>(i)))];
    count(std::ssize(keys) * std::int64_t{sizeof(K)}, 2);
  }

 private:
  static std::int64_t bytes_of(std::span<std::int64_t> values, std::int64_t most) {
    return std::ssize(values) * with_count_type(most, []<class T>() { return std::int64_t{sizeof(T)}; });
  }
  void count(std::int64_t more, std::int64_t times) {
    ++calls;
    bytes += more;
    sent += more * times;
  }
  const std::vector<K>& runs_;
  SpreadKeys spread_;
};

/// What the search costs for each splitter, in bytes, and how many collectives it takes.
struct Cost {
  double bytes, sent;
  std::int64_t calls;
};

/// Cuts keys of that many ranks, `each` a rank, into equal parts, and checks every cut.
template <class K>
Cost cost_of(int ranks, std::int64_t each, const std::function<K(std::int64_t)>& key) {
  const SpreadKeys spread{ranks, 0, ranks * each};
  std::vector<K> runs;
  for (std::int64_t i = 0; i < spread.total; ++i) runs.push_back(key(i));
  auto whole = runs;
  sort_keys(whole.data(), spread.total);
  for (int r = 0; r < ranks; ++r) sort_keys(runs.data() + r * each, each);
  std::vector<std::int64_t> positions;
  for (int r = 1; r < ranks; ++r) positions.push_back(r * each);

  Counted<K> messages(runs, spread);
  const auto splitters = find_splitters<K>({whole.data(), 1, spread.total}, spread, positions, 0, messages);
  CHECK(cuts_of<K>(splitters, positions, messages) == positions);
  bool found = true;
  for (std::size_t s = 0; s < splitters.size(); ++s) {
    const auto range = std::ranges::equal_range(whole, whole[static_cast<std::size_t>(positions[s])]);
    found = found && (splitters[s].below == positions[s] || (splitters[s].below == range.begin() - whole.begin() &&
                                                             splitters[s].through == range.end() - whole.begin()));
  }
  CHECK(found);
  const auto number = static_cast<double>(positions.size());
  return {static_cast<double>(messages.bytes) / number, static_cast<double>(messages.sent) / number, messages.calls};
}

/// Maps consecutive numbers to unrelated ones (Steele et al.: SplitMix).
std::uint64_t hash(std::int64_t i) {
  auto x = static_cast<std::uint64_t>(i) * 0x9E3779B97F4A7C15U + 0x9E3779B97F4A7C15U;
  x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9U;
  x = (x ^ x >> 27) * 0x94D049BB133111EBU;
  return x ^ x >> 31;
}
double uniform(std::int64_t i) { return static_cast<double>(hash(i) >> 11) * 0x1p-53; }
double normal(std::int64_t i) {
  return std::sqrt(-2 * std::log(1 - uniform(2 * i))) * std::cos(6.283185307179586 * uniform(2 * i + 1));
}

struct Case {
  std::string name;
  std::function<double(std::int64_t, std::int64_t)> value;  // of key i of n
};
const std::vector<Case> cases{
    {"uniform", [](auto i, auto) { return uniform(i); }},
    {"normal", [](auto i, auto) { return normal(i); }},
    {"of all sizes", [](auto i, auto) { return std::exp(40 * normal(i)); }},
    {"in order", [](auto i, auto n) { return static_cast<double>(i) / static_cast<double>(n); }},
    {"in decreasing order", [](auto i, auto n) { return static_cast<double>(n - i) / static_cast<double>(n); }},
    {"two decimals", [](auto i, auto) { return std::round(100 * normal(i)) / 100; }},
    {"five decimals", [](auto i, auto) { return std::round(1e5 * normal(i)) / 1e5; }},
    {"clusters", [](auto i, auto) { return std::floor(1000 * uniform(2 * i)) + 1e-9 * uniform(2 * i + 1); }},
    {"few values", [](auto i, auto) { return static_cast<double>(hash(i) % 5); }},
    {"mostly one", [](auto i, auto) { return uniform(2 * i) < 0.9 ? 0.5 : uniform(2 * i + 1); }},
    {"equal", [](auto, auto) { return 1.0; }},
};

}  // namespace

TEST_CASE("splitters take a few bytes and collectives, and cut exactly, for any number of ranks and any keys",
          "[ops][growth]") {
  // A search digit by digit would sum 960 bytes for each splitter of 32-bit keys.
  for (const auto& [name, value] : cases)
    for (const auto& [ranks, each] :
         std::vector<std::pair<int, std::int64_t>>{{4, 20000}, {1000, 1000}, {10000, 100}, {65536, 20}, {100000, 20}}) {
      const auto n = ranks * each;
      const auto narrow = cost_of<std::uint32_t>(
          ranks, each, [&](std::int64_t i) { return Keys<float>::of(static_cast<float>(value(i, n))); });
      const auto wide =
          cost_of<std::uint64_t>(ranks, each, [&](std::int64_t i) { return Keys<double>::of(value(i, n)); });
      INFO(name << " on " << ranks << " ranks: " << narrow.bytes << " and " << wide.bytes << " bytes, " << narrow.calls
                << " and " << wide.calls << " collectives");
      CHECK(narrow.calls <= 32);
      CHECK(wide.calls <= 64);
      if (ranks < 1000) continue;
      CHECK(narrow.bytes <= 960.0 / 12);
      CHECK(narrow.sent <= 2 * 960.0 / 12);
      CHECK(wide.bytes <= 1920.0 / 10);
      CHECK(wide.sent <= 2 * 1920.0 / 10);
    }
}

TEST_CASE("fewer keys than ranks, and none on some", "[ops][growth]") {
  for (const std::int64_t n : {1, 2, 100, 999}) {
    std::vector<std::uint32_t> keys;
    for (std::int64_t i = 0; i < n; ++i) keys.push_back(static_cast<std::uint32_t>(hash(i) % 50));
    std::ranges::sort(keys);
    const SpreadKeys spread{1000, 0, n};
    std::vector<std::int64_t> positions;
    for (int r = 1; r < 1000; ++r) positions.push_back(n * r / 1000);
    Counted<std::uint32_t> messages(keys, spread);
    const auto splitters = find_splitters<std::uint32_t>({keys.data(), 1, n}, spread, positions, 0, messages);
    CHECK(cuts_of<std::uint32_t>(splitters, positions, messages) == positions);
  }
}
