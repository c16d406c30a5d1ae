#pragma once

#include <heatpp/core/factories.hpp>
#include <heatpp/ops/operands/operand.hpp>

#include <map>

namespace heatpp::random::detail {
/// A stretch of a sequence of random numbers.
struct Stretch {
  std::uint64_t key = 0;
  std::uint64_t first = 0;  ///< counter
};
}  // namespace heatpp::random::detail

namespace heatpp::random {

/// All that a generator's numbers depend on.
struct State {
  std::uint64_t key = 0;       ///< the seed, or what `spawn` made of it
  std::uint64_t position = 0;  ///< counters that have been used
  std::uint64_t spawned = 0;   ///< children made so far
  /// Of the default generator: counters that this rank has used on communicators of other ranks than all, by
  /// Communicator::group().
  std::map<std::uint64_t, std::uint64_t> positions_of_groups = {};
  friend bool operator==(const State&, const State&) = default;
};

/// Options of choice.
struct ChoiceOptions {
  bool replace = true;                              ///< whether an element may come more than once
  std::optional<DNDarray> p = std::nullopt;         ///< probability of each element; nullopt: all alike
  int axis = 0;                                     ///< of an array, along which it is chosen from
  std::optional<int> split = std::nullopt;          ///< axis of the positions to cut evenly
  std::optional<Communicator> comm = std::nullopt;  ///< nullopt: p's, or default_comm()
};

/// Whole numbers from `low` up to `high`.
struct IntegerRange {
  std::int64_t low = 0;
  std::int64_t high = 0;
  bool endpoint = false;  ///< whether `high` is among them
};

/// Counter-based random numbers (Philox4x32-10, Salmon et al., SC'11). An element is a function of the generator's
/// state and the element's index in the whole array, so an array has the same elements for any number of ranks and any
/// split. Every call moves the position on by the array's size, alike on all ranks, and communicates nothing but, of
/// parameters that are arrays, 8 bytes that say whether they are in range. The bits of uniform, normal and whole
/// numbers are the same on every machine. They are drawn by the processor, and copied where another device is asked
/// for.
///
/// A generator is for ranks that make the same calls of it: groups of ranks that draw on communicators of their own
/// have one each, as `spawn` gives.
///
/// Parameters are numbers or arrays, which broadcast to `shape`; shape {} means the one they broadcast to. Arrays are
/// moved to the result's layout if it is another. Where one is NaN, numbers that are not whole are NaN. Errors, on all
/// ranks: ValueError for parameters out of range, NaN among them for whole and uniform numbers, and for shapes that do
/// not broadcast; TypeError for dtypes that cannot hold the numbers, and for complex parameters. A dtype of few bits
/// keeps as many of a drawn whole number beyond its range, as astype.
class Generator {
 public:
  explicit Generator(std::uint64_t seed = 0) : state_{.key = seed} {}

  [[nodiscard]] const State& get_state() const { return state_; }
  void set_state(const State& state) { state_ = state; }
  /// Generators with keys of their own, others at every call.
  [[nodiscard]] std::vector<Generator> spawn(int n);
  /// The same sequence `times` * 2^48 elements further on.
  [[nodiscard]] Generator jumped(int times = 1) const;

