#include <heatpp/ops/sorting/detail/digits.hpp>
#include <heatpp/ops/sorting/detail/keys.hpp>

#include <algorithm>
#include <array>

namespace heatpp::detail {
namespace {

constexpr std::size_t block_size = 1024;  // keys that are treated together, in the first-level cache

template <class T, class F>
void for_each_block(std::span<const T> values, F f) {
  for (std::size_t at = 0; at < values.size(); at += block_size)
    f(values.subspan(at, std::min(block_size, values.size() - at)));
}

/// Calls f(keys) for the keys of the values, block by block; many become keys at a time.
template <class T, class F>
void for_each_key_block(std::span<const T> values, F f) {
  std::array<KeyOf<T>, block_size> keys;
  for_each_block(values, [&](std::span<const T> block) {
    std::ranges::transform(block, keys.begin(), [](T value) { return Keys<T>::of(value); });
    f(std::span<const KeyOf<T>>(keys.data(), block.size()));
  });
}

/// Counts the leading digits of all keys. It alternates between two tables, because equal digits in a row would wait
/// for each other.
template <class T>
void count_leading(std::span<const T> column, int shift, std::span<std::int64_t> histogram) {
  std::vector<std::int64_t> odd(histogram.size());
  for_each_key_block(column, [&](auto keys) {
    std::size_t i = 0;
    for (; i + 1 < keys.size(); i += 2) {
      ++histogram[keys[i] >> shift];
      ++odd[keys[i + 1] >> shift];
    }
    if (i < keys.size()) ++histogram[keys[i] >> shift];
  });
  for (std::size_t d = 0; d < odd.size(); ++d) histogram[d] += odd[d];
}

/// The search for one order statistic: the digits found so far, and its position among the elements that share them.
template <class K>
struct Target {
  K prefix = 0;
  std::int64_t position = 0;
  std::size_t group = 0, parent = 0;
};

/// Finds the order statistics of one column. Targets whose digits agree so far form a group, which shares a histogram
/// and the list of elements that still fit.
template <class T>
class ColumnSelector {
  using K = KeyOf<T>;

 public:
  explicit ColumnSelector(std::span<const std::int64_t> positions) {
    for (const auto position : positions) targets_.push_back({0, position, 0});
  }

  [[nodiscard]] std::size_t number_groups() const { return targets_.empty() ? 0 : targets_.back().group + 1; }

  /// Counts the digits at `shift` of the elements that fit a group, and keeps only those for the next digit.
  void count(std::span<const T> column, int shift, int bits, std::int64_t* histograms) {
    if (last_bits_ == 0) return count_leading(column, shift, {histograms, std::size_t{1} << bits});
    const K mask = (K{1} << bits) - 1;
    std::vector<std::vector<K>> candidates(number_groups());
    for (std::size_t parent = 0; parent < parents_; ++parent) {
      const auto children = children_of(parent);
      const auto sift = [&](std::span<const K> keys) {
        std::array<K, block_size> fitting;
        for (const auto key : fit(keys, children, shift + bits, fitting)) {
          const auto group = child(children, key, shift + bits);
          ++histograms[(std::size_t{group} << bits) + static_cast<std::size_t>((key >> shift) & mask)];
          candidates[group].push_back(key);
        }
      };
      if (candidates_.empty()) for_each_key_block(column, sift);
      else for_each_block(std::span<const K>(candidates_[parent]), sift);
    }
    candidates_ = std::move(candidates);
  }

  /// Chooses the digit of every target from the histograms over all ranks, and groups the targets again.
  void choose(const std::int64_t* histograms, int bits) {
    parents_ = number_groups();
    last_bits_ = bits;
    for (auto& target : targets_) {
      const auto* histogram = histograms + (target.group << bits);
      K digit = 0;
      while (target.position >= histogram[digit]) target.position -= histogram[digit++];
      target.prefix = (target.prefix << bits) | digit;
      target.parent = target.group;
    }
    for (std::size_t i = 0; i < targets_.size(); ++i)
      targets_[i].group = i == 0 ? 0 : targets_[i - 1].group + (targets_[i].prefix != targets_[i - 1].prefix);
  }

