#include <heatpp_nn/parallel/online.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/torch.hpp>
#include <heatpp_nn/data/detail/epoch_order.hpp>
#include <heatpp_nn/data/detail/samples.hpp>
#include <heatpp_nn/detail/in_words.hpp>
#include <heatpp_nn/parallel/daso.hpp>
#include <heatpp_nn/parallel/sync_batch_norm.hpp>
#include <heatpp_nn/training/detail/agreement.hpp>

#include <torch/optim/optimizer.h>

#include <algorithm>
#include <limits>

namespace heatpp::nn {

using heatpp::detail::formatted;
using heatpp::detail::raise;

namespace {

at::Tensor room_for(const at::Tensor& rows, std::int64_t capacity) {
  auto sizes = rows.sizes().vec();
  sizes.front() = capacity;
  return at::empty(sizes, rows.options());
}

/// Creates the buffer after the options were checked on all ranks.
ReplayBuffer buffer_of(const Replica& replica, const OnlineOptions& options) {
  const auto& comm = replica.topology().comm();
  detail::check_agreed("OnlineTrainer", comm, {{"updates", formatted("{}", options.updates)}}, [&] {
    if (options.capacity < 1 || options.batch_size < 1 || options.updates < 1)
      raise<ValueError>("OnlineTrainer", "got a capacity of {} rows, batches of {} and {} updates; expected at least 1",
                        options.capacity, options.batch_size, options.updates);
  });
  return {options.capacity, detail::mixed(options.seed, static_cast<std::uint64_t>(comm.rank()), 1)};
}

/// Returns "replay_inputs", "replay_inputs_1", ...
std::string name_of(const char* what, std::size_t number) {
  return formatted("replay_{}", what) + (number > 0 ? formatted("_{}", number) : "");
}

/// Returns the dtypes and row shapes of fields: "float32 (3,), int64 ()".
std::string rows_of(const Tensors& fields) {
  std::string text;
  for (const auto& field : fields)
    text += formatted("{}{} {}", text.empty() ? "" : ", ", name(heatpp::detail::from_torch(field.scalar_type())),
                      heatpp::detail::tuple_text(field.sizes().slice(std::min<std::size_t>(1, field.sizes().size()))));
  return text.empty() ? "none" : text;
}

bool same_rows(const at::Tensor& a, const at::Tensor& b) {
  return a.dim() == b.dim() && a.sizes().slice(1) == b.sizes().slice(1) && a.scalar_type() == b.scalar_type();
}

}  // namespace

ReplayBuffer::ReplayBuffer(std::int64_t capacity, std::uint64_t seed) : capacity_(capacity), seed_(seed) {
  if (capacity < 1) raise<ValueError>("ReplayBuffer", "got a capacity of {} rows; expected at least 1", capacity);
}

/// Returns the place of the next row: a free one, that of a row drawn among all so far, or none (-1).
std::int64_t ReplayBuffer::place_of_next() {
  ++offered_;
  if (size_ < capacity_) return size_++;
  const auto place =
      static_cast<std::int64_t>(detail::mixed(seed_, drawn_++, 0) % static_cast<std::uint64_t>(offered_));
  return place < capacity_ ? place : -1;
}

void ReplayBuffer::check(const Tensors& fields, std::size_t inputs) {
  if (inputs == 0 || inputs == fields.size())
    raise<ValueError>("ReplayBuffer", "got {} inputs and {} targets; expected at least one of each", inputs,
                      fields.size() - inputs);
  for (const auto& field : fields)
    if (field.dim() < 1 || field.size(0) != fields.front().size(0))
      raise<ValueError>("ReplayBuffer", "got fields of shapes {} and {}; expected equally many rows",
                        heatpp::detail::tuple_text(fields.front().sizes()), heatpp::detail::tuple_text(field.sizes()));
  if (fields_.empty()) return;
  if (inputs != inputs_ || !std::ranges::equal(fields, fields_, same_rows))
    raise<ValueError>("ReplayBuffer", "got rows of other fields, shapes or dtypes than before; expected the same");
}

void ReplayBuffer::add(const Tensors& inputs, const Tensors& targets) {
  const at::NoGradGuard no_grad;
  auto fields = inputs;
  fields.insert(fields.end(), targets.begin(), targets.end());
  check(fields, inputs.size());
  if (fields_.empty()) {
    inputs_ = inputs.size();
    for (const auto& field : fields) fields_.push_back(room_for(field, capacity_));
  }
  for (std::int64_t row = 0; row < fields.front().size(0); ++row)
    if (const auto place = place_of_next(); place >= 0)
      for (std::size_t i = 0; i < fields.size(); ++i) fields_[i][place].copy_(fields[i][row]);
}

Batch ReplayBuffer::sample(std::int64_t count) {
  if (fields_.empty() || (size_ == 0 && count > 0))
    raise<ValueError>("ReplayBuffer", "got no rows so far; expected some before the first batch");
  auto positions = at::empty({count}, at::kLong);
  auto* const to = positions.mutable_data_ptr<std::int64_t>();
  for (std::int64_t i = 0; i < count; ++i)
    to[i] = static_cast<std::int64_t>(detail::mixed(seed_, drawn_++, 0) % static_cast<std::uint64_t>(size_));
  const auto drawn = [&](std::size_t field) {
    return fields_[field].index_select(0, positions.to(fields_[field].device()));
  };
  Batch batch{drawn(0), drawn(inputs_)};
  for (std::size_t i = 1; i < inputs_; ++i) batch.more_inputs.push_back(drawn(i));
  for (auto i = inputs_ + 1; i < fields_.size(); ++i) batch.more_targets.push_back(drawn(i));
  return batch;
}

std::map<std::string, at::Tensor> ReplayBuffer::state() const {
  std::map<std::string, at::Tensor> state{
      {"replay_counts", at::tensor({size_, offered_, static_cast<std::int64_t>(drawn_)}, at::kLong)}};
  if (size_ == 0) return state;
  for (std::size_t i = 0; i < fields_.size(); ++i)
    state[i < inputs_ ? name_of("inputs", i) : name_of("targets", i - inputs_)] = fields_[i].narrow(0, 0, size_);
  return state;
}

void ReplayBuffer::set_state(const std::map<std::string, at::Tensor>& state) {
  const auto found = state.find("replay_counts");
  if (found == state.end() || found->second.scalar_type() != at::kLong || found->second.numel() != 3)
    raise<ValueError>("ReplayBuffer", "got a state without the three counts of a buffer; expected one of state()");
  const auto* counts = found->second.const_data_ptr<std::int64_t>();
  if (counts[0] < 0 || counts[0] > capacity_)
    raise<ValueError>("ReplayBuffer", "got {} remembered rows; expected at most {}", counts[0], capacity_);
  const auto all = [&](const char* what) {
    Tensors fields;
    for (auto field = state.find(name_of(what, 0)); field != state.end();
         field = state.find(name_of(what, fields.size())))
      fields.push_back(field->second);
    return fields;
  };
  size_ = offered_ = 0;
  fields_.clear();
  if (counts[0] > 0) add(all("inputs"), all("targets"));
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
      }) {
  replica.agree_on("OnlineTrainer", optimizer);
}

