#pragma once

#include <heatpp/core/dndarray.hpp>
#include <heatpp_io/source.hpp>
#include <heatpp_nn/data/transforms.hpp>
#include <heatpp_nn/parallel/data_parallel.hpp>
#include <heatpp_nn/training/detail/forwarded.hpp>
#include <heatpp_nn/losses/loss_value.hpp>

#include <filesystem>
#include <functional>
#include <map>

namespace heatpp::nn {

/// A function of outputs and targets, or of outputs, targets and the network's inputs. It takes one tensor of each; or
/// `const Tensors&`, by position, of what there are several of, row weights among the targets:
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
        }) {}

  /// Throws ValueError where there are several tensors and the function takes one. Local.
  [[nodiscard]] Value operator()(const Tensors& outputs, const Tensors& targets, const Tensors& inputs = {}) const {
    return call_(outputs, targets, inputs);
  }

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
};

/// The loss of some rows, a tensor of one number that gradients are taken of: their mean, or what LossValue says.
using Loss = Criterion<LossValue>;
/// A mean over some rows that is no more than looked at, such as `accuracy`; with a weight where rows do not count
/// alike.
using Metric = Criterion<MetricValue>;
using Metrics = std::map<std::string, Metric>;

/// What a network is worth on a dataset.
struct Evaluation {
  std::int64_t rows = 0;                       ///< on all ranks
  double loss = 0;                             ///< the mean over them, by the loss's weights
  std::map<std::string, double> metrics = {};  ///< likewise; NaN where nothing counts
};

/// A replica of any type, to be applied to batches. The module's `forward` takes as many tensors as samples have
/// inputs, or all as `Tensors`, and gives one tensor, `Tensors`, or a tuple of tensors. It may take derivatives with
/// respect to its inputs in `fit`, `evaluate` and `predict` alike, after `x.requires_grad_()`.
class Network {
 public:
  template <class Net>
  explicit Network(detail::TypedReplica<Net>& model)
      : replica_(&model),
        forward_([&model](const Tensors& inputs) { return detail::forwarded(model.module(), inputs); }) {}

  [[nodiscard]] Replica& replica() const { return *replica_; }
  /// The module's forward, of inputs on any device. Throws ValueError where it does not take so many, or none of their
  /// dtypes. Local.
  [[nodiscard]] Tensors operator()(const Tensors& inputs) const;
  /// The same for one input and one output.
  [[nodiscard]] at::Tensor operator()(const at::Tensor& inputs) const;
  /// Of the module's first parameter, trained or not, else of its first buffer.
  [[nodiscard]] at::Device device() const;
  /// The tensors there.
  [[nodiscard]] Tensors on_device(Tensors tensors) const;

 private:
  Replica* replica_;
  std::function<Tensors(const Tensors&)> forward_;
};

/// How evaluate and predict go through rows.
struct InferenceOptions {
  std::int64_t batch_size = 256;           ///< rows of each rank that are computed at once
  std::vector<Transform> transforms = {};  ///< of evaluate's batches; predict has no targets for them, and refuses them
};

/// Mean loss and metrics over all rows of a dataset, without gradients of parameters and with the module in eval mode,
/// whose parts each have their own mode again afterwards. Ranks go through their own rows. With DASO, `drain()` first,
/// or each node judges with its own weights. Collective: an all-reduce of two numbers for the loss and each metric, and
/// two of some bytes to agree. Throws on all ranks: CommError for a dataset on other ranks than the model's, ValueError
/// where the batch size or the names of the metrics differ between ranks and where all weights are 0, what a transform,
/// the network, the loss or a metric throws on any, and as DataLoader.
[[nodiscard]] Evaluation evaluate(const Network& network, const Dataset& dataset, const Loss& loss,
                                  const Metrics& metrics = {}, const InferenceOptions& options = {});

/// The network's outputs for the rows of `x`, cut as `x`, which is cut anew where it is not split along axis 0 or not
/// at all. In eval mode, without gradients of parameters. Local but for that. A network that throws on one rank throws
/// on all.
[[nodiscard]] DNDarray predict(const Network& network, const DNDarray& x, const InferenceOptions& options = {});

/// The same for networks of several inputs, or of several outputs: cut as the first input that is split along axis 0.
/// Throws ValueError for inputs that have not equally many rows, and for outputs without rows.
[[nodiscard]] std::vector<DNDarray> predict(const Network& network, const std::vector<DNDarray>& inputs,
                                            const InferenceOptions& options = {});

/// Where predict_hdf5 reads and writes.
struct PredictHdf5Options {
  Names inputs = "inputs";    ///< names of the datasets in each file: one, or several in braces
  Names outputs = "outputs";  ///< of those that are written
  InferenceOptions inference = {};
};
/// The same for an array in HDF5 files that need not fit into memory: each rank reads its part of the rows, some at a
/// time. Outputs are kept in memory until the last one and then written to one file, by all ranks together. Collective.
/// Errors as io::load_hdf5 and io::save_hdf5, and ValueError where names are more or fewer than outputs.
void predict_hdf5(const Network& network, const io::Source& from, const std::filesystem::path& to,
                  const PredictHdf5Options& options = {});

}  // namespace heatpp::nn
