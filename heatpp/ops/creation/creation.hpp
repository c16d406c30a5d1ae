#pragma once

#include <functional>
#include <heatpp/core/factories.hpp>
#include <heatpp/ops/operands/operand.hpp>

namespace heatpp {

/// Makes an array of numbers as `array`; returns an array as it is, or in another dtype.
[[nodiscard]] inline DNDarray asarray(const Literal& values, const ArrayOptions& options = {}) {
  return array(values, options);
}
[[nodiscard]] inline DNDarray asarray(const DNDarray& x, std::optional<Dtype> dtype = std::nullopt) {
  return dtype ? x.astype(*dtype) : x;
}

/// The properties in which a new array differs from its model.
struct LikeOptions {
  std::optional<Dtype> dtype = std::nullopt;  ///< nullopt: that of the model
  std::optional<Shape> shape = std::nullopt;  ///< nullopt: that of the model
  std::optional<int> split = std::nullopt;    ///< nullopt: that of the model, with its cut if the shape is equal
  Grid grid = {};                             ///< ranks along each axis, or empty; as in ArrayOptions
};
[[nodiscard]] DNDarray empty_like(const DNDarray& x, const LikeOptions& options);
[[nodiscard]] DNDarray zeros_like(const DNDarray& x, const LikeOptions& options);
[[nodiscard]] DNDarray ones_like(const DNDarray& x, const LikeOptions& options);
[[nodiscard]] DNDarray full_like(const DNDarray& x, const Operand& value, const LikeOptions& options);
/// Makes an array of `value` broadcast to a shape, in memory of its own. Communicates as broadcast_to.
[[nodiscard]] DNDarray full(const Shape& shape, const DNDarray& value, std::optional<Dtype> dtype = std::nullopt);

/// Returns 10^start .. 10^stop, and start .. stop, both in equal ratios; NaN between ends of different signs. Local.
/// Throws ValueError for a negative `num`, and for an end of geomspace that is 0.
[[nodiscard]] DNDarray logspace(double start, double stop, std::int64_t num, const ArrayOptions& options = {});
[[nodiscard]] DNDarray geomspace(double start, double stop, std::int64_t num, const ArrayOptions& options = {});
struct LogspaceRange {
  double start = 0;
  double stop = 0;
  std::int64_t num = 50;
  bool endpoint = true;  ///< whether base^stop is the last number
  double base = 10;
};
[[nodiscard]] DNDarray logspace(const LogspaceRange& range, const ArrayOptions& options = {});
[[nodiscard]] DNDarray geomspace(const LinspaceRange& range, const ArrayOptions& options = {});
/// Returns the step of linspace (NumPy's retstep); NaN if there is none.
[[nodiscard]] double linspace_step(const LinspaceRange& range);

struct SpaceOptions {
  std::int64_t num = 50;
  bool endpoint = true;
  int axis = 0;                               ///< axis of the result along which the numbers go
  std::optional<Dtype> dtype = std::nullopt;  ///< nullopt: the floating dtype of the ends
};
/// Does linspace for each pair of elements of `start` and `stop`, broadcast. Communicates as elementwise functions.
[[nodiscard]] DNDarray linspace(const Operand& start, const Operand& stop, const SpaceOptions& options);
/// Returns the n x n matrix with ones on its diagonal. Local.
[[nodiscard]] inline DNDarray identity(std::int64_t n, const ArrayOptions& options = {}) { return eye(n, n, options); }

/// The axis along which the first vector of a meshgrid runs: the second (xy, as in pictures) or the first (ij).
enum class Indexing { xy, ij };
struct MeshgridOptions {
  Indexing indexing = Indexing::xy;
  bool sparse = false;  ///< give each vector extent 1 along the others' axes
  bool copy = true;     ///< copy into own memory; else views of the vectors, stretched as by broadcast_to
};
/// Stretches each vector over the grid of all. A split vector gives an array split along its axis. Local.
[[nodiscard]] std::vector<DNDarray> meshgrid(const std::vector<DNDarray>& vectors, const MeshgridOptions& options);
[[nodiscard]] inline std::vector<DNDarray> meshgrid(const std::vector<DNDarray>& vectors,
                                                    Indexing indexing = Indexing::xy) {
  return meshgrid(vectors, MeshgridOptions{.indexing = indexing});
}
/// Returns the positions along each axis of an array of this shape; the first axis counts the axes. Local.
[[nodiscard]] DNDarray indices(const Shape& shape, const ArrayOptions& options = {});
/// Calls f with an array of positions for each axis, stretched over the shape. Local if f is.
[[nodiscard]] DNDarray fromfunction(const std::function<DNDarray(const std::vector<DNDarray>&)>& f, const Shape& shape,
                                    const ArrayOptions& options = {});

/// Makes an array of the values of a range, which are equal on every rank.
[[nodiscard]] DNDarray from_values(const void* values, std::int64_t count, Dtype dtype, const ArrayOptions& options);
template <class Range>
[[nodiscard]] DNDarray fromiter(const Range& range, const ArrayOptions& options = {}) {
  using Value = std::ranges::range_value_t<Range>;
  const std::vector<Value> values(std::ranges::begin(range), std::ranges::end(range));
  return from_values(values.data(), std::ssize(values), dtype_of<Value>(), options);
}

/// Make windows of n points, symmetric, in float64 unless a dtype is given. Local.
[[nodiscard]] DNDarray hanning(std::int64_t n, const ArrayOptions& options = {});
[[nodiscard]] DNDarray hamming(std::int64_t n, const ArrayOptions& options = {});
[[nodiscard]] DNDarray blackman(std::int64_t n, const ArrayOptions& options = {});
[[nodiscard]] DNDarray bartlett(std::int64_t n, const ArrayOptions& options = {});
[[nodiscard]] DNDarray kaiser(std::int64_t n, double beta, const ArrayOptions& options = {});

}  // namespace heatpp