  [[nodiscard]] T result(std::size_t target) const { return Keys<T>::element(targets_[target].prefix); }

 private:
  static constexpr std::uint32_t none = ~std::uint32_t{0};

  /// Returns the group for a last digit from group `parent`, or none.
  [[nodiscard]] std::vector<std::uint32_t> children_of(std::size_t parent) const {
    std::vector<std::uint32_t> children(std::size_t{1} << last_bits_, none);
    for (const auto& target : targets_)
      if (target.parent == parent)
        children[target.prefix & (children.size() - 1)] = static_cast<std::uint32_t>(target.group);
    return children;
  }

  [[nodiscard]] static std::uint32_t child(const std::vector<std::uint32_t>& children, K key, int last_shift) {
    return children[(key >> last_shift) & (children.size() - 1)];
  }

  /// Gathers the keys of a group without a branch, which would be mispredicted.
  static std::span<const K> fit(std::span<const K> keys, const std::vector<std::uint32_t>& children, int last_shift,
                                std::span<K> fitting) {
    std::size_t n = 0;
    for (const auto key : keys) {
      fitting[n] = key;
      n += child(children, key, last_shift) != none;
    }
    return fitting.first(n);
  }

  std::vector<Target<K>> targets_;          // in rising order
  std::vector<std::vector<K>> candidates_;  // of each parent; empty while all elements are candidates
  std::size_t parents_ = 0;                 // groups before the last digit
  int last_bits_ = 0;                       // bits of the last digit
};

/// Returns the bits of the digits, from the highest. Wide digits need fewer passes and allreduces, but larger
/// histograms, which few elements would hardly fill.
template <class T>
std::vector<int> digits_for(std::int64_t columns, std::int64_t length) {
  const bool wide = columns <= 16 && length > 2048;
  const int count = static_cast<int>(wide ? (8 * sizeof(T) + 10) / 11 : sizeof(T));  // 11 bits at most, or 8
  std::vector<int> digits(static_cast<std::size_t>(count), static_cast<int>(8 * sizeof(T)) / count);
  for (std::size_t i = 0; i < 8 * sizeof(T) % digits.size(); ++i) ++digits[i];
  return digits;
}

}  // namespace

template <class T>
std::vector<T> select_by_digits(const T* block, std::int64_t rows, std::int64_t columns,
                                std::span<const std::int64_t> positions, const Communicator& comm) {
  std::vector<ColumnSelector<T>> selectors;
  const auto each = columns > 0 ? positions.size() / static_cast<std::size_t>(columns) : 0;
  for (std::size_t c = 0; c < static_cast<std::size_t>(columns); ++c)
    selectors.emplace_back(positions.subspan(c * each, each));
  int shift = 8 * sizeof(T);
  const auto last = positions.empty() ? 0 : std::ranges::max(positions);
  for (const int bits : digits_for<T>(columns, last)) {
    shift -= bits;
    std::vector<std::size_t> first(selectors.size() + 1, 0);  // where each column's histograms begin
    for (std::size_t c = 0; c < selectors.size(); ++c) first[c + 1] = first[c] + (selectors[c].number_groups() << bits);
    std::vector<std::int64_t> histograms(first.back());
    for (std::size_t c = 0; c < selectors.size(); ++c)
      selectors[c].count({block + static_cast<std::int64_t>(c) * rows, static_cast<std::size_t>(rows)}, shift, bits,
                         histograms.data() + first[c]);
    comm.allreduce(histograms);
    for (std::size_t c = 0; c < selectors.size(); ++c) selectors[c].choose(histograms.data() + first[c], bits);
  }
  std::vector<T> results;
  for (const auto& selector : selectors)
    for (std::size_t p = 0; p < each; ++p) results.push_back(selector.result(p));
  return results;
}

#define HEATPP_INSTANTIATE(T, name)                                                                             \
  template std::vector<T> select_by_digits(const T*, std::int64_t, std::int64_t, std::span<const std::int64_t>, \
                                           const Communicator&);
AT_FORALL_SCALAR_TYPES(HEATPP_INSTANTIATE)
#undef HEATPP_INSTANTIATE

}  // namespace heatpp::detail
