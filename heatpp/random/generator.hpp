#pragma once

#include <heatpp/core/factories.hpp>
#include <heatpp/ops/operands/operand.hpp>

#include <map>

namespace heatpp::random::detail {
/// A range of counters in a sequence of random numbers.
struct Stretch {
  std::uint64_t key = 0;
  std::uint64_t first = 0;  ///< counter
};
}  // namespace heatpp::random::detail

namespace heatpp::random {

/// The state that determines a generator's numbers.
struct State {
  std::uint64_t key = 0;       ///< the seed, or what `spawn` derived from it
  std::uint64_t position = 0;  ///< counters that have been used
  std::uint64_t spawned = 0;   ///< number of children so far
  /// For the default generator: counters that this rank has used on communicators that do not hold all ranks, by
  /// Communicator::group().
  std::map<std::uint64_t, std::uint64_t> positions_of_groups = {};
  friend bool operator==(const State&, const State&) = default;
};

/// Options of choice.
struct ChoiceOptions {
  bool replace = true;                              ///< whether an element may occur more than once
  std::optional<DNDarray> p = std::nullopt;         ///< probability of each element; nullopt: all equal
  int axis = 0;                                     ///< axis of an array along which elements are chosen
  std::optional<int> split = std::nullopt;          ///< axis of the positions to cut evenly
  Grid grid = {};                                   ///< ranks along their axes, or empty; as in ArrayOptions
  std::optional<Communicator> comm = std::nullopt;  ///< nullopt: p's, or default_comm()
};

/// Whole numbers from `low` up to `high`.
struct IntegerRange {
  std::int64_t low = 0;
  std::int64_t high = 0;
  bool endpoint = false;  ///< whether `high` is included
};

/// Counter-based random numbers (Philox4x32-10, Salmon et al., SC'11). An element is a function of the generator's
/// state and the element's index in the whole array. So an array has the same elements for any number of ranks and
/// any split. Every call advances the position by the array's size, equally on all ranks. It communicates nothing,
/// except 8 bytes for parameters that are arrays, which say whether they are in range. The bits of uniform, normal
/// and whole numbers are the same on every machine. They are drawn on the CPU, and copied if another device is
/// requested.
///
/// All ranks of a generator make the same calls. Groups of ranks that draw on communicators of their own have one
/// generator each, as `spawn` gives.
///
/// Parameters are numbers or arrays, which broadcast to `shape`; shape {} means their common shape. Arrays move to the
/// result's layout if they have another. If a parameter is NaN, floating numbers are NaN. Errors, on all ranks:
/// ValueError for parameters out of range (also NaN for whole and uniform numbers) and for shapes that do not
/// broadcast; TypeError for dtypes that cannot hold the numbers, and for complex parameters. A whole number beyond the
/// range of its dtype is cut to its bits, as in astype.
class Generator {
 public:
  explicit Generator(std::uint64_t seed = 0) : state_{.key = seed} {}

  [[nodiscard]] const State& get_state() const { return state_; }
  void set_state(const State& state) { state_ = state; }
  /// Makes generators with keys of their own, different at every call.
  [[nodiscard]] std::vector<Generator> spawn(int n);
  /// Returns a generator `times` * 2^48 elements further in the same sequence.
  [[nodiscard]] Generator jumped(int times = 1) const;

