#pragma once

#include <heatpp/random/distributions.hpp>

// NumPy's random functions, drawn from the default generator. See Generator for their common rules.
namespace heatpp::random {

/// Draws uniformly in [0, 1).
[[nodiscard]] inline DNDarray random(const Shape& shape = {}, const ArrayOptions& options = {}) {
  return default_generator().random(shape, options);
}
/// Another name of `random`.
[[nodiscard]] inline DNDarray rand(const Shape& shape = {}, const ArrayOptions& options = {}) {
  return random(shape, options);
}
/// Another name of `random`.
[[nodiscard]] inline DNDarray random_sample(const Shape& shape = {}, const ArrayOptions& options = {}) {
  return random(shape, options);
}
/// Another name of `random`.
[[nodiscard]] inline DNDarray ranf(const Shape& shape = {}, const ArrayOptions& options = {}) {
  return random(shape, options);
}
/// Another name of `random`.
[[nodiscard]] inline DNDarray sample(const Shape& shape = {}, const ArrayOptions& options = {}) {
  return random(shape, options);
}
/// Draws uniformly in [low, high).
[[nodiscard]] inline DNDarray uniform(const Operand& low = 0.0, const Operand& high = 1.0, const Shape& shape = {},
                                      const ArrayOptions& options = {}) {
  return default_generator().uniform(low, high, shape, options);
}

/// Draws normal numbers with mean 0 and deviation 1.
[[nodiscard]] inline DNDarray standard_normal(const Shape& shape = {}, const ArrayOptions& options = {}) {
  return default_generator().standard_normal(shape, options);
}
/// Another name of `standard_normal`.
[[nodiscard]] inline DNDarray randn(const Shape& shape = {}, const ArrayOptions& options = {}) {
  return standard_normal(shape, options);
}
/// Draws normal numbers with mean `loc` and deviation `scale`.
[[nodiscard]] inline DNDarray normal(const Operand& loc = 0.0, const Operand& scale = 1.0, const Shape& shape = {},
                                     const ArrayOptions& options = {}) {
  return default_generator().normal(loc, scale, shape, options);
}

/// Draws whole numbers in [low, high), or [0, low) without `high`; int64 unless given.
[[nodiscard]] inline DNDarray integers(std::int64_t low, std::optional<std::int64_t> high = std::nullopt,
                                       const Shape& shape = {}, const ArrayOptions& options = {}) {
  return default_generator().integers(low, high, shape, options);
}
/// Draws whole numbers in [0, high) of a shape in braces.
[[nodiscard]] inline DNDarray integers(std::int64_t high, std::initializer_list<std::int64_t> shape,
                                       const ArrayOptions& options = {}) {
  return default_generator().integers(high, shape, options);
}
[[nodiscard]] inline DNDarray integers(const IntegerRange& range, const Shape& shape = {},
                                       const ArrayOptions& options = {}) {
  return default_generator().integers(range, shape, options);
}
[[nodiscard]] inline DNDarray integers(const DNDarray& low, const Operand& high, const Shape& shape = {},
                                       const ArrayOptions& options = {}) {
  return default_generator().integers(low, high, shape, options);
}
[[nodiscard]] inline DNDarray integers(const Scalar& low, const DNDarray& high, const Shape& shape = {},
                                       const ArrayOptions& options = {}) {
  return default_generator().integers(low, high, shape, options);
}
/// Draws n random bytes, as uint8.
[[nodiscard]] inline DNDarray bytes(std::int64_t n, const ArrayOptions& options = {}) {
  return default_generator().bytes(n, options);
}
/// Draws whole numbers in [low, high), or [0, low) without `high`.
[[nodiscard]] inline DNDarray randint(std::int64_t low, std::optional<std::int64_t> high = std::nullopt,
                                      const Shape& shape = {}, const ArrayOptions& options = {}) {
  return integers(low, high, shape, options);
}
[[nodiscard]] inline DNDarray randint(std::int64_t high, std::initializer_list<std::int64_t> shape,
                                      const ArrayOptions& options = {}) {
  return integers(high, shape, options);
}
[[nodiscard]] inline DNDarray random_integer(std::int64_t low, std::optional<std::int64_t> high = std::nullopt,
                                             const Shape& shape = {}, const ArrayOptions& options = {}) {
  return integers(low, high, shape, options);
}
[[nodiscard]] inline DNDarray random_integer(std::int64_t high, std::initializer_list<std::int64_t> shape,
                                             const ArrayOptions& options = {}) {
  return integers(high, shape, options);
}

/// Returns the whole numbers below n in random order, as int64.
[[nodiscard]] inline DNDarray permutation(std::int64_t n, const ArrayOptions& options = {}) {
  return default_generator().permutation(n, options);
}
/// Another name of `permutation`.
[[nodiscard]] inline DNDarray randperm(std::int64_t n, const ArrayOptions& options = {}) {
  return permutation(n, options);
}
/// Returns the rows of `x`, or its slices along another axis, in random order.
[[nodiscard]] inline DNDarray permutation(const DNDarray& x, int axis = 0) {
  return default_generator().permutation(x, axis);
}
/// Puts the rows of `x` into random order, in place.
inline void shuffle(DNDarray& x, int axis = 0) { default_generator().shuffle(x, axis); }
inline void shuffle(Selection&& x, int axis = 0) { default_generator().shuffle(std::move(x), axis); }

/// Puts each line along `axis` in a random order of its own; for nullopt all elements.
[[nodiscard]] inline DNDarray permuted(const DNDarray& x, std::optional<int> axis = std::nullopt) {
  return default_generator().permuted(x, axis);
}

/// Chooses whole numbers below n, or rows of an array, with or without replacement and weights.
[[nodiscard]] inline DNDarray choice(std::int64_t n, const Shape& shape = {}, const ChoiceOptions& options = {}) {
  return default_generator().choice(n, shape, options);
}
/// Chooses elements of `x` along an axis.
[[nodiscard]] inline DNDarray choice(const DNDarray& x, const Shape& shape = {}, const ChoiceOptions& options = {}) {
  return default_generator().choice(x, shape, options);
}

/// Draws probability vectors.
[[nodiscard]] inline DNDarray dirichlet(const std::vector<double>& alpha, const Shape& shape = {},
                                        const ArrayOptions& options = {}) {
  return default_generator().dirichlet(alpha, shape, options);
}
/// Counts how often each outcome occurs in n trials.
[[nodiscard]] inline DNDarray multinomial(std::int64_t n, const std::vector<double>& pvals, const Shape& shape = {},
                                          const ArrayOptions& options = {}) {
  return default_generator().multinomial(n, pvals, shape, options);
}
[[nodiscard]] inline DNDarray multinomial(const DNDarray& n, const std::vector<double>& pvals, const Shape& shape = {},
                                          const ArrayOptions& options = {}) {
  return default_generator().multinomial(n, pvals, shape, options);
}
/// Counts each color among `nsample` draws without replacement.
[[nodiscard]] inline DNDarray multivariate_hypergeometric(const std::vector<std::int64_t>& colors, std::int64_t nsample,
                                                          const Shape& shape = {}, const ArrayOptions& options = {}) {
  return default_generator().multivariate_hypergeometric(colors, nsample, shape, options);
}
/// Draws normal vectors.
[[nodiscard]] inline DNDarray multivariate_normal(const DNDarray& mean, const DNDarray& covariance,
                                                  const Shape& shape = {}, const ArrayOptions& options = {}) {
  return default_generator().multivariate_normal(mean, covariance, shape, options);
}

}  // namespace heatpp::random
