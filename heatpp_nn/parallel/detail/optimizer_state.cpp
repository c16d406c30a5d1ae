#include <heatpp_nn/parallel/detail/optimizer_state.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp_nn/optim/lamb.hpp>
#include <heatpp_nn/optim/lars.hpp>
#include <heatpp_nn/optim/muon.hpp>
#include <heatpp_nn/optim/optimizer_kind.hpp>

#include <torch/optim.h>

#include <algorithm>
#include <ranges>

namespace heatpp::nn::detail {
namespace {

namespace optim = torch::optim;
using State = OptimizerKind::State;
using Places = std::vector<at::Tensor*>;

template <class Kept>
Kept& as(State& state) {
  return dynamic_cast<Kept&>(state);
}

/// Returns a kind that counts steps.
template <class Optimizer, class Kept>
OptimizerKind counting(const char* name, Places (*tensors)(State&)) {
  return optimizer_kind<Optimizer, Kept>(name, tensors, [](State& s) { return &as<Kept>(s).step(); });
}

std::vector<OptimizerKind>& kinds() {
  static std::vector<OptimizerKind> known{
      optimizer_kind<optim::SGD, optim::SGDParamState>(
          "SGD", [](State& s) { return Places{&as<optim::SGDParamState>(s).momentum_buffer()}; }),
      counting<Muon, MuonState>("Muon",
                                [](State& state) {
                                  auto& s = as<MuonState>(state);
                                  return Places{&s.momentum(), &s.exp_avg_sq()};
                                }),
      optimizer_kind<Lars, LarsState>("Lars", [](State& s) { return Places{&as<LarsState>(s).momentum()}; }),
      counting<optim::Adam, optim::AdamParamState>("Adam",
                                                   [](State& state) {
                                                     auto& s = as<optim::AdamParamState>(state);
                                                     return Places{&s.exp_avg(), &s.exp_avg_sq(), &s.max_exp_avg_sq()};
                                                   }),
      counting<optim::AdamW, optim::AdamWParamState>(
          "AdamW",
          [](State& state) {
            auto& s = as<optim::AdamWParamState>(state);
            return Places{&s.exp_avg(), &s.exp_avg_sq(), &s.max_exp_avg_sq()};
          }),
      counting<Lamb, LambState>("Lamb",
                                [](State& state) {
                                  auto& s = as<LambState>(state);
                                  return Places{&s.exp_avg(), &s.exp_avg_sq()};
                                }),
      counting<optim::RMSprop, optim::RMSpropParamState>(
          "RMSprop",
          [](State& state) {
            auto& s = as<optim::RMSpropParamState>(state);
            return Places{&s.square_avg(), &s.momentum_buffer(), &s.grad_avg()};
          }),
      counting<optim::Adagrad, optim::AdagradParamState>(
          "Adagrad", [](State& s) { return Places{&as<optim::AdagradParamState>(s).sum()}; })};
  return known;
}

const OptimizerKind& kind_of(const optim::Optimizer& optimizer) {
  // A class of the caller may be derived from a known one.
  const auto latest_first = std::views::reverse(kinds());
  const auto found = std::ranges::find_if(latest_first, [&](const auto& kind) { return kind.is(optimizer); });
  if (found != latest_first.end()) return *found;
  std::string names;
  for (const auto& kind : kinds()) names += (names.empty() ? "" : ", ") + kind.name;
  heatpp::detail::raise<TypeError>(
      "optimizer", "got one of an unknown class; expected {}, or one made known by add_optimizer_kind", names);
}

std::size_t columns_of(const OptimizerKind& kind) { return kind.tensors(*kind.make()).size(); }

}  // namespace

std::vector<at::Tensor> tensors_of(const optim::Optimizer& optimizer) {
  std::vector<at::Tensor> all;
  for (const auto& group : optimizer.param_groups())
    all.insert(all.end(), group.params().begin(), group.params().end());
  return all;
}

std::string name_of(const optim::Optimizer& optimizer) { return kind_of(optimizer).name; }

std::size_t slot_columns(const optim::Optimizer& optimizer) { return columns_of(kind_of(optimizer)); }

OptimizerSlots slots_of(optim::Optimizer& optimizer) {
  const auto& kind = kind_of(optimizer);
  const auto columns = columns_of(kind);
  OptimizerSlots slots;
  for (const auto& parameter : tensors_of(optimizer)) {
    const auto found = optimizer.state().find(parameter.unsafeGetTensorImpl());
    const bool there = found != optimizer.state().end();
    const auto places = there ? kind.tensors(*found->second) : Places(columns, nullptr);
    for (const auto* place : places) slots.tensors.push_back(place ? *place : at::Tensor());
    const auto* const steps = there && kind.steps ? kind.steps(*found->second) : nullptr;
    slots.steps.push_back(steps ? *steps : 0);
  }
  return slots;
}

void set_slots(optim::Optimizer& optimizer, const OptimizerSlots& slots) {
  const auto& kind = kind_of(optimizer);
  const auto columns = columns_of(kind);
  const auto parameters = tensors_of(optimizer);
  for (std::size_t row = 0; row < parameters.size(); ++row) {
    const auto mine = std::span(slots.tensors).subspan(row * columns, columns);
    if (std::ranges::none_of(mine, [](const auto& tensor) { return tensor.defined(); })) continue;
    auto& state = optimizer.state()[parameters[row].unsafeGetTensorImpl()];
    if (!state) state = kind.make();
    const auto places = kind.tensors(*state);
    for (std::size_t i = 0; i < columns; ++i)
      *places[i] = mine[i].defined() ? mine[i].to(parameters[row].options()) : at::Tensor();
    if (kind.steps) *kind.steps(*state) = slots.steps[row];
  }
}

void complete(OptimizerSlots& slots, const optim::Optimizer& optimizer, const Communicator& comm) {
  std::vector<std::int64_t> told;
  for (const auto& tensor : slots.tensors) told.push_back(tensor.defined());
  told.insert(told.end(), slots.steps.begin(), slots.steps.end());
  comm.allreduce(told, ReduceOp::max);
  const auto parameters = tensors_of(optimizer);
  const auto columns = slots.tensors.size() / std::max<std::size_t>(1, parameters.size());
  for (std::size_t i = 0; i < slots.tensors.size(); ++i)
    if (told[i] != 0 && !slots.tensors[i].defined()) slots.tensors[i] = at::zeros_like(parameters[i / columns]);
  std::copy(told.end() - std::ssize(slots.steps), told.end(), slots.steps.begin());
}

std::vector<at::Tensor> kept(const OptimizerSlots& slots) {
  std::vector<at::Tensor> found;
  std::ranges::copy_if(slots.tensors, std::back_inserter(found), [](const auto& tensor) { return tensor.defined(); });
  return found;
}

}  // namespace heatpp::nn::detail

void heatpp::nn::add_optimizer_kind(const OptimizerKind& kind) { detail::kinds().push_back(kind); }
