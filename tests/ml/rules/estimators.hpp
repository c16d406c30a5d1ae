#pragma once

#include "../data.hpp"

#include <memory>

/// What a fit learns from.
struct Given {
  ht::DNDarray rows;
  std::optional<ht::DNDarray> targets = std::nullopt, weights = std::nullopt;
};

/// An estimator of any class.
class Model {
 public:
  virtual ~Model() = default;
  virtual void fit(const Given& given) = 0;
  /// What each method that gives something for each row gives for these, on every rank. Of classes without one: what
  /// they know of the rows that were learnt from.
  struct Result {
    std::string method;
    at::Tensor value;
  };
  [[nodiscard]] virtual std::vector<Result> of(const ht::DNDarray& rows) const = 0;
  /// All that can be asked only after fit.
  struct Call {
    std::string method;
    bool takes_rows;
    std::function<void(const Model& model, const ht::DNDarray& rows, const ht::DNDarray& targets)> call;
  };
  [[nodiscard]] virtual std::vector<Call> calls() const = 0;
  [[nodiscard]] virtual std::unique_ptr<Model> copy() const = 0;
  virtual void assign(const Model& other) = 0;
  /// Written to a file and read; none where the class has no state.
  [[nodiscard]] virtual std::unique_ptr<Model> there_and_back() const = 0;
  /// Made of a state without the options that the first states did not have yet.
  [[nodiscard]] virtual std::unique_ptr<Model> of_older_state() const = 0;
  [[nodiscard]] virtual bool takes_weights() const = 0;
};

enum class Targets { none, labels, numbers };

/// A class, and where its documentation says that rules do not hold.
struct Estimator {
  std::string name;
  std::shared_ptr<const Model> unfitted;
  Targets targets = Targets::none;
  /// How far results of other cuts may be, relative to the largest: sums of 75 rows in another order, and what follows
  /// from their last bits. Iterations that end by a tolerance have less.
  double tolerance = 1e-9;
  bool missing = false;         ///< NaN is a value that rows may have
  bool of_no_rows = false;      ///< there may be none
  bool any_numbers = false;     ///< nothing but their shape is looked at in fit
  bool learns_nothing = false;  ///< not even the number of features
  bool whole_numbers = false;   ///< and no others
  bool of_labels = false;       ///< of which there is one column, and may be none
  bool composed = false;        ///< errors are those of the classes that it is made of
  bool by_cut = false;          ///< what is learnt depends on how rows are cut
  bool keeps_cut = false;       ///< what is learnt is cut as the rows are, and only ranks that have it can be asked
  bool checks_rows = false;     ///< predict refuses rows that are not finite
  bool fields = false;          ///< rows are points, and their number what must agree
  bool weight_is_rows = false;  ///< a weight of 2 is the row twice
};

/// All that docs/machine-learning.md names.
[[nodiscard]] const std::vector<Estimator>& estimators();
