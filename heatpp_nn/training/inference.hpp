#pragma once

#include <heatpp/core/dndarray.hpp>
#include <heatpp_io/source.hpp>
#include <heatpp_nn/data/transforms.hpp>
#include <heatpp_nn/parallel/data_parallel.hpp>
#include <heatpp_nn/training/detail/forwarded.hpp>
#include <heatpp_nn/losses/loss_value.hpp>

#include <filesystem>
#include <functional>
#include <typeinfo>
#include <map>

namespace heatpp::nn {

/// A function of outputs and targets, or of outputs, targets and the network's inputs. It takes one tensor of each, or
/// `const Tensors&` if there are several. Tensors come by position, and row weights are among the targets:
///     [](const at::Tensor& output, const Tensors& targets) { ... }
template <class Value>
class Criterion {
 public:
  template <class F>
  requires(!std::same_as<F, Criterion>) Criterion(F f)
      : call_([f = std::move(f)](const Tensors& outputs, const Tensors& targets,
                                 const Tensors& inputs) mutable -> Value {
          if constexpr (fits<F, One, One>) return call<One, One>(f, outputs, targets, inputs);
          else if constexpr (fits<F, One, All>) return call<One, All>(f, outputs, targets, inputs);
          else if constexpr (fits<F, All, One>) return call<All, One>(f, outputs, targets, inputs);
          else {
            static_assert(fits<F, All, All>,
                          "a loss or metric takes (const at::Tensor& output, const at::Tensor& target), and the inputs "
                          "as a third if it needs them, each also as const Tensors&; LibTorch's functions have more "
                          "parameters and go into a lambda");
            return call<All, All>(f, outputs, targets, inputs);
          }
        }),
        type_(&typeid(F)) {}

  /// Throws ValueError if there are several tensors and the function takes one. Local.
  [[nodiscard]] Value operator()(const Tensors& outputs, const Tensors& targets, const Tensors& inputs = {}) const {
    return call_(outputs, targets, inputs);
  }
  /// Returns the type of the function, which the Trainer compares between ranks.
  [[nodiscard]] const std::type_info& type() const { return *type_; }

 private:
  using One = const at::Tensor&;
  using All = const Tensors&;
  template <class F, class... Arguments>
  static constexpr bool takes = std::is_invocable_r_v<Value, F&, Arguments...>;
  template <class F, class Output, class Target>
  static constexpr bool fits =
      takes<F, Output, Target> || takes<F, Output, Target, One> || takes<F, Output, Target, All>;

  template <class Kind>
  static Kind as(std::string_view what, const Tensors& tensors) {
    if constexpr (std::same_as<Kind, One>) return detail::only(what, tensors);
    else return tensors;
  }
  template <class Output, class Target, class F>
  static Value call(F& f, const Tensors& outputs, const Tensors& targets, const Tensors& inputs) {
    const auto with = [&](auto&&... more) -> Value {
      return f(as<Output>("outputs", outputs), as<Target>("targets", targets), more...);
    };
    if constexpr (takes<F, Output, Target>) return with();
    else if constexpr (takes<F, Output, Target, One>) return with(as<One>("inputs", inputs));
    else return with(inputs);
  }

  std::function<Value(const Tensors&, const Tensors&, const Tensors&)> call_;
  const std::type_info* type_;
};

/// The loss of some rows, as a differentiable tensor with one number: their mean, or as LossValue says.
using Loss = Criterion<LossValue>;
/// A mean over some rows that is only reported, e.g. `accuracy`. It has a weight if rows do not count
/// equally.
using Metric = Criterion<MetricValue>;
using Metrics = std::map<std::string, Metric>;

/// The results of a network on a dataset.
struct Evaluation {
  std::int64_t rows = 0;                       ///< on all ranks
  double loss = 0;                             ///< mean over the rows, by the loss's weights
  std::map<std::string, double> metrics = {};  ///< also means; NaN if all weights are 0
};

/// A replica of any type, which can be applied to batches. The module's `forward` takes one tensor for each input of a
/// sample, or all as `Tensors`. It returns one tensor, `Tensors`, or a tuple of tensors. It may take derivatives with
/// respect to its inputs after `x.requires_grad_()`: in `fit`, `evaluate` and `predict`.
class Network {
 public:
  template <class Net>
  explicit Network(detail::TypedReplica<Net>& model)
      : replica_(&model),
        forward_([&model](const Tensors& inputs) { return detail::forwarded(model.module(), inputs); }) {}

  [[nodiscard]] Replica& replica() const { return *replica_; }
  /// Calls the module's forward with inputs on any device. Throws ValueError if it does not take this number of inputs,
  /// or not their dtypes. Local.
  [[nodiscard]] Tensors operator()(const Tensors& inputs) const;
  /// Calls forward with one input and returns its only output.
  [[nodiscard]] at::Tensor operator()(const at::Tensor& inputs) const;
  /// Returns the device of the module's first parameter, trained or not, or else of its first buffer.
  [[nodiscard]] at::Device device() const;
  /// Returns the tensors on this device.
  [[nodiscard]] Tensors on_device(Tensors tensors) const;

 private:
  Replica* replica_;
  std::function<Tensors(const Tensors&)> forward_;
};

/// Options of evaluate and predict.
struct InferenceOptions {
  std::int64_t batch_size = 256;           ///< number of rows that each rank computes at once
  std::vector<Transform> transforms = {};  ///< applied to evaluate's batches; predict has no targets and refuses them
};

/// Returns the mean loss and metrics over all rows of a dataset. It computes no gradients of parameters, and puts the
/// module into eval mode; afterwards each part has its own mode again. Each rank computes its own rows. With DASO, call
/// `drain()` before, or each node uses its own weights. Collective: an all-reduce of two numbers for the loss and for
/// each metric, and two of a few bytes to agree. Throws on all ranks: CommError for a dataset on other ranks than the
/// model's; ValueError if the batch size or the names of the metrics differ between ranks, or if all weights are 0;
/// what a transform, the network, the loss or a metric throws on any rank; and as DataLoader.
[[nodiscard]] Evaluation evaluate(const Network& network, const Dataset& dataset, const Loss& loss,
                                  const Metrics& metrics = {}, const InferenceOptions& options = {});

/// Returns the network's outputs for the rows of `x`, split as `x`. An `x` that is split along another axis than 0 is
/// recut first. Eval mode, without gradients of parameters. Local except for the recut. If a network throws on one
/// rank, all ranks throw.
[[nodiscard]] DNDarray predict(const Network& network, const DNDarray& x, const InferenceOptions& options = {});

/// Predicts for several inputs or outputs, split as the first input that is split along axis 0. Throws ValueError for
/// inputs with different numbers of rows, and for outputs without rows.
[[nodiscard]] std::vector<DNDarray> predict(const Network& network, const std::vector<DNDarray>& inputs,
                                            const InferenceOptions& options = {});

/// Options of predict_hdf5.
struct PredictHdf5Options {
  Names inputs = "inputs";    ///< names of the datasets in each file: one, or several in braces
  Names outputs = "outputs";  ///< names of the datasets that are written
  InferenceOptions inference = {};
};
/// Predicts for an array in HDF5 files that may exceed the memory: each rank reads its rows in parts. Outputs stay in
/// memory and are written at the end to one file, by all ranks together. Collective. Throws as io::load_hdf5 and
/// io::save_hdf5, and ValueError if the number of names is not that of outputs.
void predict_hdf5(const Network& network, const io::Source& from, const std::filesystem::path& to,
                  const PredictHdf5Options& options = {});

}  // namespace heatpp::nn