  /// Draws uniformly in [0, 1): multiples of 2^-24 for float32, 2^-53 (float64), 2^-11 (float16), 2^-8 (bfloat16).
  [[nodiscard]] DNDarray random(const Shape& shape = {}, const ArrayOptions& options = {});
  /// Draws uniformly in [low, high). Throws ValueError unless the dtype holds both and their difference.
  [[nodiscard]] DNDarray uniform(const Operand& low = 0.0, const Operand& high = 1.0, const Shape& shape = {},
                                 const ArrayOptions& options = {});
  /// Draws normal numbers, mean 0 and deviation 1 (Box and Muller): up to 6.7 for float32, 8.6 for float64.
  [[nodiscard]] DNDarray standard_normal(const Shape& shape = {}, const ArrayOptions& options = {});
  [[nodiscard]] DNDarray normal(const Operand& loc = 0.0, const Operand& scale = 1.0, const Shape& shape = {},
                                const ArrayOptions& options = {});
  /// Draws whole numbers in [low, high), or [0, low) without `high`, equally likely (Lemire 2019); default int64.
  [[nodiscard]] DNDarray integers(std::int64_t low, std::optional<std::int64_t> high = std::nullopt,
                                  const Shape& shape = {}, const ArrayOptions& options = {});
  /// Draws whole numbers in [0, high) of a shape in braces.
  [[nodiscard]] DNDarray integers(std::int64_t high, std::initializer_list<std::int64_t> shape,
                                  const ArrayOptions& options = {}) {
    return integers(0, high, shape, options);
  }
  /// Draws from a range whose end may be included: `integers({.low = 1, .high = 6, .endpoint = true}, {10})`.
  [[nodiscard]] DNDarray integers(const IntegerRange& range, const Shape& shape = {}, const ArrayOptions& options = {});
  /// Draws in [low, high), one or both of which are arrays.
  [[nodiscard]] DNDarray integers(const DNDarray& low, const Operand& high, const Shape& shape = {},
                                  const ArrayOptions& options = {});
  [[nodiscard]] DNDarray integers(const Scalar& low, const DNDarray& high, const Shape& shape = {},
                                  const ArrayOptions& options = {});
  /// Draws n random bytes, as uint8.
  [[nodiscard]] DNDarray bytes(std::int64_t n, const ArrayOptions& options = {});

  /// Draws with density exp(-x).
  [[nodiscard]] DNDarray standard_exponential(const Shape& shape = {}, const ArrayOptions& options = {});
  /// Draws ratios of two normal numbers (Cauchy).
  [[nodiscard]] DNDarray standard_cauchy(const Shape& shape = {}, const ArrayOptions& options = {});
  /// Draws with density exp(-x / scale) / scale.
  [[nodiscard]] DNDarray exponential(const Operand& scale = 1.0, const Shape& shape = {},
                                     const ArrayOptions& options = {});
  /// Draws with density x^(gamma_shape - 1) exp(-x) up to a factor.
  [[nodiscard]] DNDarray standard_gamma(const Operand& gamma_shape, const Shape& shape = {},
                                        const ArrayOptions& options = {});
  /// Draws sums of df squared normal numbers.
  [[nodiscard]] DNDarray chisquare(const Operand& df, const Shape& shape = {}, const ArrayOptions& options = {});
  /// Draws Student's t with df degrees of freedom.
  [[nodiscard]] DNDarray standard_t(const Operand& df, const Shape& shape = {}, const ArrayOptions& options = {});
  /// Draws standard exponential numbers to the power 1 / a.
  [[nodiscard]] DNDarray weibull(const Operand& a, const Shape& shape = {}, const ArrayOptions& options = {});
  /// Draws with density a (1 + x)^(-a - 1) (Lomax).
  [[nodiscard]] DNDarray pareto(const Operand& a, const Shape& shape = {}, const ArrayOptions& options = {});
  /// Draws with density a x^(a - 1) on (0, 1).
  [[nodiscard]] DNDarray power(const Operand& a, const Shape& shape = {}, const ArrayOptions& options = {});
  /// Draws lengths of vectors of two normal numbers with deviation scale.
  [[nodiscard]] DNDarray rayleigh(const Operand& scale = 1.0, const Shape& shape = {},
                                  const ArrayOptions& options = {});
  /// Draws standard gamma numbers times scale.
  [[nodiscard]] DNDarray gamma(const Operand& gamma_shape, const Operand& scale = 1.0, const Shape& shape = {},
                               const ArrayOptions& options = {});
  /// Draws with density x^(a - 1) (1 - x)^(b - 1) up to a factor, on (0, 1).
  [[nodiscard]] DNDarray beta(const Operand& a, const Operand& b, const Shape& shape = {},
                              const ArrayOptions& options = {});
  /// Draws sums of df squared normal numbers whose squared means sum to nonc.
  [[nodiscard]] DNDarray noncentral_chisquare(const Operand& df, const Operand& nonc, const Shape& shape = {},
                                              const ArrayOptions& options = {});
  /// Draws ratios of two chi-square numbers, each over its degrees of freedom.
  [[nodiscard]] DNDarray f(const Operand& dfnum, const Operand& dfden, const Shape& shape = {},
                           const ArrayOptions& options = {});
  /// Draws with density exp(-|x - loc| / scale) / (2 scale).
  [[nodiscard]] DNDarray laplace(const Operand& loc = 0.0, const Operand& scale = 1.0, const Shape& shape = {},
                                 const ArrayOptions& options = {});
  /// Draws with distribution function 1 / (1 + exp(-(x - loc) / scale)).
  [[nodiscard]] DNDarray logistic(const Operand& loc = 0.0, const Operand& scale = 1.0, const Shape& shape = {},
                                  const ArrayOptions& options = {});
  /// Draws with distribution function exp(-exp(-(x - loc) / scale)).
  [[nodiscard]] DNDarray gumbel(const Operand& loc = 0.0, const Operand& scale = 1.0, const Shape& shape = {},
                                const ArrayOptions& options = {});
  /// Draws exp of normal numbers with mean `mean` and deviation sigma.
  [[nodiscard]] DNDarray lognormal(const Operand& mean = 0.0, const Operand& sigma = 1.0, const Shape& shape = {},
                                   const ArrayOptions& options = {});
  /// Draws with density exp(kappa cos(x - mu)) up to a factor, on [-pi, pi].
  [[nodiscard]] DNDarray vonmises(const Operand& mu, const Operand& kappa, const Shape& shape = {},
                                  const ArrayOptions& options = {});
  /// Draws from the inverse Gaussian distribution.
  [[nodiscard]] DNDarray wald(const Operand& mean, const Operand& scale, const Shape& shape = {},
                              const ArrayOptions& options = {});
  /// Draws with a density that rises from left to mode and falls to right.
  [[nodiscard]] DNDarray triangular(const Operand& left, const Operand& mode, const Operand& right,
                                    const Shape& shape = {}, const ArrayOptions& options = {});
  /// Draws as `f`, with a noncentral chi-square number as numerator.
  [[nodiscard]] DNDarray noncentral_f(const Operand& dfnum, const Operand& dfden, const Operand& nonc,
                                      const Shape& shape = {}, const ArrayOptions& options = {});

