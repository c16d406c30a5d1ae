#include <heatpp/ml/cluster/detail/medians.hpp>

#include <bit>
#include <limits>

namespace heatpp::ml::detail {
namespace {

/// Whole numbers in the order of floating numbers; negative zero counts as positive zero.
template <class T>
using Key = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
template <class T>
Key<T> key_of(T x) {
  constexpr auto sign = Key<T>{1} << (8 * sizeof(T) - 1);
  const auto bits = std::bit_cast<Key<T>>(x + T{0});
  return (bits & sign) != 0 ? ~bits : bits | sign;
}
template <class T>
T number_of(Key<T> key) {
  constexpr auto sign = Key<T>{1} << (8 * sizeof(T) - 1);
  return std::bit_cast<T>((key & sign) != 0 ? key & ~sign : ~key);
}

int bits_at_once(std::int64_t columns) {
  int bits = 8;
  while (bits > 1 && (columns << bits) > 65536) bits /= 2;
  return bits;
}

/// The search for the medians of all columns of all clusters, among numbers of type T.
template <class T>
class MedianSearch {
 public:
  MedianSearch(const Weighted& data, const std::vector<std::int32_t>& labels, const at::Tensor& otherwise)
      : data_(data),
        labels_(labels),
        medians_(otherwise.clone()),
        columns_(static_cast<std::size_t>(otherwise.numel())),
        bits_(bits_at_once(otherwise.numel())),
        prefixes_(columns_, 0),
        before_(columns_, 0),
        halves_(columns_, 0) {}

  [[nodiscard]] at::Tensor operator()() {
    constexpr int all = 8 * sizeof(T);
    for (int shift = all - bits_; shift >= 0; shift -= bits_) narrow(shift, counts(shift), shift + bits_ == all);
    auto* to = medians_.template data_ptr<double>();
    for (std::size_t c = 0; c < columns_; ++c)
      if (halves_[c] > 0) to[c] = static_cast<double>(number_of<T>(prefixes_[c]));
    add_next();
    return medians_;
  }

 private:
  [[nodiscard]] double weight(std::int64_t row) const { return data_.weights ? data_.weights[row] : 1.0; }

  /// Returns the weight of each value of a digit among the rows with the same previous digits.
  [[nodiscard]] std::vector<double> counts(int shift) const {
    const auto values = std::size_t{1} << bits_;
    return summed(data_.rows, columns_ * values, [&](const auto& piece, std::span<double> sums) {
      const auto f = static_cast<std::size_t>(piece.features);
      for (std::int64_t i = 0; i < piece.rows; ++i) {
        const auto first = static_cast<std::size_t>(labels_[static_cast<std::size_t>(piece.first + i)]) * f;
        const auto w = weight(piece.first + i);
        for (std::size_t j = 0; j < f; ++j) {
          const auto key = key_of(static_cast<T>(piece.row(i)[j])) >> shift;
          if (key >> bits_ == prefixes_[first + j]) sums[(first + j) * values + (key & (values - 1))] += w;
        }
      }
    });
  }

  /// Chooses the value of the digit at which half of the weight is reached.
  void narrow(int shift, const std::vector<double>& sums, bool first) {
    const auto values = std::size_t{1} << bits_;
    for (std::size_t c = 0; c < columns_; ++c) {
      const auto of_column = std::span(sums).subspan(c * values, values);
      if (first) halves_[c] = std::accumulate(of_column.begin(), of_column.end(), 0.0) / 2;
      std::size_t value = 0, last = 0;
      double reached = before_[c];
      for (; value < values; ++value) {
        if (!(of_column[value] > 0)) continue;
        last = value;
        if (reached + of_column[value] >= halves_[c]) break;
        reached += of_column[value];
      }
      if (value == values) reached -= of_column[last];  // happens by rounding
      prefixes_[c] = static_cast<Key<T>>(prefixes_[c] << bits_ | static_cast<Key<T>>(last));
      before_[c] = shift == 0 ? reached + of_column[last] : reached;
    }
  }

  /// Averages with the next number if half of the weight is reached exactly.
  void add_next() {
    bool none = true;
    for (std::size_t c = 0; c < columns_; ++c) none = none && !(halves_[c] > 0 && before_[c] == halves_[c]);
    if (none) return;
    const auto next = summed(
        data_.rows, columns_,
        [&](const auto& piece, std::span<double> least) {
          const auto f = static_cast<std::size_t>(piece.features);
          for (std::int64_t i = 0; i < piece.rows; ++i) {
            const auto first = static_cast<std::size_t>(labels_[static_cast<std::size_t>(piece.first + i)]) * f;
            if (!(weight(piece.first + i) > 0)) continue;
            for (std::size_t j = 0; j < f; ++j) {
              const auto x = static_cast<T>(piece.row(i)[j]);
              if (key_of(x) > prefixes_[first + j])
                least[first + j] = std::max(least[first + j], -static_cast<double>(x));
            }
          }
        },
        ReduceOp::max);
    auto* to = medians_.template data_ptr<double>();
    for (std::size_t c = 0; c < columns_; ++c)
      if (halves_[c] > 0 && before_[c] == halves_[c] && std::isfinite(next[c])) to[c] = to[c] / 2 - next[c] / 2;
  }

  const Weighted& data_;
  const std::vector<std::int32_t>& labels_;
  at::Tensor medians_;
  std::size_t columns_;
  int bits_;
  std::vector<Key<T>> prefixes_;
  std::vector<double> before_, halves_;  ///< the weight below the prefix, and half of the total
};

}  // namespace

at::Tensor cluster_medians(const Weighted& data, const std::vector<std::int32_t>& labels, const at::Tensor& otherwise) {
  if (working_dtype(data.rows) == float32) return MedianSearch<float>(data, labels, otherwise)();
  return MedianSearch<double>(data, labels, otherwise)();
}

}  // namespace heatpp::ml::detail
