#include <heatpp/ops/sorting/detail/splitters.hpp>

#include <heatpp/ops/sorting/detail/runs.hpp>

#include <algorithm>
#include <cmath>

namespace heatpp::detail {
namespace {

constexpr std::int64_t least_samples = 128;
constexpr std::int64_t few_keys = 3;       // around a position: to look at them costs less than to count once more
constexpr std::int64_t few_bytes = 1024;   // of keys around all positions
constexpr std::int64_t few_numbers = 128;  // to sum in a round, which takes as long with fewer
constexpr double deviations = 2;           // of a position, if keys are spread evenly, to both sides

template <class K>
std::int64_t count_below(std::span<const K> keys, K key) {
  return std::ranges::lower_bound(keys, key) - keys.begin();
}

/// Returns low + offset, which is rounded to a key above `low` up to `high`.
template <class K>
K key_at(K low, K high, double offset) {
  const auto range = static_cast<K>(high - low);
  if (!(offset >= 1)) return static_cast<K>(low + 1);
  return offset >= static_cast<double>(range) ? high : static_cast<K>(low + static_cast<K>(offset));
}

/// Returns `number` keys to count, rising. Two of them very likely enclose the key at the position, if keys are spread
/// evenly; after such an interpolation failed, they are the middle of the range and its end, where many keys may be
/// equal. The others divide the range.
template <class K>
std::vector<K> candidates(const Splitter<K>& splitter, std::int64_t position, std::int64_t number) {
  const auto [low, high] = std::pair(splitter.low, splitter.high);
  const auto range = static_cast<double>(static_cast<K>(high - low));
  const auto count = static_cast<double>(splitter.through - splitter.below);
  const auto wanted = static_cast<double>(position - splitter.below) + 0.5;
  const auto margin = std::min(count / 6, deviations * std::sqrt(wanted * (1 - wanted / count)) + 1);
  std::vector<K> keys;
  if (splitter.bisections > 0)
    keys = {splitter.near_low ? static_cast<K>(low + 1) : high, key_at(low, high, std::ceil(range / 2))};
  else
    for (const auto place : {wanted - margin, wanted + margin})
      keys.push_back(key_at(low, high, place / count * (range + 1)));
  for (auto more = number - 2, i = std::int64_t{1}; i <= more; ++i)
    keys.push_back(key_at(low, high, range * static_cast<double>(i) / static_cast<double>(more + 1)));
  std::ranges::sort(keys);
  return keys;
}

/// Narrows the range by the numbers of its keys below the candidates, on this and on all ranks.
template <class K>
void narrow(Splitter<K>& splitter, std::int64_t position, std::span<const K> keys, std::span<const std::int64_t> here,
            std::span<const std::int64_t> all) {
  const auto before = splitter.through - splitter.below;
  const auto above = static_cast<std::size_t>(std::ranges::upper_bound(all, position - splitter.below) - all.begin());
  if (above < keys.size()) {
    splitter.high = static_cast<K>(keys[above] - 1);
    splitter.through = splitter.below + all[above];
    splitter.last = splitter.first + here[above];
  }
  if (above > 0) {
    splitter.low = keys[above - 1];
    splitter.below += all[above - 1];
    splitter.first += here[above - 1];
  }
  if (above == 0 || above == keys.size()) splitter.near_low = above == 0;
  if (splitter.bisections > 0) --splitter.bisections;
  else if (2 * (splitter.through - splitter.below) > before) splitter.bisections = ++splitter.misses;
}

template <class K>
class Search {
 public:
  Search(const Runs<K>& runs, const SpreadKeys& spread, std::span<const std::int64_t> positions, std::int64_t slack,
         SplitterMessages<K>& messages)
      : runs_(runs),
        spread_(spread),
        positions_(positions),
        slack_(slack),
        messages_(messages),
        splitters_(static_cast<std::size_t>(runs.columns) * positions.size()) {}

  std::vector<Splitter<K>> run() && {
    if (splitters_.empty()) return {};
    begin(samples());
    while (true) {
      std::int64_t rest = 0;  // keys around all positions
      std::vector<std::size_t> open, wide;
      for (std::size_t s = 0; s < splitters_.size(); ++s) {
        auto& splitter = splitters_[s];
        if (!splitter.is_found() && position(s) - splitter.below <= slack_) settle(splitter);
        if (splitter.is_found()) continue;
        const auto count = splitter.through - splitter.below;
        rest += count;
        open.push_back(s);
        if (count > few_keys) wide.push_back(s);
      }
      const auto most = std::max(few_keys * std::ssize(splitters_), few_bytes / std::int64_t{sizeof(K)});
      if (open.empty()) break;
      if (wide.empty() || rest <= most) {
        look_at_rest(open);
        break;
      }
      narrow_all(wide);
    }
    return std::move(splitters_);
  }