  /// Uniform in [0, 1): multiples of 2^-24 for float32, 2^-53 for float64, 2^-11 for float16, 2^-8 for bfloat16.
  [[nodiscard]] DNDarray random(const Shape& shape = {}, const ArrayOptions& options = {});
  /// Uniform in [low, high). Throws ValueError where the dtype does not hold both and their difference.
  [[nodiscard]] DNDarray uniform(const Operand& low = 0.0, const Operand& high = 1.0, const Shape& shape = {},
                                 const ArrayOptions& options = {});
  /// Normal with mean 0 and deviation 1 (Box and Muller): up to 6.7 for float32, 8.6 for float64.
  [[nodiscard]] DNDarray standard_normal(const Shape& shape = {}, const ArrayOptions& options = {});
  [[nodiscard]] DNDarray normal(const Operand& loc = 0.0, const Operand& scale = 1.0, const Shape& shape = {},
                                const ArrayOptions& options = {});
  /// Whole numbers in [low, high), or [0, low) without `high`, each as likely (Lemire 2019); int64 unless given.
  [[nodiscard]] DNDarray integers(std::int64_t low, std::optional<std::int64_t> high = std::nullopt,
                                  const Shape& shape = {}, const ArrayOptions& options = {});
  /// Whole numbers in [0, high) of a shape in braces.
  [[nodiscard]] DNDarray integers(std::int64_t high, std::initializer_list<std::int64_t> shape,
                                  const ArrayOptions& options = {}) {
    return integers(0, high, shape, options);
  }
  /// The same for a range whose end may belong to it: `integers({.low = 1, .high = 6, .endpoint = true}, {10})`.
  [[nodiscard]] DNDarray integers(const IntegerRange& range, const Shape& shape = {}, const ArrayOptions& options = {});
  /// The same in [low, high) where one of them or both are arrays.
  [[nodiscard]] DNDarray integers(const DNDarray& low, const Operand& high, const Shape& shape = {},
                                  const ArrayOptions& options = {});
  [[nodiscard]] DNDarray integers(const Scalar& low, const DNDarray& high, const Shape& shape = {},
                                  const ArrayOptions& options = {});
  /// The bits of so many random bytes, as uint8.
  [[nodiscard]] DNDarray bytes(std::int64_t n, const ArrayOptions& options = {});

#define HEATPP_RANDOM0(name, sampler, doc) \
  [[nodiscard]] DNDarray name(const Shape& shape = {}, const ArrayOptions& options = {});
#define HEATPP_RANDOM1(name, sampler, p, p_default, doc) \
  [[nodiscard]] DNDarray name(const Operand& p p_default, const Shape& shape = {}, const ArrayOptions& options = {});
#define HEATPP_RANDOM2(name, sampler, p, p_default, q, q_default, doc)                                         \
  [[nodiscard]] DNDarray name(const Operand& p p_default, const Operand& q q_default, const Shape& shape = {}, \
                              const ArrayOptions& options = {});
#define HEATPP_RANDOM3(name, sampler, p, p_default, q, q_default, r, r_default, doc)                              \
  [[nodiscard]] DNDarray name(const Operand& p p_default, const Operand& q q_default, const Operand& r r_default, \
                              const Shape& shape = {}, const ArrayOptions& options = {});
#include <heatpp/random/distributions.inc>
#undef HEATPP_RANDOM0
#undef HEATPP_RANDOM1
#undef HEATPP_RANDOM2
#undef HEATPP_RANDOM3

  /// 0 .. n - 1 in random order, as int64. No rank holds more than its block. Local. Throws ValueError for a dtype that
  /// does not hold them.
  [[nodiscard]] DNDarray permutation(std::int64_t n, const ArrayOptions& options = {});
  /// The rows of `x` in random order, or what lies along another axis; the layout stays. Collective along the split
  /// axis: one exchange of the rows, without messages about them.
  [[nodiscard]] DNDarray permutation(const DNDarray& x, int axis = 0);
  /// The same in place. Throws ValueError for an array that is not writable.
  void shuffle(DNDarray& x, int axis = 0);
  void shuffle(Selection&& x, int axis = 0);
  /// Each line along `axis` in a random order of its own, cut evenly; all elements together for nullopt. Communicates
  /// as argsort and take_along_axis, or as permutation. Collective.
  [[nodiscard]] DNDarray permuted(const DNDarray& x, std::optional<int> axis = std::nullopt);

