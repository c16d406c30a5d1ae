#include <heatpp/ml/detail/gram.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/simd.hpp>
#include <heatpp/ml/detail/column_products.hpp>
#include <heatpp/ml/detail/sparse/row_block.hpp>

#include <algorithm>
#include <cmath>

namespace heatpp::ml::detail {
namespace {

/// Adds: to += factor * from.
template <class T>
HEATPP_SIMD void add(double* __restrict to, double factor, const T* __restrict from, std::int64_t n) {
  for (std::int64_t j = 0; j < n; ++j) to[j] += factor * static_cast<double>(from[j]);
}
/// Writes a row's columns from `first` on, minus their means, to a row of stripes.
template <class T>
HEATPP_SIMD void subtract(double* __restrict stripes, std::int64_t apart, const T* __restrict from,
                          const double* __restrict mean, std::int64_t first, std::int64_t n) {
  for (std::int64_t j = first; j < first + n;) {
    const auto end = std::min(first + n, (j / stripe_width + 1) * stripe_width);
    auto* const to = stripes + j / stripe_width * (apart - stripe_width);
    for (; j < end; ++j) to[j] = static_cast<double>(from[j - first]) - mean[j];
  }
}

/// The data of a piece: features, then targets; and weights, or null.
template <class T>
struct PieceData {
  const T* features;
  const double *targets, *weights;
  std::int64_t rows, n_features, n_targets;
};

/// The sums of one thread.
class Sums {
 public:
  explicit Sums(std::int64_t columns)
      : columns_(columns),
        width_((columns + stripe_width - 1) / stripe_width * stripe_width),
        rows_(std::clamp<std::int64_t>(cached / width_, 32, 96)),
        mean_(width(1)),
        scatter_(width(width_)) {}

  /// Adds rows about their own mean; returns false if there are numbers that are not finite.
  template <class T>
  bool add_piece(const PieceData<T>& data) {
    auto mean = width(1);
    double n = 0;
    for (std::int64_t i = 0; i < data.rows; ++i) {
      const auto w = data.weights ? data.weights[i] : 1.0;
      n += w;
      add(mean.data(), w, data.features + i * data.n_features, data.n_features);
      add(mean.data() + data.n_features, w, data.targets + i * data.n_targets, data.n_targets);
    }
    const bool finite = std::ranges::all_of(mean, [](double sum) { return std::isfinite(sum); });
    if (!(n > 0)) return finite;
    for (auto& number : mean) number /= n;
    add_about(mean.data(), data);
    merge(n, mean);
    return finite;
  }
  /// Adds sparse rows by the pairs of their entries, about 0; `center` subtracts the mean later.
  template <class T>
  void add_entries(const SparsePiece<T>& x, const double* targets, const double* weights) {
    for (std::int64_t i = 0; i < x.rows; ++i) {
      const auto w = weights ? weights[i] : 1.0;
      n_ += w;
      const auto begin = x.ptr[i], end = x.ptr[i + 1];
      const auto add_row = [&](std::int64_t column, double value, std::int64_t until) {
        mean_[static_cast<std::size_t>(column)] += w * value;
        auto* const to = scatter_.data() + column * width_;
        for (auto e = begin; e < until; ++e) to[x.columns[e]] += w * value * static_cast<double>(x.values[e]);
        return to;
      };
      for (auto e = begin; e < end; ++e) add_row(x.columns[e], static_cast<double>(x.values[e]), e + 1);
      const auto* const y = targets + i * (columns_ - x.features);
      for (std::int64_t t = 0; t < columns_ - x.features; ++t) {
        auto* const to = add_row(x.features + t, y[t], end);
        for (std::int64_t u = 0; u <= t; ++u) to[x.features + u] += w * y[t] * y[u];
      }
    }
  }
  void center() {
    if (!(n_ > 0)) return;
    for (auto& number : mean_) number /= n_;
    for (std::int64_t i = 0; i < columns_; ++i)
      add(scatter_.data() + i * width_, -n_ * mean_[static_cast<std::size_t>(i)], mean_.data(), i + 1);
  }
  [[nodiscard]] double n() const { return n_; }
  [[nodiscard]] const double* mean() const { return mean_.data(); }
  [[nodiscard]] const double* row(std::int64_t i) const { return scatter_.data() + i * width_; }  ///< i + 1 numbers

