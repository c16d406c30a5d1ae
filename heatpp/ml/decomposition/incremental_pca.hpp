#pragma once

#include <heatpp/ml/decomposition/principal_components.hpp>

namespace heatpp {

struct IncrementalPcaOptions {
  /// At most this number, and the rows so far. nullopt: min(samples of the first batch, features)
  std::optional<std::int64_t> n_components = std::nullopt;
  bool whiten = false;                                    ///< scale the components to variance 1
  std::optional<std::int64_t> batch_size = std::nullopt;  ///< rows of a batch in fit; nullopt: 5 features
};

/// Principal components of rows that come in batches. The model keeps only components: each update uses those of the
/// batch and the previous ones, which represent all earlier rows (Ross, Lim, Lin, Yang: Incremental learning for robust
/// visual tracking, 2008), with the rules of scikit-learn. An update loses what lies outside the components;
/// PCA::partial_fit loses nothing, for up to some thousand features. Computes in float64; never writes to a batch.
class IncrementalPCA : public PrincipalComponents {
 public:
  explicit IncrementalPCA(const IncrementalPcaOptions& options = {})
      : PrincipalComponents("IncrementalPCA", options.whiten), options_(options) {}
  [[nodiscard]] const IncrementalPcaOptions& options() const { return options_; }

  /// Fits to (samples, features) rows from scratch, batch by batch in their order, so that the result does not depend
  /// on the cut. A batch with fewer rows than components is joined to the one before it. Each rank works on its rows of
  /// a batch: batches that are spread over all ranks are faster with partial_fit. Collective: as partial_fit for each
  /// batch. Throws ValueError as partial_fit, and for fewer rows than components.
  IncrementalPCA& fit(const Rows& x);
  /// Updates the model with one batch of rows. Collective: one all-reduce of 24 (features + 1) bytes, an all-gather of
  /// 8 and one of at most 8 features min(samples, features) bytes a rank; none if rows are replicated. Throws
  /// ValueError for other features than before, fewer features than components, fewer than two rows in the first batch,
  /// and numbers that are not finite.
  IncrementalPCA& partial_fit(const Rows& x);
  [[nodiscard]] DNDarray fit_transform(const Rows& x) { return fit(x).transform(x); }

  /// Returns the state that save_model writes. Local. Throws NotFittedError before fit.
  [[nodiscard]] ModelState state() const;
  /// Restores the fitted estimator, from which partial_fit continues. Throws ValueError for a state of another class or
  /// one that contradicts itself.
  [[nodiscard]] static IncrementalPCA from_state(const ModelState& state);

  /// Returns the variances (features,) of all columns, divided by samples. Throws NotFittedError before fit.
  [[nodiscard]] const DNDarray& var() const;

 private:
  /// Sums over all rows so far, float64.
  struct Seen {
    DNDarray mean, var, components, singular_values;
  };
  [[nodiscard]] std::int64_t wanted(const Rows& x) const;
  [[nodiscard]] std::int64_t components_of(const char* op, const Rows& x) const;
  void learn(const char* op, const Rows& x);

  IncrementalPcaOptions options_;
  std::optional<Seen> seen_;
};

}  // namespace heatpp
