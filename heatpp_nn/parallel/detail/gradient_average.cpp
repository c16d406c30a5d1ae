#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/torch.hpp>
#include <heatpp_nn/parallel/detail/finite.hpp>
#include <heatpp_nn/parallel/detail/gradient_average.hpp>

#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/variable.h>

#include <algorithm>

namespace heatpp::nn::detail {

using heatpp::detail::buffer_of;
using heatpp::detail::raise;

namespace {

class AfterAccumulation final : public torch::autograd::FunctionPostHook {
 public:
  explicit AfterAccumulation(std::function<void()> call) : call_(std::move(call)) {}
  std::vector<at::Tensor> operator()(const std::vector<at::Tensor>& outputs, const std::vector<at::Tensor>&) override {
    call_();
    return outputs;
  }

 private:
  std::function<void()> call_;
};

bool can_stay(const at::Tensor& tensor, Dtype wire) {
  return tensor.is_cpu() && (wire == Dtype::float32 || tensor.scalar_type() != at::kFloat);
}

}  // namespace

GradientAverage::GradientAverage(std::vector<at::Tensor> parameters, const Topology& node, const Topology& all,
                                 const GradientOptions& options)
    : parameters_(std::move(parameters)),
      node_(node),
      all_(all),
      wire_(options.wire),
      reproducible_(options.reproducible),
      bucket_of_(parameters_.size()),
      arrived_(parameters_.size()) {
  if (options.bucket_bytes < 1)
    raise<ValueError>("Replica", "got buckets of {} bytes; expected at least 1", options.bucket_bytes);
  if (reproducible_ && wire_ != Dtype::float32)
    raise<ValueError>("Replica", "got a wire of {} for reproducible sums; expected float32", name(wire_));
  make_buckets(options);
  for (std::size_t i = 0; i < parameters_.size(); ++i) add_hook(i);
  settle();
}

GradientAverage::~GradientAverage() {
  for (auto& hook : hooks_) hook.accumulator->del_post_hook(hook.key);
}

void GradientAverage::make_buckets(const GradientOptions& options) {
  for (auto i = parameters_.size(); i-- > 0;) {
    const auto& parameter = parameters_[i];
    const auto* const first = buckets_.empty() ? nullptr : &parameters_[buckets_.back().parameters.front()];
    const auto filled = first ? buckets_.back().count * first->element_size() : 0;
    if (!first || filled >= options.bucket_bytes || first->scalar_type() != parameter.scalar_type() ||
        first->device() != parameter.device())
      buckets_.emplace_back();
    buckets_.back().parameters.push_back(i);
    buckets_.back().count += parameter.numel();
    bucket_of_[i] = buckets_.size() - 1;
  }
  for (auto& bucket : buckets_) {
    const auto& like = parameters_[bucket.parameters.front()];
    if (can_stay(like, wire_)) continue;
    std::vector<at::Tensor> tensors;
    for (const auto i : bucket.parameters) tensors.push_back(parameters_[i]);
    bucket.copy.emplace(tensors);
    if (wire_ != Dtype::float32 && like.scalar_type() == at::kFloat) bucket.residual = at::zeros({bucket.count});
  }
}

void GradientAverage::add_hook(std::size_t parameter) {
  auto accumulator = torch::autograd::impl::grad_accumulator(parameters_[parameter]);
  const auto key =
      accumulator->add_post_hook(std::make_unique<AfterAccumulation>([this, parameter] { arrived(parameter); }));
  hooks_.push_back({std::move(accumulator), key});
}

void GradientAverage::send_to(std::optional<Scope> scope) {
  if (scope == scope_) return;
  if (launched_ > 0)
    raise<ValueError>("Replica",
                      "got another destination for gradients that are under way; expected it before "
                      "backward, or after they were averaged");
  scope_ = scope;
}

void GradientAverage::weigh(double samples) {
  weighed_ = true;
  samples_ += samples;
}

void GradientAverage::arrived(std::size_t parameter) {
  const std::lock_guard lock(mutex_);
  if (!travels()) return;
  if (arrived_[parameter])
    raise<ValueError>("Replica",
                      "got a second backward before the gradients of the first were averaged; expected "
                      "no_sync() around all but the last");
  arrived_[parameter] = 1;
  inspect(parameter);
  --buckets_[bucket_of_[parameter]].missing;
  while (launched_ < buckets_.size() && buckets_[launched_].missing == 0) launch(buckets_[launched_++]);
  heatpp::progress();
}

void GradientAverage::inspect(std::size_t parameter) {
  const auto& gradient = parameters_[parameter].grad();
  status_[parameter] = gradient.defined();
  if (!gradient.defined() || is_finite(gradient)) return;
  status_.back() = 1;
  if (!bad_) bad_ = parameter;
}

bool GradientAverage::copied(const Bucket& bucket) const {
  return bucket.copy && (*scope_ == Scope::all || !parameters_[bucket.parameters.front()].is_cpu());
}

void GradientAverage::launch(Bucket& bucket) {
  const at::NoGradGuard no_grad;
  if (copied(bucket)) return launch_copy(bucket);
  std::vector<Buffer> buffers;
  for (const auto i : bucket.parameters) {
    auto& gradient = parameters_[i].mutable_grad();
    gradient = gradient.defined() ? gradient.contiguous() : at::zeros(parameters_[i].sizes(), parameters_[i].options());
    if (gradient.numel() > 0) buffers.push_back(buffer_of(gradient));
  }
  bucket.requests.push_back(group().iallreduce(buffers, AllreduceOptions{.op = op(), .reproducible = reproducible_}));
}

void GradientAverage::launch_copy(Bucket& bucket) {
  std::vector<at::Tensor> gradients;
  for (const auto i : bucket.parameters) gradients.push_back(parameters_[i].grad());
  bucket.copy->pack(gradients);
  AllreduceOptions options{.op = op(), .reproducible = reproducible_};
  if (bucket.residual.defined() && *scope_ == Scope::all) {
    options.wire = wire_;
    options.residual = {bucket.residual.mutable_data_ptr<float>(), static_cast<std::size_t>(bucket.count)};
  }
  for (const auto& buffer : bucket.copy->buffers())
    bucket.requests.push_back(group().iallreduce(buffer_of(buffer), options));
}

bool GradientAverage::finish() {
  for (std::size_t i = 0; i < parameters_.size(); ++i)
    if (!arrived_[i]) inspect(i);
  status_[parameters_.size()] = samples_;
  if (travels()) {
    while (launched_ < buckets_.size()) launch(buckets_[launched_++]);
    auto status = group().iallreduce(status_);
    for (auto& bucket : buckets_)
      for (auto& request : bucket.requests) request.wait();
    status.wait();
  }
  const bool finite = status_.back() == 0;
  samples_of_all_ = status_[parameters_.size()];
  if (finite)
    for (auto& bucket : buckets_) land(bucket);
  settle();
  return finite;
}

void GradientAverage::land(Bucket& bucket) {
  const at::NoGradGuard no_grad;
  for (std::size_t place = 0; place < bucket.parameters.size(); ++place) {
    const auto i = bucket.parameters[place];
    auto& gradient = parameters_[i].mutable_grad();
    if (status_[i] == 0) {
      gradient = at::Tensor();
    } else if (travels() && copied(bucket)) {
      const auto& mean = bucket.copy->view(place);
      if (gradient.defined()) gradient.copy_(mean);
      else gradient = mean.clone();
    }
    if (weighed_ && gradient.defined()) gradient.div_(samples_of_all_);
  }
}

void GradientAverage::settle() {
  std::ranges::fill(arrived_, 0);
  status_.assign(parameters_.size() + 2, 0);
  for (auto& bucket : buckets_) {
    bucket.missing = bucket.parameters.size();
    bucket.requests.clear();
  }
  launched_ = 0;
  idle_ = weighed_ && samples_ == 0;
  weighed_ = false;
  samples_ = 0;
}

std::int64_t GradientAverage::bytes() const {
  std::int64_t sum = 0;
  for (const auto& parameter : parameters_) sum += static_cast<std::int64_t>(parameter.nbytes());
  return sum;
}

std::vector<at::Tensor> GradientAverage::residuals() const {
  std::vector<at::Tensor> found;
  for (const auto& bucket : buckets_)
    if (bucket.residual.defined()) found.push_back(bucket.residual);
  return found;
}

}  // namespace heatpp::nn::detail