 private:
  static constexpr std::int64_t cached = 24 * 1024;  ///< numbers that stay in the core's cache
  [[nodiscard]] std::vector<double> width(std::int64_t rows) const {
    return std::vector<double>(static_cast<std::size_t>(rows * width_));
  }

  template <class T>
  void add_about(const double* mean, const PieceData<T>& data) {
    if (centered_.empty()) centered_ = width(rows_);
    if (data.weights && weighted_.empty()) weighted_ = width(rows_);
    const auto apart = rows_ * stripe_width;
    for (std::int64_t first = 0; first < data.rows; first += rows_) {
      const auto rows = std::min(rows_, data.rows - first);
      for (std::int64_t i = 0; i < rows; ++i) {
        auto* const to = centered_.data() + i * stripe_width;
        const auto row = first + i;
        subtract(to, apart, data.features + row * data.n_features, mean, 0, data.n_features);
        subtract(to, apart, data.targets + row * data.n_targets, mean, data.n_features, data.n_targets);
        if (data.weights) weigh(i * stripe_width, data.weights[row]);
      }
      const auto* left = data.weights ? weighted_.data() : centered_.data();
      add_column_products({left, centered_.data(), rows, columns_, apart}, width_, scatter_.data());
    }
  }
  void weigh(std::int64_t first, double weight) {
    for (auto at = first; at < rows_ * width_; at += rows_ * stripe_width)
      for (auto j = at; j < at + stripe_width; ++j)
        weighted_[static_cast<std::size_t>(j)] = weight * centered_[static_cast<std::size_t>(j)];
  }

  /// Merges by Chan, Golub, LeVeque (1979).
  void merge(double n, const std::vector<double>& mean) {
    auto difference = mean;
    for (std::size_t j = 0; j < difference.size(); ++j) difference[j] -= mean_[j];
    const auto factor = n_ * (n / (n_ + n));
    for (std::int64_t i = 0; factor > 0 && i < columns_; ++i)
      add(scatter_.data() + i * width_, factor * difference[static_cast<std::size_t>(i)], difference.data(), i + 1);
    n_ += n;
    add(mean_.data(), n / n_, difference.data(), columns_);
  }

