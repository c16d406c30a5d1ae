#include <heatpp/sparse/detail/gustavson.hpp>

#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>
#include <algorithm>
#include <numeric>

namespace heatpp::sparse::detail {
namespace {

constexpr std::int64_t rows_of_a_thread = 2048;

/// The rows of a product that one thread has made.
template <class T>
struct Part {
  std::vector<std::int64_t> lengths, columns;
  std::vector<T> values;
};

/// One row at a time, as a vector of all columns that is 0 but where it says.
template <class T>
class Accumulator {
 public:
  explicit Accumulator(std::int64_t columns)
      : sums_(static_cast<std::size_t>(columns)), seen_in_(static_cast<std::size_t>(columns), -1) {}
  void add(std::int64_t row, std::int64_t column, T value) {
    const auto c = static_cast<std::size_t>(column);
    if (seen_in_[c] == row) {
      sums_[c] += value;
      return;
    }
    seen_in_[c] = row;
    sums_[c] = value;
    touched_.push_back(column);
  }
  void flush(Part<T>& part) {
    std::ranges::sort(touched_);
    part.lengths.push_back(std::ssize(touched_));
    part.columns.insert(part.columns.end(), touched_.begin(), touched_.end());
    for (const auto column : touched_) part.values.push_back(sums_[static_cast<std::size_t>(column)]);
    touched_.clear();
  }

 private:
  std::vector<T> sums_;
  std::vector<std::int64_t> seen_in_, touched_;
};

template <class T, class Column>
void multiply(const CsrBlock& a, const CsrBlock& b, std::int64_t columns, std::int64_t first, std::int64_t last,
              Part<T>& part) {
  Accumulator<T> sums(columns);
  const auto* const a_column = a.columns.const_data_ptr<std::int64_t>();
  const auto* const b_column = b.columns.const_data_ptr<Column>();
  const auto* const a_value = a.values.const_data_ptr<T>();
  const auto* const b_value = b.values.const_data_ptr<T>();
  for (auto row = first; row < last; ++row) {
    for (auto i = a.ptr()[row]; i < a.ptr()[row + 1]; ++i)
      for (auto j = b.ptr()[a_column[i]], end = b.ptr()[a_column[i] + 1]; j < end; ++j)
        sums.add(row, b_column[j], a_value[i] * b_value[j]);
    sums.flush(part);
  }
}

template <class T>
at::Tensor joined(const std::vector<Part<T>>& parts, auto member, at::ScalarType type) {
  std::int64_t count = 0;
  for (const auto& part : parts) count += std::ssize(part.*member);
  auto result = at::empty({count}, type);
  using Number = typename std::remove_cvref_t<decltype(parts[0].*member)>::value_type;
  auto* out = result.data_ptr<Number>();
  for (const auto& part : parts) out = std::ranges::copy(part.*member, out).out;
  return result;
}

template <class T>
CsrBlock product(const CsrBlock& a, const CsrBlock& b, std::int64_t columns) {
  const auto parts_wanted =
      std::clamp<std::int64_t>(a.rows() / rows_of_a_thread, 1, std::int64_t{at::get_num_threads()});
  std::vector<Part<T>> parts(static_cast<std::size_t>(parts_wanted));
  at::parallel_for(0, parts_wanted, 1, [&](std::int64_t begin, std::int64_t end) {
    for (auto p = begin; p < end; ++p) {
      const auto first = a.rows() * p / parts_wanted, last = a.rows() * (p + 1) / parts_wanted;
      auto& part = parts[static_cast<std::size_t>(p)];
      if (b.columns.scalar_type() == at::kInt) multiply<T, std::int32_t>(a, b, columns, first, last, part);
      else multiply<T, std::int64_t>(a, b, columns, first, last, part);
    }
  });
  const auto lengths = joined(parts, &Part<T>::lengths, at::kLong);
  return {at::cat({at::zeros({1}, at::kLong), lengths.cumsum(0)}), joined(parts, &Part<T>::columns, at::kLong),
          joined(parts, &Part<T>::values, a.values.scalar_type())};
}

}  // namespace

CsrBlock gustavson(const CsrBlock& a, const CsrBlock& b, std::int64_t columns) {
  return AT_DISPATCH_ALL_TYPES_AND_COMPLEX(a.values.scalar_type(), "gustavson",
                                           [&] { return product<scalar_t>(a, b, columns); });
}

}  // namespace heatpp::sparse::detail