  /// Draws numbers of events in an interval that has lam on average, as int64.
  [[nodiscard]] DNDarray poisson(const Operand& lam = 1.0, const Shape& shape = {}, const ArrayOptions& options = {});
  /// Draws numbers of trials up to the first success, as int64.
  [[nodiscard]] DNDarray geometric(const Operand& p, const Shape& shape = {}, const ArrayOptions& options = {});
  /// Draws k >= 1 with probability k^-a up to a factor, as int64.
  [[nodiscard]] DNDarray zipf(const Operand& a, const Shape& shape = {}, const ArrayOptions& options = {});
  /// Draws k >= 1 with probability p^k / k up to a factor, as int64.
  [[nodiscard]] DNDarray logseries(const Operand& p, const Shape& shape = {}, const ArrayOptions& options = {});
  /// Draws numbers of successes in n trials, as int64.
  [[nodiscard]] DNDarray binomial(const Operand& n, const Operand& p, const Shape& shape = {},
                                  const ArrayOptions& options = {});
  /// Draws numbers of failures before the n-th success, as int64.
  [[nodiscard]] DNDarray negative_binomial(const Operand& n, const Operand& p, const Shape& shape = {},
                                           const ArrayOptions& options = {});
  /// Draws numbers of good ones among nsample drawn without replacement, as int64.
  [[nodiscard]] DNDarray hypergeometric(const Operand& ngood, const Operand& nbad, const Operand& nsample,
                                        const Shape& shape = {}, const ArrayOptions& options = {});

  /// Returns 0 .. n - 1 in random order, as int64. No rank holds more than its block. Local. Throws ValueError for a
  /// dtype that does not hold them.
  [[nodiscard]] DNDarray permutation(std::int64_t n, const ArrayOptions& options = {});
  /// Returns the rows of `x`, or its slices along another axis, in random order; the layout stays. Collective along the
  /// split axis: one exchange of the rows, without messages about them.
  [[nodiscard]] DNDarray permutation(const DNDarray& x, int axis = 0);
  /// Shuffles in place. Throws ValueError for an array that is not writable.
  void shuffle(DNDarray& x, int axis = 0);
  void shuffle(Selection&& x, int axis = 0);
  /// Puts each line along `axis` in a random order of its own, cut evenly; for nullopt all elements together.
  /// Communicates as argsort and take_along_axis, or as permutation. Collective.
  [[nodiscard]] DNDarray permuted(const DNDarray& x, std::optional<int> axis = std::nullopt);

