#include "check.hpp"

#include <cmath>

namespace bench {
namespace {

double weight(std::int64_t index) {
  return static_cast<double>((static_cast<std::uint64_t>(index) + 1) * 2654435761u & 0xFFFFFFFFu) * 0x1p-32;
}

template <class T>
std::vector<double> sums_of(const heatpp::DNDarray& x) {
  const auto shape = x.lshape();
  const auto rows = shape[0], columns = shape.size() > 1 ? shape[1] : 1;
  const auto first = x.split() ? x.layout().offset(x.comm().rank()) : 0;
  const auto first_row = x.split() == 0 ? first : 0, first_column = x.split() == 1 ? first : 0;
  std::vector<double> weights(static_cast<std::size_t>(columns), 1.0), sums(3);
  if (shape.size() > 1)
    for (std::int64_t c = 0; c < columns; ++c) weights[static_cast<std::size_t>(c)] = weight(first_column + c);
  const auto* value = x.local<T>().data();
  for (std::int64_t r = 0; r < rows; ++r) {
    double sum = 0, absolute = 0, weighted = 0;
    for (const auto w : weights) {
      sum += *value;
      absolute += std::abs(*value);
      weighted += *value++ * w;
    }
    sums[0] += sum;
    sums[1] += absolute;
    sums[2] += weighted * weight(first_row + r);
  }
  if (x.split()) x.comm().allreduce(sums);
  return sums;
}

}  // namespace

std::vector<double> check_sums(const heatpp::DNDarray& x) {
  return x.dtype() == heatpp::float64 ? sums_of<double>(x) : sums_of<float>(x);
}

std::vector<double> check_values(std::initializer_list<heatpp::DNDarray> arrays) {
  std::vector<double> values;
  for (const auto& x : arrays)
    for (const auto value : x.astype(heatpp::float64).to_vector<double>()) values.push_back(value);
  return values;
}

}  // namespace bench
