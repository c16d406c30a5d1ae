#pragma once

#include <heatpp/ml/estimator.hpp>

namespace heatpp {

/// Where both factors start: from the signs of the first singular vectors (Boutsidis, Gallopoulos: SVD based
/// initialization, 2008), what is 0 in them being replaced by the mean of all numbers or not, or from random numbers.
enum class NmfInit { nndsvda, nndsvd, random };
/// How factors are improved: one component after another to where it is best (Cichocki, Phan: Fast local algorithms for
/// large scale nonnegative matrix and tensor factorizations, 2009), or by factors (Lee, Seung 2001), which leave a 0
/// as it is.
enum class NmfSolver { coordinate_descent, multiplicative };

struct NmfOptions {
  std::optional<std::int64_t> n_components = std::nullopt;  ///< nullopt: features
  std::optional<NmfInit> init =
      std::nullopt;  ///< nullopt: nndsvda, or random for more components than rows or features
  NmfSolver solver = NmfSolver::coordinate_descent;
  /// Coordinate descent ends where projected gradients are at most this part of those of the first iteration, the other
  /// one where the error falls by less than this part of the first error in ten iterations.
  double tol = 1e-4;
  std::int64_t max_iterations = 200;
  double alpha_w = 0;                            ///< penalty of the coordinates, times features
  std::optional<double> alpha_h = std::nullopt;  ///< of the components, times samples; nullopt: alpha_w
  double l1_ratio = 0;     ///< of the penalties: the part of the sum of sizes, the rest being half that of squares
  std::uint64_t seed = 0;  ///< of random: the same for any number of ranks
  FitCallback progress = {};
};

/// Rows without negative numbers as sums of few components without negative numbers: |X - W H|^2 / 2, and penalties,
/// are made small by scikit-learn's rules, in float64 whatever the rows are. W is cut as the rows, H is on every rank.
class NMF {
 public:
  explicit NMF(const NmfOptions& options = {}) : options_(options) {}
  [[nodiscard]] const NmfOptions& options() const { return options_; }

  /// Learns from (samples, features) rows. Collective, for f features and k components, nothing where rows are
  /// replicated: one all-reduce of 24 bytes, one of 8 (k (k + f) + 3) for each iteration, of which each is a pass over
  /// the rows, and one of 16; to start from singular vectors those of TruncatedSVD and one of 8 (2 k + 1). Throws
  /// ValueError for options out of range, more components than rows or features with init nndsvd and nndsvda, and
  /// numbers that are negative or not finite.
  NMF& fit(const Rows& x) {
    static_cast<void>(fit_transform(x));
    return *this;
  }
  /// The same; returns the coordinates W (samples, components), split as the rows.
  DNDarray fit_transform(const Rows& x);
  /// The coordinates (samples, components) of rows, for which |x - w H|^2 / 2 and the penalty are small, split as they
  /// are. Collective: one all-reduce of 24 bytes, and one of 8 for each iteration, or for ten of the multiplicative.
  /// Throws NotFittedError before fit, ValueError for another number of features, and as fit for numbers.
  [[nodiscard]] DNDarray transform(const Rows& x) const;
  /// The rows (samples, features) that have these coordinates. Local for arrays.
  [[nodiscard]] DNDarray inverse_transform(const Rows& w) const;

  /// What save_model writes of it. Local. Throws NotFittedError before fit.
  [[nodiscard]] ModelState state() const;
  /// The fitted estimator again. Throws ValueError for a state of another class or one that contradicts itself.
  [[nodiscard]] static NMF from_state(const ModelState& state);

  // What was learnt. All throw NotFittedError before fit.
  [[nodiscard]] const DNDarray& components() const;   ///< H (components, features), on every rank
  [[nodiscard]] double reconstruction_error() const;  ///< |X - W H|, Frobenius norm
  [[nodiscard]] std::int64_t iterations() const;
  [[nodiscard]] bool converged() const;  ///< or else iterations ended before, which the log is warned of

 private:
  struct Learnt {
    DNDarray components;
    double error;
    std::int64_t iterations;
    bool converged;
  };
  [[nodiscard]] const Learnt& learnt(const char* what) const;

  NmfOptions options_;
  std::optional<Learnt> learnt_;
};

}  // namespace heatpp
