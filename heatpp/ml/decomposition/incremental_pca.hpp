#pragma once

#include <heatpp/ml/decomposition/principal_components.hpp>

namespace heatpp {

struct IncrementalPcaOptions {
  /// At most; as many as rows were seen while these are fewer. nullopt: min(samples of the first batch, features)
  std::optional<std::int64_t> n_components = std::nullopt;
  bool whiten = false;                                    ///< scale the components to variance 1
  std::optional<std::int64_t> batch_size = std::nullopt;  ///< rows that fit takes at a time; nullopt: 5 features
};

/// Principal components of rows that come in batches, of which nothing but the components is kept: those of the batch
/// and of the components so far, which stand for all before it (Ross, Lim, Lin, Yang: Incremental learning for robust
/// visual tracking, 2008), by scikit-learn's rules. What the components leave out of a batch is lost; for up to some
/// thousand features PCA::partial_fit loses nothing. In float64 whatever the rows are; no batch is written to.
class IncrementalPCA : public PrincipalComponents {
 public:
  explicit IncrementalPCA(const IncrementalPcaOptions& options = {})
      : PrincipalComponents("IncrementalPCA", options.whiten), options_(options) {}
  [[nodiscard]] const IncrementalPcaOptions& options() const { return options_; }

  /// Learns from (samples, features) rows anew, batch by batch in the order of the rows, so that the result does not
  /// depend on how they are cut; a batch of fewer rows than components is joined to the one before it. Each rank works
  /// on what it has of a batch: rows that come in batches spread over all ranks are faster by partial_fit. Collective:
  /// as partial_fit for each batch. Throws ValueError as partial_fit, and for fewer rows than components.
  IncrementalPCA& fit(const Rows& x);
  /// Learns from one batch of rows, too. Collective: one all-reduce of 24 (features + 1) bytes, an all-gather of 8 and
  /// one of at most 8 features min(samples, features) bytes a rank; nothing where rows are replicated. Throws
  /// ValueError for other features than before, fewer features than components, fewer than two rows in the first batch,
  /// and numbers that are not finite.
  IncrementalPCA& partial_fit(const Rows& x);
  [[nodiscard]] DNDarray fit_transform(const Rows& x) { return fit(x).transform(x); }

  /// What save_model writes of it. Local. Throws NotFittedError before fit.
  [[nodiscard]] ModelState state() const;
  /// The fitted estimator again, of which partial_fit goes on. Throws ValueError for a state of another class or one
  /// that contradicts itself.
  [[nodiscard]] static IncrementalPCA from_state(const ModelState& state);

  /// The variances (features,) of all columns, divided by samples. Throws NotFittedError before fit.
  [[nodiscard]] const DNDarray& var() const;

 private:
  /// Of all rows so far, float64.
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
