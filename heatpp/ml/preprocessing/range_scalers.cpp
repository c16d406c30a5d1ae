#include <heatpp/core/detail/simd.hpp>
#include <heatpp/ml/detail/fitted.hpp>
#include <heatpp/ml/detail/options/preprocessing.hpp>
#include <heatpp/ml/detail/sparse/row_block.hpp>
#include <heatpp/ml/preprocessing/scalers.hpp>

#include <limits>

// Scalers by the least and the largest numbers.
namespace heatpp {
namespace {

using namespace ml::detail;

constexpr auto nothing = -std::numeric_limits<double>::infinity();

#define HEATPP_RANGE(T)                                                                                    \
  HEATPP_SIMD void widen(const Piece<T>& piece, double* __restrict most, double* __restrict minus_least) { \
    for (std::int64_t i = 0; i < piece.rows; ++i) {                                                        \
      const auto* __restrict x = piece.row(i);                                                             \
      for (std::int64_t j = 0; j < piece.features; ++j) {                                                  \
        const auto value = static_cast<double>(x[j]);                                                      \
        most[j] = value > most[j] ? value : most[j]; /* NaN is not */                                      \
        minus_least[j] = -value > minus_least[j] ? -value : minus_least[j];                                \
      }                                                                                                    \
    }                                                                                                      \
  }
HEATPP_RANGE(float)
HEATPP_RANGE(double)
#undef HEATPP_RANGE

/// Takes entries only.
template <class T>
void widen(const SparsePiece<T>& piece, double* most, double* minus_least) {
  for (auto e = piece.ptr[0]; e < piece.ptr[piece.rows]; ++e) {
    const auto value = static_cast<double>(piece.values[e]);
    auto &high = most[piece.columns[e]], &low = minus_least[piece.columns[e]];
    high = value > high ? value : high;  // NaN is not
    low = -value > low ? -value : low;
  }
}

/// Returns whether a column has zeros that are not entries. Collective: one all-reduce of features + 1 numbers.
at::Tensor has_zeros(const Rows& x) {
  auto counts = summed_stored(x, static_cast<std::size_t>(x.features()), [](const auto& piece, std::span<double> own) {
    if constexpr (requires { piece.ptr; })
      for (auto e = piece.ptr[0]; e < piece.ptr[piece.rows]; ++e) own[static_cast<std::size_t>(piece.columns[e])] += 1;
  });
  return at::from_blob(counts.data(), {x.features()}, at::kDouble) < static_cast<double>(x.size());
}

struct ColumnRanges {
  at::Tensor least, most;
};

at::Tensor known(const at::Tensor& largest) { return at::where(largest == nothing, NAN, largest); }

/// Returns the range of every column, NaN if it has no numbers; merged with the range before, if any.
ColumnRanges range_of(const char* op, const Rows& x, const std::optional<ColumnRanges>& before) {
  check_not_empty(op, x);
  if (before) check_features(op, x, before->most.size(0));
  const auto f = static_cast<std::size_t>(x.features());
  auto numbers = summed_stored(
      x, 2 * f,
      [&](const auto& piece, std::span<double> largest) {
        check_finite(op, x, piece, Missing::left_out);
        widen(piece, largest.data(), largest.data() + f);
      },
      ReduceOp::max);
  auto both = known(at::from_blob(numbers.data(), {2, x.features()}, at::kDouble));
  if (sparse_rows(x)) both = at::where(has_zeros(x), at::fmax(both, at::zeros({}, at::kDouble)), both);
  ColumnRanges range{-both[1], both[0]};
  if (before) range = {at::fmin(range.least, before->least), at::fmax(range.most, before->most)};
  return range;
}

at::Tensor or_one(const at::Tensor& spread) {
  return at::where(spread < 10 * std::numeric_limits<double>::epsilon(), 1.0, spread);
}

}  // namespace

MinMaxScaler& MinMaxScaler::fit(const Rows& x) {
  MinMaxScaler fresh(options_);
  fresh.learn("fit", x);
  return *this = std::move(fresh);
}

MinMaxScaler& MinMaxScaler::partial_fit(const Rows& x) {
  learn("partial_fit", x);
  return *this;
}

void MinMaxScaler::learn(const char* what, const Rows& x) {
  const Method op(kind(), what);
  if (!range_) check_agreed(op, x, options_);
  const auto [low, high, clip] = options_;
  if (!(low < high)) detail::raise<ValueError>(op, "got the range {} .. {}; expected low < high", low, high);
  const auto before =
      range_ ? std::optional(ColumnRanges{range_->first.larray(), range_->second.larray()}) : std::nullopt;
  const auto [least, most] = range_of(op, x, before);
  const auto whole = [&](const at::Tensor& value) { return replicated(value, float64, x.comm()); };
  const auto scale = or_one(most - least) / (high - low);
  range_ = {whole(least), whole(most)};
  fitted_ = Fitted{whole(least - low * scale), whole(scale), clip ? std::optional(std::pair(low, high)) : std::nullopt};
}

const DNDarray& MinMaxScaler::data_min() const { return fitted(Method(kind(), "data_min"), range_).first; }
const DNDarray& MinMaxScaler::data_max() const { return fitted(Method(kind(), "data_max"), range_).second; }

MaxAbsScaler& MaxAbsScaler::fit(const Rows& x) {
  MaxAbsScaler fresh;
  fresh.learn("fit", x);
  return *this = std::move(fresh);
}

MaxAbsScaler& MaxAbsScaler::partial_fit(const Rows& x) {
  learn("partial_fit", x);
  return *this;
}

void MaxAbsScaler::learn(const char* what, const Rows& x) {
  const auto before = largest_ ? std::optional(ColumnRanges{-largest_->larray(), largest_->larray()}) : std::nullopt;
  const auto [least, most] = range_of(Method(kind(), what), x, before);
  const auto largest = at::maximum(least.abs(), most.abs());
  largest_ = replicated(largest, float64, x.comm());
  fitted_ =
      Fitted{replicated(at::zeros_like(largest), float64, x.comm()), replicated(or_one(largest), float64, x.comm())};
}

const DNDarray& MaxAbsScaler::max_abs() const { return fitted(Method(kind(), "max_abs"), largest_); }

}  // namespace heatpp
