#include <heatpp/comm/detail/raise.hpp>
#include <heatpp_nn/data/detail/epoch_order.hpp>
#include <heatpp_nn/parallel/daso.hpp>
#include <heatpp_nn/parallel/online.hpp>

#include <torch/optim/optimizer.h>

#include <limits>

namespace heatpp::nn {

using heatpp::detail::raise;

namespace {

at::Tensor room_for(const at::Tensor& rows, std::int64_t capacity) {
  auto sizes = rows.sizes().vec();
  sizes.front() = capacity;
  return at::empty(sizes, rows.options());
}

ReplayBuffer buffer_of(const Replica& replica, const OnlineOptions& options) {
  const auto rank = static_cast<std::uint64_t>(replica.topology().comm().rank());
  return {options.capacity, detail::mixed(options.seed, rank, 1)};
}

bool same_rows(const at::Tensor& a, const at::Tensor& b) {
  return a.dim() == b.dim() && a.sizes().slice(1) == b.sizes().slice(1) && a.scalar_type() == b.scalar_type();
}

}  // namespace

ReplayBuffer::ReplayBuffer(std::int64_t capacity, std::uint64_t seed) : capacity_(capacity), seed_(seed) {
  if (capacity < 1) raise<ValueError>("ReplayBuffer", "got a capacity of {} rows; expected at least 1", capacity);
}

/// Where the next row goes: into free room, in place of a row drawn among all so far, or nowhere (-1).
std::int64_t ReplayBuffer::place_of_next() {
  ++offered_;
  if (size_ < capacity_) return size_++;
  const auto place =
      static_cast<std::int64_t>(detail::mixed(seed_, drawn_++, 0) % static_cast<std::uint64_t>(offered_));
  return place < capacity_ ? place : -1;
}

void ReplayBuffer::add(const at::Tensor& inputs, const at::Tensor& targets) {
  const at::NoGradGuard no_grad;
  if (inputs.dim() < 1 || targets.dim() < 1 || inputs.size(0) != targets.size(0))
    raise<ValueError>("ReplayBuffer", "got inputs and targets of different numbers of rows; expected equally many");
  if (!inputs_.defined()) {
    inputs_ = room_for(inputs, capacity_);
    targets_ = room_for(targets, capacity_);
  }
  if (!same_rows(inputs, inputs_) || !same_rows(targets, targets_))
    raise<ValueError>("ReplayBuffer", "got rows of another shape or dtype than before; expected the same");
  for (std::int64_t row = 0; row < inputs.size(0); ++row)
    if (const auto place = place_of_next(); place >= 0) {
      inputs_[place].copy_(inputs[row]);
      targets_[place].copy_(targets[row]);
    }
}

ReplayBuffer::Rows ReplayBuffer::sample(std::int64_t count) {
  if (size_ == 0) raise<ValueError>("ReplayBuffer", "got no rows so far; expected some before the first batch");
  auto positions = at::empty({count}, at::kLong);
  auto* const to = positions.mutable_data_ptr<std::int64_t>();
  for (std::int64_t i = 0; i < count; ++i)
    to[i] = static_cast<std::int64_t>(detail::mixed(seed_, drawn_++, 0) % static_cast<std::uint64_t>(size_));
  return {inputs_.index_select(0, positions), targets_.index_select(0, positions)};
}

std::map<std::string, at::Tensor> ReplayBuffer::state() const {
  std::map<std::string, at::Tensor> state{
      {"replay_counts", at::tensor({size_, offered_, static_cast<std::int64_t>(drawn_)}, at::kLong)}};
  if (size_ == 0) return state;
  state["replay_inputs"] = inputs_.narrow(0, 0, size_);
  state["replay_targets"] = targets_.narrow(0, 0, size_);
  return state;
}

void ReplayBuffer::set_state(const std::map<std::string, at::Tensor>& state) {
  const auto* counts = state.at("replay_counts").const_data_ptr<std::int64_t>();
  if (counts[0] < 0 || counts[0] > capacity_)
    raise<ValueError>("ReplayBuffer", "got {} remembered rows; expected at most {}", counts[0], capacity_);
  size_ = offered_ = 0;
  inputs_ = targets_ = at::Tensor();
  if (counts[0] > 0) add(state.at("replay_inputs"), state.at("replay_targets"));
  offered_ = counts[1];
  drawn_ = static_cast<std::uint64_t>(counts[2]);
}

OnlineTrainer::OnlineTrainer(DASO& daso, Loss loss, const OnlineOptions& options)
    : replica_(daso.replica()),
      loss_(std::move(loss)),
      options_(options),
      buffer_(buffer_of(replica_, options)),
      clear_([&daso] { daso.zero_grad(); }),
      step_([&daso](double value) { daso.step(value); }) {}

OnlineTrainer::OnlineTrainer(Replica& replica, torch::optim::Optimizer& optimizer, Loss loss,
                             const OnlineOptions& options)
    : replica_(replica),
      loss_(std::move(loss)),
      options_(options),
      buffer_(buffer_of(replica, options)),
      clear_([&optimizer] { optimizer.zero_grad(); }),
      step_([&replica, &optimizer](double) {
        if (!replica.finish_gradients()) replica.throw_not_finite("train_step");
        replica.update(optimizer);
      }) {}

/// The loss of a batch, whose gradients are under way.
double OnlineTrainer::backward() {
  if (buffer_.size() == 0) {
    replica_.backward(at::Tensor(), 0);
    return std::numeric_limits<double>::quiet_NaN();
  }
  const auto rows = buffer_.sample(options_.batch_size);
  const auto loss = loss_(rows.inputs, rows.targets);
  replica_.backward(loss, static_cast<double>(options_.batch_size));
  return loss.item<double>();
}

double OnlineTrainer::update() {
  clear_();
  const auto value = backward();
  step_(value);
  return value;
}

double OnlineTrainer::train_step(const at::Tensor& inputs, const at::Tensor& targets) {
  buffer_.add(inputs, targets);
  double sum = 0;
  for (std::int64_t i = 0; i < options_.updates; ++i) sum += update();
  return sum / static_cast<double>(options_.updates);
}

double OnlineTrainer::train_step(const DNDarray& inputs, const DNDarray& targets) {
  if (inputs.split() != 0 || targets.split() != 0 || !same_cut(inputs.layout(), targets.layout()))
    raise<ValueError>("train_step", "got arrays that are not cut alike along axis 0; expected both split there");
  return train_step(inputs.larray(), targets.larray());
}

}  // namespace heatpp::nn
