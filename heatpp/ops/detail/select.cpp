#include <heatpp/ops/detail/select.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

namespace heatpp::detail {
namespace {

/// Numbers as unsigned keys in the same order, NaN last.
template <class T>
using Key = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;

template <class T>
Key<T> to_key(T value) {
  using K = Key<T>;
  constexpr K sign = K{1} << (8 * sizeof(K) - 1);
  if constexpr (std::is_floating_point_v<T>) {
    if (value != value) return ~K{0};
    const auto bits = std::bit_cast<K>(value + T{0});  // -0 becomes +0
    return bits & sign ? ~bits : bits | sign;
  } else {
    return static_cast<K>(value) ^ sign;
  }
}

template <class T>
T from_key(Key<T> key) {
  using K = Key<T>;
  constexpr K sign = K{1} << (8 * sizeof(K) - 1);
  if constexpr (std::is_floating_point_v<T>) {
    if (key == ~K{0}) return static_cast<T>(NAN);
    return std::bit_cast<T>(key & sign ? key ^ sign : ~key);
  } else {
    return static_cast<T>(key ^ sign);
  }
}

/// One order statistic on its way: the digits found so far, and its position among the elements that share them.
template <class K>
struct Target {
  K prefix = 0;
  std::int64_t position = 0;
  std::size_t group = 0;  ///< targets of a column with equal prefixes share a histogram
};

template <class T>
class ColumnSelector {
  using K = Key<T>;

 public:
  explicit ColumnSelector(std::span<const std::int64_t> positions) {
    for (const auto position : positions) targets_.push_back({0, position, 0});
  }

  /// Groups of targets with different prefixes; each needs a histogram.
  std::size_t number_groups() {
    std::size_t groups = 0;
    for (std::size_t i = 0; i < targets_.size(); ++i) {
      if (i > 0 && targets_[i].prefix != targets_[i - 1].prefix) ++groups;
      targets_[i].group = groups;
    }
    return targets_.empty() ? 0 : groups + 1;
  }

  /// Counts the digits at `shift` of the elements that fit a prefix, and keeps only those for the next digit.
  void count(std::span<const T> column, int shift, int bits, std::int64_t* histograms) {
    const auto mask = (K{1} << bits) - 1;
    if (shift + bits == static_cast<int>(8 * sizeof(K))) {  // the first digit: all elements, no prefix
      for (const auto value : column) ++histograms[to_key(value) >> shift];
      return;
    }
    const auto narrow = [&](K key, auto keep) {
      for (std::size_t i = 0; i < targets_.size(); ++i) {
        if (i > 0 && targets_[i].group == targets_[i - 1].group) continue;
        if (key >> (shift + bits) != targets_[i].prefix) continue;
        ++histograms[(targets_[i].group << bits) + static_cast<std::size_t>((key >> shift) & mask)];
        keep(key);
      }
    };
    if (!narrowed_) {
      for (const auto value : column) narrow(to_key(value), [&](K k) { candidates_.push_back(k); });
      narrowed_ = true;
      return;
    }
    std::size_t kept = 0;
    for (const auto key : candidates_) narrow(key, [&](K k) { candidates_[kept++] = k; });
    candidates_.resize(kept);
  }

  /// Picks the digit of every target from the histograms over all ranks.
  void choose(const std::int64_t* histograms, int bits) {
    for (auto& target : targets_) {
      const auto* histogram = histograms + (target.group << bits);
      K digit = 0;
      while (target.position >= histogram[digit]) target.position -= histogram[digit++];
      target.prefix = (target.prefix << bits) | digit;
    }
  }

  [[nodiscard]] T result(std::size_t target) const { return from_key<T>(targets_[target].prefix); }

 private:
  std::vector<Target<K>> targets_;
  std::vector<K> candidates_;  // elements that fit a prefix, once the first digit is known
  bool narrowed_ = false;
};

/// Bits of the digits, from the highest: wide ones need fewer passes and allreduces, of larger histograms.
template <class T>
std::vector<int> digits_for(std::int64_t columns) {
  const int count = columns <= 16 ? (sizeof(T) == 4 ? 3 : 6) : sizeof(T);  // 11 bits, or 8
  std::vector<int> digits(static_cast<std::size_t>(count), static_cast<int>(8 * sizeof(T)) / count);
  for (std::size_t i = 0; i < 8 * sizeof(T) % digits.size(); ++i) ++digits[i];
  return digits;
}

}  // namespace

template <class T>
std::vector<T> select_in_columns(const T* block, std::int64_t rows, std::int64_t columns,
                                 std::span<const std::int64_t> positions, const Communicator& comm) {
  std::vector<ColumnSelector<T>> selectors(static_cast<std::size_t>(columns), ColumnSelector<T>(positions));
  int shift = 8 * sizeof(T);
  for (const int bits : digits_for<T>(columns)) {
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
  for (std::size_t p = 0; p < positions.size(); ++p)
    for (const auto& selector : selectors) results.push_back(selector.result(p));
  return results;
}

template std::vector<float> select_in_columns(const float*, std::int64_t, std::int64_t, std::span<const std::int64_t>,
                                              const Communicator&);
template std::vector<double> select_in_columns(const double*, std::int64_t, std::int64_t, std::span<const std::int64_t>,
                                               const Communicator&);
template std::vector<std::int32_t> select_in_columns(const std::int32_t*, std::int64_t, std::int64_t,
                                                     std::span<const std::int64_t>, const Communicator&);
template std::vector<std::int64_t> select_in_columns(const std::int64_t*, std::int64_t, std::int64_t,
                                                     std::span<const std::int64_t>, const Communicator&);

}  // namespace heatpp::detail
