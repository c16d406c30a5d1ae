#pragma once

#include <heatpp_nn/parallel/replica.hpp>
#include <utility>

namespace heatpp::nn {

namespace detail {

/// A replica of a module of known type, to be called like the module.
template <class Net>
class TypedReplica : public Replica {
 public:
  TypedReplica(std::shared_ptr<Net> net, const Topology& topology, const ReplicaOptions& options = {})
      : Replica(net, topology, options), net_(std::move(net)) {}
  /// For LibTorch's module holders (TORCH_MODULE).
  template <class Holder>
  requires requires(const Holder& holder) { std::shared_ptr<Net>(holder.ptr()); }
  TypedReplica(const Holder& holder, const Topology& topology, const ReplicaOptions& options = {})
      : TypedReplica(std::shared_ptr<Net>(holder.ptr()), topology, options) {}

  [[nodiscard]] Net& module() const { return *net_; }
  Net* operator->() const { return net_.get(); }
  /// The module's forward.
  template <class... Inputs>
  auto operator()(Inputs&&... inputs) const {
    return net_->forward(std::forward<Inputs>(inputs)...);
  }

 private:
  std::shared_ptr<Net> net_;
};

}  // namespace detail

/// Synchronous data-parallel training: after `loss.backward()`, during which the gradients already travel, `step` makes
/// every gradient the mean over all ranks and lets the optimizer step. With a mean loss and equal batches that is
/// training with all batches in one, for any optimizer; with unequal ones, see `backward`.
template <class Net>
class DataParallel : public detail::TypedReplica<Net> {
 public:
  using detail::TypedReplica<Net>::TypedReplica;

  /// Collective. Throws ValueError on all ranks where a gradient is not finite, with the rank's and parameter's name;
  /// `finish_gradients()` returns false instead.
  void average_gradients() {
    if (!this->finish_gradients()) this->throw_not_finite("DataParallel");
  }
  /// Both: averages the gradients and updates the weights. Collective. Throws as `average_gradients` and `update`.
  void step(torch::optim::Optimizer& optimizer) {
    average_gradients();
    this->update(optimizer);
  }
};
template <class Net>
DataParallel(std::shared_ptr<Net>, const Topology&, const ReplicaOptions& = {}) -> DataParallel<Net>;
template <class Holder>
DataParallel(const Holder&, const Topology&, const ReplicaOptions& = {})
    -> DataParallel<typename Holder::ContainedType>;

/// A module whose ranks are synchronised in two steps: inside the node at every batch, between nodes as `DASO`, which
/// drives both, decides.
template <class Net>
class DataParallelMultiGPU : public detail::TypedReplica<Net> {
 public:
  using detail::TypedReplica<Net>::TypedReplica;
};
template <class Net>
DataParallelMultiGPU(std::shared_ptr<Net>, const Topology&, const ReplicaOptions& = {}) -> DataParallelMultiGPU<Net>;
template <class Holder>
DataParallelMultiGPU(const Holder&, const Topology&, const ReplicaOptions& = {})
    -> DataParallelMultiGPU<typename Holder::ContainedType>;

}  // namespace heatpp::nn
