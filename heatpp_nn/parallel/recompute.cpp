#include <heatpp_nn/parallel/recompute.hpp>

#include <ATen/ATen.h>
#include <ATen/autocast_mode.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/custom_function.h>

#include <mutex>

namespace heatpp::nn {
namespace {

using torch::autograd::variable_list;

/// What a computation depends on besides its inputs: random numbers, and autocast.
class Surroundings {
 public:
  explicit Surroundings(const at::Device& device) : device_(device) {
    for (const auto& generator : generators()) states_.push_back(state_of(generator));
    for (const auto type : types())
      products_.emplace_back(at::autocast::is_autocast_enabled(type), at::autocast::get_autocast_dtype(type));
  }
  /// Restores the stored state.
  void put_back() const {
    for (std::size_t i = 0; auto generator : generators()) {
      const std::lock_guard lock(generator.mutex());
      generator.set_state(states_[i++]);
    }
    for (std::size_t i = 0; const auto type : types()) {
      const auto& [enabled, dtype] = products_[i++];
      at::autocast::set_autocast_dtype(type, dtype);
      at::autocast::set_autocast_enabled(type, enabled);
    }
    // It holds 16-bit weights; if they were rounded without gradients, no gradient would reach the weights.
    at::autocast::clear_cache();
  }
  [[nodiscard]] const at::Device& device() const { return device_; }

 private:
  static at::Tensor state_of(at::Generator generator) {
    const std::lock_guard lock(generator.mutex());
    return generator.get_state();
  }
  [[nodiscard]] std::vector<at::Generator> generators() const {
    std::vector<at::Generator> found{at::globalContext().defaultGenerator(at::kCPU)};
    if (!device_.is_cpu()) found.push_back(at::globalContext().defaultGenerator(device_));
    return found;
  }
  [[nodiscard]] std::vector<at::DeviceType> types() const {
    if (device_.is_cpu()) return {at::kCPU};
    return {at::kCPU, device_.type()};
  }

  at::Device device_;
  std::vector<at::Tensor> states_;
  std::vector<std::pair<bool, at::ScalarType>> products_;
};

/// Restores an earlier state while it exists.
class Back {
 public:
  explicit Back(const Surroundings& then) : now_(then.device()) { then.put_back(); }
  ~Back() { now_.put_back(); }
  Back(const Back&) = delete;
  Back& operator=(const Back&) = delete;

 private:
  Surroundings now_;
};

/// Restores the values of a module's buffers at its end.
class Buffers {
 public:
  explicit Buffers(const torch::nn::Module* module) {
    if (!module) return;
    buffers_ = module->buffers();
    for (const auto& buffer : buffers_) values_.push_back(buffer.clone());
  }
  /// Bypasses autograd, which would otherwise report that saved statistics have changed.
  ~Buffers() {
    for (std::size_t i = 0; i < buffers_.size(); ++i) buffers_[i].variable_data().copy_(values_[i]);
  }
  Buffers(const Buffers&) = delete;
  Buffers& operator=(const Buffers&) = delete;

 private:
  std::vector<at::Tensor> buffers_, values_;
};

struct Recomputation : torch::CustomClassHolder {
  Recomputation(const Recomputed& of, const at::Device& device) : recomputed(of), surroundings(device) {}
  Recomputed recomputed;
  Surroundings surroundings;
  std::vector<char> differentiable;
};

class Recompute : public torch::autograd::Function<Recompute> {
 public:
  using Context = torch::autograd::AutogradContext;

  /// `reached` requires gradients, so that backward reaches the parameters even if no input requires any.
  static variable_list forward(Context* context, const Recomputed& recomputed, const at::Tensor& reached,
                               const at::TensorList inputs) {
    (void)reached;
    auto part =
        c10::make_intrusive<Recomputation>(recomputed, inputs.empty() ? at::Device(at::kCPU) : inputs.front().device());
    for (const auto& input : inputs) part->differentiable.push_back(input.requires_grad());
    context->save_for_backward(inputs.vec());
    context->saved_data["part"] = c10::IValue::make_capsule(part);
    auto outputs = recomputed.function(inputs.vec());
    at::autocast::clear_cache();
    return outputs;
  }

  static variable_list backward(Context* context, variable_list gradients) {
    const auto& part = static_cast<const Recomputation&>(*context->saved_data["part"].toCapsule());
    variable_list inputs;
    for (std::size_t i = 0; const auto& saved : context->get_saved_variables())
      inputs.push_back(saved.detach().requires_grad_(part.differentiable[i++] != 0));
    const Buffers unchanged(part.recomputed.module);
    go_back(again(part, inputs), gradients);
    variable_list found{{}, {}};
    for (const auto& input : inputs) found.push_back(input.requires_grad() ? input.grad() : at::Tensor());
    return found;
  }

 private:
  static Tensors again(const Recomputation& part, const variable_list& inputs) {
    const at::AutoGradMode with_gradients(true);
    const Back back(part.surroundings);
    return part.recomputed.function(inputs);
  }

  static void go_back(const Tensors& outputs, const variable_list& gradients) {
    variable_list reached, slopes;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      if (!outputs[i].requires_grad() || !gradients[i].defined()) continue;
      reached.push_back(outputs[i]);
      slopes.push_back(gradients[i]);
    }
    if (!reached.empty()) torch::autograd::backward(reached, slopes);
  }
};

}  // namespace

Tensors checkpointed(const Recomputed& recomputed, const Tensors& inputs) {
  if (!at::GradMode::is_enabled()) return recomputed.function(inputs);
  return Recompute::apply(recomputed, at::empty({0}).requires_grad_(), at::TensorList(inputs));
}

}  // namespace heatpp::nn
