#pragma once

#include <functional>
#include <heatpp/core/factories.hpp>

namespace heatpp {

/// 10^start .. 10^stop in equal ratios, and start .. stop in equal ratios (both of one sign). Local.
[[nodiscard]] DNDarray logspace(double start, double stop, std::int64_t num, const ArrayOptions& options = {});
[[nodiscard]] DNDarray geomspace(double start, double stop, std::int64_t num, const ArrayOptions& options = {});
[[nodiscard]] inline DNDarray identity(std::int64_t n, const ArrayOptions& options = {}) { return eye(n, n, options); }

/// Which axis the first vector of a meshgrid runs along: the second one (xy, as pictures are drawn) or the first (ij).
enum class Indexing { xy, ij };
/// Each vector stretched over the grid that all span. A split vector gives an array split along its axis. Local.
[[nodiscard]] std::vector<DNDarray> meshgrid(const std::vector<DNDarray>& vectors, Indexing indexing = Indexing::xy);
/// The positions along each axis of an array of this shape, as one array with a first axis for the axes. Local.
[[nodiscard]] DNDarray indices(const Shape& shape, const ArrayOptions& options = {});
/// f of the positions along each axis: `f` gets one array for each, stretched over the shape. Local as far as f is.
[[nodiscard]] DNDarray fromfunction(const std::function<DNDarray(const std::vector<DNDarray>&)>& f, const Shape& shape,
                                    const ArrayOptions& options = {});

/// The values of a range, which every rank gives alike.
[[nodiscard]] DNDarray from_values(const void* values, std::int64_t count, Dtype dtype, const ArrayOptions& options);
template <class Range>
[[nodiscard]] DNDarray fromiter(const Range& range, const ArrayOptions& options = {}) {
  using Value = std::ranges::range_value_t<Range>;
  const std::vector<Value> values(std::ranges::begin(range), std::ranges::end(range));
  return from_values(values.data(), std::ssize(values), dtype_of<Value>(), options);
}

/// Windows of n points, symmetric, in float64 unless a dtype is given. Local.
[[nodiscard]] DNDarray hanning(std::int64_t n, const ArrayOptions& options = {});
[[nodiscard]] DNDarray hamming(std::int64_t n, const ArrayOptions& options = {});
[[nodiscard]] DNDarray blackman(std::int64_t n, const ArrayOptions& options = {});
[[nodiscard]] DNDarray bartlett(std::int64_t n, const ArrayOptions& options = {});
[[nodiscard]] DNDarray kaiser(std::int64_t n, double beta, const ArrayOptions& options = {});

/// Which bit of a byte comes first.
enum class BitOrder { big, little };
/// Truth values along `axis`, or of the flattened array, as the bits of uint8, by default the first one highest, and
/// back. The axis is cut along multiples of 8.
[[nodiscard]] DNDarray packbits(const DNDarray& x, std::optional<int> axis = std::nullopt,
                                BitOrder order = BitOrder::big);
[[nodiscard]] DNDarray unpackbits(const DNDarray& x, std::optional<int> axis = std::nullopt,
                                  BitOrder order = BitOrder::big);

}  // namespace heatpp
