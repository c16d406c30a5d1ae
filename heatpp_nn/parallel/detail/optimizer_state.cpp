#include <heatpp/comm/detail/raise.hpp>
#include <heatpp_nn/parallel/detail/optimizer_state.hpp>

#include <torch/optim.h>

#include <algorithm>

namespace heatpp::nn::detail {
namespace {

namespace optim = torch::optim;
using State = optim::OptimizerParamState;
using Places = std::vector<at::Tensor*>;

Places places(optim::SGDParamState& s) { return {&s.momentum_buffer()}; }
Places places(optim::AdamParamState& s) { return {&s.exp_avg(), &s.exp_avg_sq(), &s.max_exp_avg_sq()}; }
Places places(optim::AdamWParamState& s) { return {&s.exp_avg(), &s.exp_avg_sq(), &s.max_exp_avg_sq()}; }
Places places(optim::RMSpropParamState& s) { return {&s.square_avg(), &s.momentum_buffer(), &s.grad_avg()}; }
Places places(optim::AdagradParamState& s) { return {&s.sum()}; }

template <class Known>
std::int64_t* steps(Known& state) {
  if constexpr (requires { state.step(); }) return &state.step();
  return nullptr;
}

/// How to make and to reach what a kind of optimizer keeps for a parameter.
struct Kind {
  std::unique_ptr<State> (*make)();
  Places (*places)(State&);
  std::int64_t* (*steps)(State&);
};

template <class Optimizer, class Known>
bool find(const optim::Optimizer& optimizer, std::optional<Kind>& kind) {
  if (!dynamic_cast<const Optimizer*>(&optimizer)) return false;
  kind = Kind{[]() -> std::unique_ptr<State> { return std::make_unique<Known>(); },
              [](State& state) { return places(dynamic_cast<Known&>(state)); },
              [](State& state) { return steps(dynamic_cast<Known&>(state)); }};
  return true;
}

Kind kind_of(const optim::Optimizer& optimizer) {
  std::optional<Kind> kind;
  const bool known = find<optim::SGD, optim::SGDParamState>(optimizer, kind) ||
                     find<optim::Adam, optim::AdamParamState>(optimizer, kind) ||
                     find<optim::AdamW, optim::AdamWParamState>(optimizer, kind) ||
                     find<optim::RMSprop, optim::RMSpropParamState>(optimizer, kind) ||
                     find<optim::Adagrad, optim::AdagradParamState>(optimizer, kind);
  if (!known)
    heatpp::detail::raise<TypeError>(
        "daso", "got an optimizer of an unknown type; expected SGD, Adam, AdamW, RMSprop or Adagrad");
  return *kind;
}

std::vector<at::Tensor> parameters_of(const optim::Optimizer& optimizer) {
  std::vector<at::Tensor> all;
  for (const auto& group : optimizer.param_groups())
    all.insert(all.end(), group.params().begin(), group.params().end());
  return all;
}

std::size_t columns_of(const Kind& kind) { return kind.places(*kind.make()).size(); }

}  // namespace

OptimizerSlots slots_of(optim::Optimizer& optimizer) {
  const auto kind = kind_of(optimizer);
  const auto columns = columns_of(kind);
  OptimizerSlots slots;
  for (const auto& parameter : parameters_of(optimizer)) {
    const auto found = optimizer.state().find(parameter.unsafeGetTensorImpl());
    const bool there = found != optimizer.state().end();
    const auto places = there ? kind.places(*found->second) : Places(columns, nullptr);
    for (const auto* place : places) slots.tensors.push_back(place ? *place : at::Tensor());
    const auto* const steps = there ? kind.steps(*found->second) : nullptr;
    slots.steps.push_back(steps ? *steps : 0);
  }
  return slots;
}

void set_slots(optim::Optimizer& optimizer, const OptimizerSlots& slots) {
  const auto kind = kind_of(optimizer);
  const auto columns = columns_of(kind);
  const auto parameters = parameters_of(optimizer);
  for (std::size_t row = 0; row < parameters.size(); ++row) {
    const auto mine = std::span(slots.tensors).subspan(row * columns, columns);
    if (std::ranges::none_of(mine, [](const auto& tensor) { return tensor.defined(); })) continue;
    auto& state = optimizer.state()[parameters[row].unsafeGetTensorImpl()];
    if (!state) state = kind.make();
    const auto places = kind.places(*state);
    for (std::size_t i = 0; i < columns; ++i)
      *places[i] = mine[i].defined() ? mine[i].to(parameters[row].options()) : at::Tensor();
    if (auto* const steps = kind.steps(*state)) *steps = slots.steps[row];
  }
}

void complete(OptimizerSlots& slots, const optim::Optimizer& optimizer, const Communicator& comm) {
  std::vector<std::int64_t> told;
  for (const auto& tensor : slots.tensors) told.push_back(tensor.defined());
  told.insert(told.end(), slots.steps.begin(), slots.steps.end());
  comm.allreduce(told, ReduceOp::max);
  const auto parameters = parameters_of(optimizer);
  const auto columns = slots.tensors.size() / std::max<std::size_t>(1, parameters.size());
  for (std::size_t i = 0; i < slots.tensors.size(); ++i)
    if (told[i] != 0 && !slots.tensors[i].defined()) slots.tensors[i] = at::zeros_like(parameters[i / columns]);
  std::copy(told.end() - std::ssize(slots.steps), told.end(), slots.steps.begin());
}

void add_to(std::vector<at::Tensor>& sums, const std::vector<at::Tensor>& more, double share) {
  sums.resize(more.size());
  for (std::size_t i = 0; i < more.size(); ++i) {
    if (!more[i].defined()) continue;
    const auto part = more[i].to(at::kDouble) * share;
    sums[i] = sums[i].defined() ? sums[i] + part : part;
  }
}

void add_to(OptimizerSlots& sum, const OptimizerSlots& more, double share) {
  add_to(sum.tensors, more.tensors, share);
  sum.steps.resize(more.steps.size());
  for (std::size_t i = 0; i < more.steps.size(); ++i) sum.steps[i] = std::max(sum.steps[i], more.steps[i]);
}

std::vector<at::Tensor> kept(const OptimizerSlots& slots) {
  std::vector<at::Tensor> found;
  std::ranges::copy_if(slots.tensors, std::back_inserter(found), [](const auto& tensor) { return tensor.defined(); });
  return found;
}

}  // namespace heatpp::nn::detail
