#pragma once

#include <heatpp_nn/parallel/replica.hpp>
#include <utility>

namespace heatpp::nn {

namespace detail {

/// A replica of a module of known type, which can be called like the module.
template <class Net>
class TypedReplica : public Replica {
 public:
  TypedReplica(std::shared_ptr<Net> net, const Topology& topology, const ReplicaOptions& options = {})
      : Replica(net, topology, options), net_(std::move(net)) {}
  /// Takes LibTorch's module holders (TORCH_MODULE).
  template <class Holder>
  requires requires(const Holder& holder) { std::shared_ptr<Net>(holder.ptr()); }
  TypedReplica(const Holder& holder, const Topology& topology, const ReplicaOptions& options = {})
      : TypedReplica(std::shared_ptr<Net>(holder.ptr()), topology, options) {}

  [[nodiscard]] Net& module() const { return *net_; }
  Net* operator->() const { return net_.get(); }
  /// Calls the module's forward.
  template <class... Inputs>
  auto operator()(Inputs&&... inputs) const {
    return net_->forward(std::forward<Inputs>(inputs)...);
  }

 private:
  std::shared_ptr<Net> net_;
};

}  // namespace detail

/// Synchronous data-parallel training. Gradients already travel during `loss.backward()`; then `step` makes every
/// gradient the mean over all ranks and steps the optimizer. With a mean loss and equal batches this equals training
/// with all batches in one, for any optimizer; for unequal batches, see `backward`.
template <class Net>
class DataParallel : public detail::TypedReplica<Net> {
 public:
  using detail::TypedReplica<Net>::TypedReplica;

  /// Averages the gradients. Collective. If a gradient is not finite, throws ValueError on all ranks, with rank and
  /// parameter; `finish_gradients()` returns false instead.
  void average_gradients() {
    if (!this->finish_gradients()) this->throw_not_finite("DataParallel");
  }
  /// Averages the gradients and updates the weights. Collective. Throws as `average_gradients` and `update`.
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

/// A module that is synchronised in two steps: inside the node at every batch, and between nodes as `DASO`, which
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
