#include <heatpp/sparse/detail/extremum_places.hpp>

#include <ATen/Dispatch.h>

namespace heatpp::sparse::detail {
namespace {

/// The first extreme element so far.
template <class Number>
class Extremum {
 public:
  explicit Extremum(bool largest) : largest_(largest) {}
  void see(Number x, std::int64_t column) {
    if (column_ >= 0 && !beats(x) && !(ties(x) && column < column_)) return;
    value_ = x, column_ = column;
  }
  [[nodiscard]] std::int64_t column() const { return column_; }

 private:
  bool largest_;
  Number value_ = 0;
  std::int64_t column_ = -1;

  static bool is_nan(Number x) { return x != x; }
  [[nodiscard]] bool ties(Number x) const { return x == value_ || (is_nan(x) && is_nan(value_)); }
  [[nodiscard]] bool beats(Number x) const {
    if (is_nan(x) || is_nan(value_)) return !is_nan(value_);
    return largest_ ? x > value_ : x < value_;
  }
};

template <class Number>
std::int64_t place_in_row(const Number* values, const std::int64_t* columns, std::int64_t entries, std::int64_t extent,
                          bool largest) {
  Extremum<Number> extremum(largest);
  std::int64_t gap = 0;  // the first column without an entry
  for (std::int64_t i = 0; i < entries; ++i) {
    extremum.see(values[i], columns[i]);
    gap += columns[i] == gap;
  }
  if (gap < extent) extremum.see(0, gap);
  return extremum.column();
}

}  // namespace

at::Tensor extremum_places(const CsrBlock& block, std::int64_t columns, bool largest) {
  auto places = at::empty({block.rows()}, at::kLong);
  const auto numbers = block.columns.to(at::kLong);
  AT_DISPATCH_ALL_TYPES_AND3(at::kHalf, at::kBFloat16, at::kBool, block.values.scalar_type(), "extremum_places", [&] {
    const auto* const values = block.values.const_data_ptr<scalar_t>();
    const auto* const column = numbers.const_data_ptr<std::int64_t>();
    for (std::int64_t row = 0; row < block.rows(); ++row) {
      const auto begin = block.ptr()[row];
      places.data_ptr<std::int64_t>()[row] =
          place_in_row<scalar_t>(values + begin, column + begin, block.ptr()[row + 1] - begin, columns, largest);
    }
  });
  return places;
}

}  // namespace heatpp::sparse::detail