 private:
  [[nodiscard]] std::span<const K> run_of(std::size_t s) const {
    return runs_.column(static_cast<std::int64_t>(s / positions_.size()));
  }
  [[nodiscard]] std::span<const K> keys_of(std::size_t s) const {
    const auto& splitter = splitters_[s];
    return run_of(s).subspan(static_cast<std::size_t>(splitter.first),
                             static_cast<std::size_t>(splitter.last - splitter.first));
  }
  [[nodiscard]] std::int64_t position(std::size_t s) const { return positions_[s % positions_.size()]; }

  /// Cuts before `low`, so that no keys need be shared out.
  static void settle(Splitter<K>& splitter) {
    splitter.last = splitter.first;
    splitter.through = splitter.below;
  }

  /// Returns the samples of each column, sorted.
  std::vector<K> samples() {
    const auto n = spread_.samples();
    std::vector<K> all(static_cast<std::size_t>(runs_.columns * n));
    auto i = static_cast<std::int64_t>(static_cast<Key128>(spread_.before) * static_cast<Key128>(n) /
                                       static_cast<Key128>(spread_.total));
    for (; i < n; ++i) {
      const auto place = spread_.place_of_sample(i) - spread_.before;
      if (place >= runs_.rows) break;
      for (std::int64_t c = 0; c < runs_.columns && place >= 0; ++c)
        all[static_cast<std::size_t>(c * n + i)] = runs_.column(c)[static_cast<std::size_t>(place)];
    }
    messages_.join(all);
    for (std::int64_t c = 0; c < runs_.columns; ++c) sort_keys(all.data() + c * n, n);
    return all;
  }

  /// Begins with ranges between samples.
  void begin(const std::vector<K>& all) {
    const auto n = static_cast<std::size_t>(spread_.samples());
    std::vector<std::int64_t> here(all.size()), below;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const auto run = runs_.column(static_cast<std::int64_t>(i / n));
      const auto before = i % n == 0 ? 0 : here[i - 1];  // the samples rise
      here[i] = before + count_below(run.subspan(static_cast<std::size_t>(before)), all[i]);
    }
    below = here;
    messages_.sum(below, spread_.total);
    for (std::size_t s = 0; s < splitters_.size(); ++s) {
      const auto column = s / positions_.size() * n;
      const auto counts = std::span(below).subspan(column, n);
      const auto next = static_cast<std::size_t>(std::ranges::upper_bound(counts, position(s)) - counts.begin());
      auto& splitter = splitters_[s];
      splitter.high = next < n ? static_cast<K>(all[column + next] - 1) : static_cast<K>(~K{0});
      splitter.through = next < n ? counts[next] : spread_.total;
      splitter.last = next < n ? here[column + next] : runs_.rows;
      if (next == 0) continue;
      splitter.low = all[column + next - 1];
      splitter.below = counts[next - 1];
      splitter.first = here[column + next - 1];
      if (spread_.samples() == spread_.total) splitter.high = splitter.low;
      // A key that is more than one sample may be most keys of the range.
      if (next > 1 && all[column + next - 2] == splitter.low) splitter.bisections = 1;
    }
  }

  void narrow_all(const std::vector<std::size_t>& wide) {
    const auto each = std::clamp<std::int64_t>(few_numbers / std::ssize(wide), 2, 16);  // candidates of a splitter
    std::vector<K> keys;
    std::vector<std::int64_t> here, all;
    std::int64_t most = 0;
    for (const auto s : wide) {
      most = std::max(most, splitters_[s].through - splitters_[s].below);
      for (const auto key : candidates(splitters_[s], position(s), each)) {
        keys.push_back(key);
        here.push_back(count_below(keys_of(s), key));
      }
    }
    all = here;
    messages_.sum(all, most);
    const auto n = static_cast<std::size_t>(each);
    for (std::size_t i = 0; i < wide.size(); ++i)
      narrow<K>(splitters_[wide[i]], position(wide[i]), std::span(keys).subspan(i * n, n),
                std::span(here).subspan(i * n, n), std::span(all).subspan(i * n, n));
  }

  /// Keys of some ranges of a column, each once though ranges may overlap.
  struct Rest {
    std::size_t first, size;  // among those of all columns
    std::vector<std::span<const K>> here;
  };

  [[nodiscard]] Rest rest_of(std::vector<std::size_t> ranges, std::size_t first) const {
    std::ranges::sort(ranges, {}, [&](std::size_t s) { return splitters_[s].below; });
    Rest rest{first, 0, {}};
    std::int64_t through = 0, last = 0;
    for (const auto s : ranges) {
      const auto& splitter = splitters_[s];
      if (splitter.through <= through) continue;
      rest.size += static_cast<std::size_t>(splitter.through - std::max(through, splitter.below));
      const auto begin = static_cast<std::size_t>(std::max(last, splitter.first));
      through = splitter.through;
      last = splitter.last;
      rest.here.push_back(run_of(s).subspan(begin, static_cast<std::size_t>(last) - begin));
    }
    return rest;
  }

