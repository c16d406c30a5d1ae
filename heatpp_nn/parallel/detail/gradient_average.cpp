#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/torch.hpp>
#include <heatpp_nn/parallel/detail/finite.hpp>
#include <heatpp_nn/parallel/detail/gradient_average.hpp>

#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/variable.h>

#include <algorithm>
#include <cmath>

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

std::vector<at::Tensor> reversed(std::vector<at::Tensor> tensors) {
  std::ranges::reverse(tensors);
  return tensors;
}

/// Whether two tensors are the same elements in the same order.
bool same_place(const at::Tensor& a, const at::Tensor& b) {
  return a.layout() == at::kStrided && a.const_data_ptr() == b.const_data_ptr() && a.strides() == b.strides() &&
         a.scalar_type() == b.scalar_type();
}

}  // namespace

GradientAverage::GradientAverage(std::vector<at::Tensor> parameters, const Topology& node, const Topology& all,
                                 const GradientOptions& options)
    : parameters_(reversed(std::move(parameters))),
      flat_(parameters_),
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
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    auto* bucket = buckets_.empty() ? nullptr : &buckets_.back();
    const auto& parameter = parameters_[i];
    if (!bucket || bytes_of(*bucket) >= options.bucket_bytes ||
        parameters_[bucket->begin].options().dtype() != parameter.dtype() ||
        parameters_[bucket->begin].device() != parameter.device()) {
      buckets_.push_back({.begin = i});
      bucket = &buckets_.back();
    }
    bucket->end = i + 1;
    bucket_of_[i] = buckets_.size() - 1;
  }
  for (auto& bucket : buckets_) {
    bucket.values = flat_.stretch(bucket.begin, bucket.end);
    if (wire_ != Dtype::float32 && bucket.values.scalar_type() == at::kFloat)
      bucket.residual = at::zeros({bucket.values.numel()});
  }
}

std::int64_t GradientAverage::bytes_of(const Bucket& bucket) const {
  std::int64_t sum = 0;
  for (auto i = bucket.begin; i < bucket.end; ++i) sum += static_cast<std::int64_t>(parameters_[i].nbytes());
  return sum;
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
  if (!(samples >= 0 && std::isfinite(samples)))
    raise<ValueError>("backward", "got {} samples; expected at least 0", samples);
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
  take(parameter);
  --buckets_[bucket_of_[parameter]].missing;
  while (launched_ < buckets_.size() && buckets_[launched_].missing == 0) launch(buckets_[launched_++]);
  heatpp::progress();
}

/// Puts a gradient into its place, zeros where there is none.
void GradientAverage::take(std::size_t parameter) {
  const at::NoGradGuard no_grad;
  arrived_[parameter] = 1;
  auto& gradient = parameters_[parameter].mutable_grad();
  const auto& place = flat_.view(parameter);
  status_[parameter] = gradient.defined();
  if (!gradient.defined()) {
    place.zero_();
  } else if (!same_place(gradient, place)) {
    place.copy_(gradient.is_sparse() ? gradient.to_dense() : gradient);
    gradient = place;
  }
}

void GradientAverage::launch(Bucket& bucket) {
  inspect(bucket);
  if (!travels() || bucket.values.numel() == 0) return;
  AllreduceOptions options{.op = op(), .reproducible = reproducible_};
  if (bucket.residual.defined() && *scope_ == Scope::all) {
    options.wire = wire_;
    options.residual = {bucket.residual.mutable_data_ptr<float>(), static_cast<std::size_t>(bucket.residual.numel())};
  }
  bucket.request = group().iallreduce(buffer_of(bucket.values), options);
}

void GradientAverage::inspect(const Bucket& bucket) {
  if (bucket.begin == 0) bad_.reset();
  if (is_finite(bucket.values)) return;
  status(failed_place) = 1;
  for (auto i = bucket.begin; !bad_ && i < bucket.end; ++i)
    if (!is_finite(flat_.view(i))) bad_ = i;
}

bool GradientAverage::finish(const Finish& options) {
  for (std::size_t i = 0; i < parameters_.size(); ++i)
    if (!arrived_[i]) take(i);
  while (launched_ < buckets_.size()) launch(buckets_[launched_++]);
  status(samples_place) = samples_;
  if (options.failed) status(failed_place) = 1;
  status(thawed_place) = options.thawed;
  if (travels()) {
    auto told = group().iallreduce(status_);
    for (auto& bucket : buckets_) bucket.request.wait();
    told.wait();
  }
  const bool finite = status(failed_place) == 0;
  thawed_ = status(thawed_place) > 0;
  samples_of_all_ = status(samples_place);
  // Without samples there is nothing to take the mean of.
  const auto samples = weighed_ && samples_of_all_ > 0 ? samples_of_all_ : 1;
  if (finite)
    for (const auto& bucket : buckets_) land(bucket, samples * options.scale);
  settle();
  return finite;
}

void GradientAverage::land(const Bucket& bucket, double divisor) {
  const at::NoGradGuard no_grad;
  if (divisor != 1) bucket.values.div_(divisor);
  for (auto i = bucket.begin; i < bucket.end; ++i)
    parameters_[i].mutable_grad() = status_[i] == 0 ? at::Tensor() : flat_.view(i);
}

/// Clears the way for the next batch, but for what is asked about this one.
void GradientAverage::settle() {
  std::ranges::fill(arrived_, 0);
  status_.assign(parameters_.size() + places, 0);
  for (auto& bucket : buckets_) bucket.missing = bucket.end - bucket.begin;
  launched_ = 0;
  idle_ = weighed_ && samples_ == 0;
  weighed_ = false;
  samples_ = 0;
}

std::vector<at::Tensor> GradientAverage::residuals() const {
  std::vector<at::Tensor> found;
  for (const auto& bucket : buckets_)
    if (bucket.residual.defined()) found.push_back(bucket.residual);
  return found;
}

}  // namespace heatpp::nn::detail