/// Ranks agree at the first step only, which shows what does not fit. Later agreements would make ranks wait.
void OnlineTrainer::together(const std::function<void()>& work) const {
  if (begun_) return work();
  all_or_none(replica_.topology().comm(), work);
}

void OnlineTrainer::remember(const Tensors& inputs, const Tensors& targets) {
  if (!begun_)
    detail::check_agreed("train_step", replica_.topology().comm(),
                         {{"inputs", rows_of(inputs)}, {"targets", rows_of(targets)}}, [] {});
  together([&] { buffer_.add(inputs, targets); });
}

/// Returns the loss of a batch. Without rows there is none, unless synchronised layers of other ranks wait for it.
detail::WeighedLoss OnlineTrainer::draw_loss() {
  if (rows() == 0 && !has_synchronised_norms(*replica_.shared_module())) return {};
  const auto drawn = buffer_.sample(rows());
  return detail::in_words("train_step", [&] {
    const auto found = loss_(drawn.all_inputs(), drawn.all_targets());
    detail::check_differentiable("train_step", found.value, "inputs and targets, and calls the network itself");
    return detail::weighed("train_step", found, static_cast<double>(rows()));
  });
}

double OnlineTrainer::update() {
  detail::WeighedLoss loss;
  together([&] { loss = draw_loss(); });
  begun_ = true;
  clear_();
  if (loss.is_sum) replica_.backward_sum(loss.loss, loss.weight);
  else if (has_synchronised_norms(*replica_.shared_module())) replica_.backward(loss.loss, loss.weight, 0);
  else replica_.backward(loss.loss, loss.weight);
  const auto value = rows() > 0 ? loss.value : std::numeric_limits<double>::quiet_NaN();
  step_(value);
  return value;
}

double OnlineTrainer::train_step(const Tensors& inputs, const Tensors& targets) {
  remember(inputs, targets);
  double sum = 0;
  for (std::int64_t i = 0; i < options_.updates; ++i) sum += update();
  return sum / static_cast<double>(options_.updates);
}

double OnlineTrainer::train_step(const std::vector<DNDarray>& inputs, const std::vector<DNDarray>& targets) {
  if (inputs.empty() || targets.empty())
    raise<ValueError>("train_step", "got {} inputs and {} targets; expected at least one of each", inputs.size(),
                      targets.size());
  auto fields = inputs;
  fields.insert(fields.end(), targets.begin(), targets.end());
  Tensors blocks;
  for (const auto& field : detail::rows_alike("train_step", std::move(fields))) blocks.push_back(field.larray());
  const auto first_target = blocks.begin() + std::ssize(inputs);
  return train_step(Tensors(blocks.begin(), first_target), Tensors(first_target, blocks.end()));
}

double OnlineTrainer::train_step(const at::Tensor& inputs, const at::Tensor& targets) {
  return train_step(Tensors{inputs}, Tensors{targets});
}

double OnlineTrainer::train_step(const DNDarray& inputs, const DNDarray& targets) {
  return train_step(std::vector{inputs}, std::vector{targets});
}

}  // namespace heatpp::nn