  /// Finds the keys among all that remain.
  void look_at_rest(const std::vector<std::size_t>& open) {
    std::vector<std::vector<std::size_t>> of_columns(static_cast<std::size_t>(runs_.columns));
    for (const auto s : open) of_columns[s / positions_.size()].push_back(s);
    std::vector<Rest> rests;
    std::vector<std::int64_t> before;
    std::size_t size = 0;
    for (const auto& ranges : of_columns) {
      const auto& rest = rests.emplace_back(rest_of(ranges, size));
      size += rest.size;
      auto& count = before.emplace_back(0);
      for (const auto keys : rest.here) count += std::ssize(keys);
    }
    messages_.sum_before(before, static_cast<std::int64_t>(size));
    std::vector<K> all(size);
    for (std::size_t c = 0; c < rests.size(); ++c) {
      auto to = all.begin() + static_cast<std::ptrdiff_t>(rests[c].first) + before[c];
      for (const auto keys : rests[c].here) to = std::ranges::copy(keys, to).out;
    }
    messages_.join(all);
    for (std::size_t c = 0; c < rests.size(); ++c) {
      const auto keys = std::span(all).subspan(rests[c].first, rests[c].size);
      sort_keys(keys.data(), std::ssize(keys));
      for (const auto s : of_columns[c]) find_among<K>(s, keys);
    }
  }

  template <class Key>
  void find_among(std::size_t s, std::span<const Key> keys) {
    auto& splitter = splitters_[s];
    const auto first = count_below(keys, splitter.low);
    const auto key = keys[static_cast<std::size_t>(first + position(s) - splitter.below)];
    const auto [equal, end] = std::ranges::equal_range(keys, key);
    splitter.below += equal - keys.begin() - first;
    splitter.through = splitter.below + (end - equal);
    const auto here = std::ranges::equal_range(run_of(s), key);
    splitter.first = here.begin() - run_of(s).begin();
    splitter.last = here.end() - run_of(s).begin();
    splitter.low = splitter.high = key;
  }

  Runs<K> runs_;
  SpreadKeys spread_;
  std::span<const std::int64_t> positions_;
  std::int64_t slack_;
  SplitterMessages<K>& messages_;
  std::vector<Splitter<K>> splitters_;
};

}  // namespace

std::int64_t SpreadKeys::samples() const {
  return std::min<std::int64_t>(total, std::max<std::int64_t>(ranks, least_samples));
}

std::int64_t SpreadKeys::place_of_sample(std::int64_t i) const {
  constexpr std::uint32_t golden = 2654435769U;  // of 2^32
  const auto at = static_cast<Key128>(i) << 32 | static_cast<std::uint32_t>(static_cast<std::uint32_t>(i) * golden);
  return static_cast<std::int64_t>((at * static_cast<Key128>(total) / static_cast<Key128>(samples())) >> 32);
}

template <class K>
std::vector<Splitter<K>> find_splitters(const Runs<K>& runs, const SpreadKeys& spread,
                                        std::span<const std::int64_t> positions, std::int64_t slack,
                                        SplitterMessages<K>& messages) {
  return Search<K>(runs, spread, positions, slack, messages).run();
}

template <class K>
std::vector<std::int64_t> cuts_of(std::span<const Splitter<K>> splitters, std::span<const std::int64_t> positions,
                                  SplitterMessages<K>& messages) {
  // Only keys that others may also hold are counted, and each once.
  std::vector<std::int64_t> equal, cuts;
  std::vector<std::size_t> counted;
  std::int64_t most = 0;
  for (std::size_t s = 0; s < splitters.size(); ++s) {
    const auto& splitter = splitters[s];
    if (splitter.through - splitter.below > 1) {
      const bool again = s % positions.size() > 0 && !equal.empty() && splitters[s - 1].below == splitter.below &&
                         splitters[s - 1].through == splitter.through;
      if (!again) equal.push_back(splitter.last - splitter.first);
      most = std::max(most, splitter.through - splitter.below);
    }
    counted.push_back(equal.size());
  }
  messages.sum_before(equal, most);
  for (std::size_t s = 0; s < splitters.size(); ++s) {
    const auto& splitter = splitters[s];
    const bool shared = splitter.through - splitter.below > 1;
    const auto before = shared ? equal[counted[s] - 1] : 0;
    const auto wanted = splitter.first + positions[s % positions.size()] - splitter.below - before;
    cuts.push_back(std::clamp(wanted, splitter.first, splitter.last));
  }
  return cuts;
}

#define HEATPP_INSTANTIATE(K)                                                                                        \
  template std::vector<Splitter<K>> find_splitters(const Runs<K>&, const SpreadKeys&, std::span<const std::int64_t>, \
                                                   std::int64_t, SplitterMessages<K>&);                              \
  template std::vector<std::int64_t> cuts_of(std::span<const Splitter<K>>, std::span<const std::int64_t>,            \
                                             SplitterMessages<K>&);
HEATPP_FORALL_KEYS(HEATPP_INSTANTIATE)
#undef HEATPP_INSTANTIATE

}  // namespace heatpp::detail