  std::int64_t columns_, width_, rows_;  ///< rows_: rows of one step
  double n_ = 0;
  std::vector<double> mean_, scatter_, centered_ = {}, weighted_ = {};
};

/// A Gram as a message: columns, failures, weight, means, and the scatter's lower triangle.
struct Record {
  double* numbers;
  [[nodiscard]] static std::int64_t size(std::int64_t c) { return 3 + c + c * (c + 1) / 2; }
  [[nodiscard]] std::int64_t columns() const { return static_cast<std::int64_t>(numbers[0]); }
  [[nodiscard]] double& failures() const { return numbers[1]; }
  [[nodiscard]] double& n() const { return numbers[2]; }
  [[nodiscard]] double* mean() const { return numbers + 3; }
  [[nodiscard]] double* triangle() const { return mean() + columns(); }
};

void merge(const Record& a, const Record& b) {
  b.failures() += a.failures();
  if (!(a.n() > 0)) return;
  const auto columns = b.columns();
  if (!(b.n() > 0)) {  // without rows, means may be so large that their squares overflow
    b.n() = a.n();
    std::copy_n(a.mean(), columns, b.mean());
    std::copy_n(a.triangle(), columns * (columns + 1) / 2, b.triangle());
    return;
  }
  const auto total = a.n() + b.n(), product = b.n() * (a.n() / total), part = a.n() / total;
  std::vector<double> difference(static_cast<std::size_t>(columns));
  for (std::size_t j = 0; j < difference.size(); ++j) difference[j] = a.mean()[j] - b.mean()[j];
  auto *to = b.triangle(), *from = a.triangle();
  for (std::size_t i = 0; i < difference.size(); ++i)
    for (std::size_t j = 0; j <= i; ++j) *to++ += *from++ + difference[i] * difference[j] * product;
  for (std::size_t j = 0; j < difference.size(); ++j) b.mean()[j] += difference[j] * part;
  b.n() = total;
}

/// Merges two records. They know their own length, and come one at a time.
void merge_record(const void* in, void* inout, std::int64_t) {
  merge({const_cast<double*>(static_cast<const double*>(in))}, {static_cast<double*>(inout)});
}

std::vector<double> packed(const Sums& sums, std::int64_t columns, bool failed) {
  std::vector<double> numbers(static_cast<std::size_t>(Record::size(columns)));
  numbers[0] = static_cast<double>(columns);
  const Record record{numbers.data()};
  record.failures() = failed ? 1 : 0;
  record.n() = sums.n();
  std::copy_n(sums.mean(), columns, record.mean());
  auto* to = record.triangle();
  for (std::int64_t i = 0; i < columns; ++i) to = std::copy_n(sums.row(i), i + 1, to);
  return numbers;
}

Gram unpacked(const Record& record) {
  const auto columns = record.columns();
  Gram gram{record.n(), at::empty({columns}, at::kDouble), at::empty({columns, columns}, at::kDouble)};
  std::copy_n(record.mean(), columns, gram.mean.data_ptr<double>());
  auto* to = gram.scatter.data_ptr<double>();
  const auto* from = record.triangle();
  for (std::int64_t i = 0; i < columns; ++i)
    for (std::int64_t j = 0; j <= i; ++j) to[i * columns + j] = to[j * columns + i] = *from++;
  return gram;
}

}  // namespace

void check_targets(const char* op, const at::Tensor& targets, std::int64_t first) {
  if (targets.isfinite().all().item<bool>()) return;
  const auto row = targets.isfinite().all(1).logical_not().nonzero()[0].item<std::int64_t>();
  heatpp::detail::raise<ValueError>(op, "got a target that is not finite in row {}; expected finite numbers",
                                    first + row);
}

Gram gram(const char* op, const Rows& rows, const GramOptions& options) {
  const auto n_targets = options.targets ? options.targets->size(1) : 0, columns = rows.features() + n_targets;
  std::vector<Sums> sums(threads(), Sums(columns));
  const auto failure = heatpp::detail::failure_of([&] {
    for_stored(rows, [&]<class P>(const P& piece, int thread) {
      const auto* targets =
          n_targets > 0 ? options.targets->const_data_ptr<double>() + piece.first * n_targets : nullptr;
      const auto* weights = options.weights ? options.weights + piece.first : nullptr;
      auto& own = sums[static_cast<std::size_t>(thread)];
      if constexpr (requires { piece.ptr; }) own.add_entries(piece, targets, weights);
      else if (own.add_piece(PieceData{piece.data, targets, weights, piece.rows, piece.features, n_targets})) return;
      check_finite(op, rows, piece);
      if (targets)
        check_targets(op, options.targets->slice(0, piece.first, piece.first + piece.rows), rows.first() + piece.first);
    });
    if (sparse_rows(rows))
      for (auto& own : sums) own.center();
  });
  auto total = packed(sums[0], columns, failure.has_value());
  for (std::size_t t = 1; t < sums.size(); ++t) merge({packed(sums[t], columns, false).data()}, {total.data()});
  const auto bytes = static_cast<std::int64_t>(total.size() * sizeof(double));
  if (rows.distributed()) rows.comm().allreduce_records(total.data(), 1, bytes, &merge_record);
  if (Record{total.data()}.failures() > 0) rows.comm().agree(failure);
  return unpacked({total.data()});
}

}  // namespace heatpp::ml::detail
