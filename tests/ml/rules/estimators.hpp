#pragma once

#include "../data.hpp"

#include <memory>

/// The arguments of a fit.
struct Given {
  ht::DNDarray rows;
  std::optional<ht::DNDarray> targets = std::nullopt, weights = std::nullopt;
};

/// An estimator of any class.
class Model {
 public:
  virtual ~Model() = default;
  virtual void fit(const Given& given) = 0;
  /// The result of each method that returns something for each row, on every rank. For classes without such a method:
  /// the fitted state for the rows of the fit.
  struct Result {
    std::string method;
    at::Tensor value;
  };
  [[nodiscard]] virtual std::vector<Result> of(const ht::DNDarray& rows) const = 0;
  /// A method that requires fit.
  struct Call {
    std::string method;
    bool takes_rows;
    std::function<void(const Model& model, const ht::DNDarray& rows, const ht::DNDarray& targets)> call;
  };
  [[nodiscard]] virtual std::vector<Call> calls() const = 0;
  [[nodiscard]] virtual std::unique_ptr<Model> copy() const = 0;
  virtual void assign(const Model& other) = 0;
  /// Returns the model, written to a file and read; none if the class has no state.
  [[nodiscard]] virtual std::unique_ptr<Model> there_and_back() const = 0;
  /// Returns the model of a state without options that older versions did not have.
  [[nodiscard]] virtual std::unique_ptr<Model> of_older_state() const = 0;
  [[nodiscard]] virtual bool takes_weights() const = 0;
};

enum class Targets { none, labels, numbers };

/// A class, and the rules that do not hold for it, as its documentation says.
struct Estimator {
  std::string name;
  std::shared_ptr<const Model> unfitted;
  Targets targets = Targets::none;
  /// The relative difference allowed for other cuts: sums of 75 rows in another order, and what follows from their last
  /// bits. Iterations that end by a tolerance are less accurate.
  double tolerance = 1e-9;
  bool missing = false;         ///< rows may contain NaN
  bool of_no_rows = false;      ///< arrays without rows are allowed
  bool any_numbers = false;     ///< fit uses only the shape
  bool learns_nothing = false;  ///< fit does not even store the number of features
  bool whole_numbers = false;   ///< only whole numbers are allowed
  bool of_labels = false;       ///< takes one column of labels, which may be empty
  bool composed = false;        ///< errors are those of the classes that it is made of
  bool by_cut = false;          ///< the fitted state depends on how rows are cut
  bool keeps_cut = false;       ///< the fitted state is cut as the rows, and only ranks that hold it can be asked
  bool checks_rows = false;     ///< predict refuses rows that are not finite
  bool fields = false;          ///< rows are points, and their number must agree
  bool weight_is_rows = false;  ///< a weight of 2 equals the row twice
};

/// All estimators that docs/machine-learning.md names.
[[nodiscard]] const std::vector<Estimator>& estimators();
