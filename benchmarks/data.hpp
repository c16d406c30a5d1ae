#pragma once

#include "streams.hpp"

#include <heatpp/heatpp.hpp>

#include <cstdlib>
#include <filesystem>

namespace bench {

namespace ht = heatpp;

/// Makes an array of one or two axes whose element at the flat index `i` of the whole array is `element(i)`.
template <class F>
ht::DNDarray generate(const ht::Shape& shape, std::optional<int> split, F element) {
  using T = std::invoke_result_t<F, std::uint64_t>;
  ht::DNDarray x = ht::empty(shape, {.dtype = ht::dtype_of<T>(), .split = split});
  const auto rows = x.lshape()[0], columns = shape.size() > 1 ? x.lshape()[1] : 1;
  const auto width = shape.size() > 1 ? shape[1] : 1;
  const auto first = split ? x.layout().offset(x.comm().rank()) : 0;
  const auto corner = split == 1 ? first : first * width;
  auto* out = x.template local<T>().data();
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t c = 0; c < columns; ++c) *out++ = element(static_cast<std::uint64_t>(corner + r * width + c));
  return x;
}

template <auto Stream>
ht::DNDarray generate(std::uint64_t seed, const ht::Shape& shape, std::optional<int> split = 0) {
  return generate(shape, split, [seed](std::uint64_t i) { return Stream(seed, i); });
}

/// Returns the path of a file of the benchmarks.
inline std::string path_of(const char* file) {
  const char* directory = std::getenv("HEATPP_BENCH_DATA");
  return (std::filesystem::path(directory ? directory : ".") / file).string();
}

}  // namespace bench