  /// Elements of 0 .. n - 1, as int64. Without p: local. With a split p: collective, two allreduces and what
  /// cumsum and searchsorted do, or without replacement one and what topk and reshape do. Throws ValueError where p is
  /// negative, does not sum to 1, or leaves too few.
  [[nodiscard]] DNDarray choice(std::int64_t n, const Shape& shape = {}, const ChoiceOptions& options = {});
  /// Elements of `x` along an axis, which the axes of `shape` replace, as `take`. Collective.
  [[nodiscard]] DNDarray choice(const DNDarray& x, const Shape& shape = {}, const ChoiceOptions& options = {});

  /// Probability vectors with density of the product of x_i^(alpha_i - 1), of shape (*shape, alpha.size()); 0 where
  /// alpha is. Throws ValueError for other alpha than finite numbers >= 0.
  [[nodiscard]] DNDarray dirichlet(const std::vector<double>& alpha, const Shape& shape = {},
                                   const ArrayOptions& options = {});
  /// How often each of the outcomes with probabilities `pvals` comes in n trials: int64, (*shape, pvals.size()). The
  /// last outcome has the probability that the others leave. Throws ValueError for numbers outside 0 to 1, for none,
  /// and where the others leave less than 0.
  [[nodiscard]] DNDarray multinomial(std::int64_t n, const std::vector<double>& pvals, const Shape& shape = {},
                                     const ArrayOptions& options = {});
  /// The same for each of the numbers of trials in an array, which broadcasts to `shape`, or has it. Throws TypeError
  /// where they are no whole numbers.
  [[nodiscard]] DNDarray multinomial(const DNDarray& n, const std::vector<double>& pvals, const Shape& shape = {},
                                     const ArrayOptions& options = {});
  /// How many of each color come when `nsample` are drawn without replacement from colors[i] of each: int64,
  /// (*shape, colors.size()). Throws ValueError for negative numbers, a sum of 2^53 and more, and more draws than there
  /// are.
  [[nodiscard]] DNDarray multivariate_hypergeometric(const std::vector<std::int64_t>& colors, std::int64_t nsample,
                                                     const Shape& shape = {}, const ArrayOptions& options = {});
  /// Normal vectors of shape (*shape, k) with the given mean (k) and covariance (k, k), of which the lower triangle is
  /// read, on their communicator. Throws ValueError where it is not positive semidefinite, CommError where they do not
  /// share one. Collective where mean or covariance are split.
  [[nodiscard]] DNDarray multivariate_normal(const DNDarray& mean, const DNDarray& covariance, const Shape& shape = {},
                                             const ArrayOptions& options = {});

  /// Takes `counters` counters out of the sequence for an array on `comm`. For functions built on generators.
  detail::Stretch reserve(const Communicator& comm, std::int64_t counters);

 private:
  DNDarray integers_between(const Operand& low, const Operand& high, const Shape& shape, const ArrayOptions& options);
  friend Generator& default_generator();
  State state_;
  bool by_group_ = false;  ///< whether the ranks of each communicator have a sequence of their own
};

/// The generator of the functions in `<heatpp/random/random.hpp>`; it starts with seed 0 on every rank. What some ranks
/// draw of it on a communicator of their own leaves what others draw as it is: each group of ranks has a position of
/// its own, and all groups but that of default_comm() have keys of their own, so that their numbers differ. A code that
/// runs on some ranks of a program makes them the default by `use_comm`, to draw what a program of them alone would.
[[nodiscard]] Generator& default_generator();

/// A generator as NumPy's default_rng makes one.
[[nodiscard]] inline Generator default_rng(std::uint64_t seed = 0) { return Generator(seed); }

/// Starts the default generator again with a seed that every rank must give alike. Local.
void seed(std::uint64_t value);
/// The same with a seed from the system's entropy. Collective over default_comm(): one broadcast.
void seed();
/// The state of the default generator.
[[nodiscard]] State get_state();
/// Puts the default generator into a state, which every rank must give alike.
void set_state(const State& state);

}  // namespace heatpp::random