  /// Chooses elements of 0 .. n - 1, as int64. Without p: local. With a split p: collective, two allreduces and those
  /// of cumsum and searchsorted; without replacement, one and those of topk and reshape. Throws ValueError if p is
  /// negative, does not sum to 1, or leaves too few elements.
  [[nodiscard]] DNDarray choice(std::int64_t n, const Shape& shape = {}, const ChoiceOptions& options = {});
  /// Chooses elements of `x` along an axis, which the axes of `shape` replace, as `take`. Collective.
  [[nodiscard]] DNDarray choice(const DNDarray& x, const Shape& shape = {}, const ChoiceOptions& options = {});

  /// Draws probability vectors with density proportional to the product of x_i^(alpha_i - 1), of shape (*shape,
  /// alpha.size()); 0 where alpha is 0. Throws ValueError unless alpha are finite numbers >= 0.
  [[nodiscard]] DNDarray dirichlet(const std::vector<double>& alpha, const Shape& shape = {},
                                   const ArrayOptions& options = {});
  /// Counts how often each of the outcomes with probabilities `pvals` occurs in n trials: int64, (*shape,
  /// pvals.size()). The last outcome has the probability that the others leave. Throws ValueError for numbers outside 0
  /// to 1, for none, and if the others leave less than 0.
  [[nodiscard]] DNDarray multinomial(std::int64_t n, const std::vector<double>& pvals, const Shape& shape = {},
                                     const ArrayOptions& options = {});
  /// Counts outcomes for each number of trials in an array, which broadcasts to `shape` or has it. Throws TypeError
  /// unless these are whole numbers.
  [[nodiscard]] DNDarray multinomial(const DNDarray& n, const std::vector<double>& pvals, const Shape& shape = {},
                                     const ArrayOptions& options = {});
  /// Counts each color among `nsample` draws without replacement from colors[i] of each: int64, (*shape,
  /// colors.size()). Throws ValueError for negative numbers, a sum of 2^53 and more, and more draws than there
  /// are.
  [[nodiscard]] DNDarray multivariate_hypergeometric(const std::vector<std::int64_t>& colors, std::int64_t nsample,
                                                     const Shape& shape = {}, const ArrayOptions& options = {});
  /// Draws normal vectors of shape (*shape, k) with the given mean (k) and covariance (k, k), whose lower triangle is
  /// read, on their communicator. Throws ValueError unless it is positive semidefinite, CommError unless they share
  /// one. Collective if mean or covariance are split.
  [[nodiscard]] DNDarray multivariate_normal(const DNDarray& mean, const DNDarray& covariance, const Shape& shape = {},
                                             const ArrayOptions& options = {});

  /// Takes `counters` counters from the sequence for an array on `comm`. For functions built on generators.
  detail::Stretch reserve(const Communicator& comm, std::int64_t counters);

 private:
  DNDarray integers_between(const Operand& low, const Operand& high, const Shape& shape, const ArrayOptions& options);
  friend Generator& default_generator();
  State state_;
  bool by_group_ = false;  ///< whether each communicator's ranks have a sequence of their own
};

/// Returns the generator of the functions in `<heatpp/random/random.hpp>`; it starts with seed 0 on every rank. Draws
/// of some ranks on a communicator of their own do not change what others draw: each group of ranks has its own
/// position, and all groups except that of default_comm() have their own keys, so that their numbers differ. If a code
/// on some ranks of a program calls `use_comm` for them, it draws what a program of these ranks alone would draw.
[[nodiscard]] Generator& default_generator();

/// Makes a generator as NumPy's default_rng does.
[[nodiscard]] inline Generator default_rng(std::uint64_t seed = 0) { return Generator(seed); }

/// Restarts the default generator with a seed, which must be equal on all ranks. Local.
void seed(std::uint64_t value);
/// Restarts it with a seed from the system's entropy. Collective over default_comm(): one broadcast.
void seed();
/// Returns the state of the default generator.
[[nodiscard]] State get_state();
/// Sets the default generator's state, which must be equal on all ranks.
void set_state(const State& state);

}  // namespace heatpp::random
