#include <heatpp_nn/parallel/detail/gradient_average.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/torch.hpp>
#include <heatpp_nn/parallel/detail/finite.hpp>

#include <torch/csrc/autograd/function.h>

#include <algorithm>
#include <array>
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

/// Whether two tensors are the same elements in the same order.
bool same_place(const at::Tensor& a, const at::Tensor& b) {
  return a.layout() == at::kStrided && a.const_data_ptr() == b.const_data_ptr() && a.strides() == b.strides() &&
         a.scalar_type() == b.scalar_type();
}

[[noreturn]] void refuse_another() {
  raise<ValueError>("Replica",
                    "got a second backward before the gradients of the first were averaged; expected no_sync() around "
                    "all but the last, and for a network that another's loss goes through, as a GAN's discriminator, "
                    "no_sync() around that loss's backward or requires_grad_(false) for its parameters");
}

}  // namespace

GradientAverage::GradientAverage(const FlatParameters& flat, const Topology& node, const Topology& all,
                                 const GradientOptions& options)
    : flat_(flat),
      node_(node),
      all_(all),
      wire_(options.wire),
      reproducible_(options.reproducible),
      ways_(flat.buckets().size()),
      arrived_(flat.parameters().size()) {
  if (reproducible_ && wire_ != Wire::float32)
    raise<ValueError>("Replica", "got a wire of {} for reproducible sums; expected float32", name(wire_));
  for (std::size_t b = 0; b < ways_.size(); ++b) {
    const auto& bucket = flat.buckets()[b];
    bucket_of_.insert(bucket_of_.end(), bucket.end - bucket.begin, b);
    if (wire_ != Wire::float32 && bucket.gradients.scalar_type() == at::kFloat)
      ways_[b].residual = at::zeros({bucket.gradients.numel()});
  }
  for (std::size_t i = 0; i < parameters().size(); ++i) add_hook(i);
  settle();
}

GradientAverage::~GradientAverage() {
  for (auto& hook : hooks_) hook.accumulator->del_post_hook(hook.key);
}

void GradientAverage::share(const Shares& shares, std::span<const Piece> pieces, Scope scope) {
  shares_ = &shares;
  pieces_ = pieces;
  shared_by_ = scope;
}

void GradientAverage::add_hook(std::size_t parameter) {
  auto accumulator = torch::autograd::impl::grad_accumulator(parameters()[parameter]);
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

/// The unit is that of the first of several backward passes whose gradients this rank adds up.
double GradientAverage::weigh(double samples, double of_all) {
  begin_weighed(samples);
  if (unit_ == 0 && of_all > 0) {
    unit_ = std::exp2(std::ceil(std::log2(of_all)));
    factor_ = unit_ == 1 ? at::Tensor() : at::scalar_tensor(unit_, at::kDouble);
  }
  return unit_ > 0 ? samples / unit_ : samples;
}

double GradientAverage::sum_over_scope(double number) const {
  std::array<double, 1> sum{number};
  if (travels()) group().comm().allreduce(sum);
  return sum[0];
}

void GradientAverage::add_up(double samples) {
  begin_weighed(samples);
  status(sums_place) = 1;
}

void GradientAverage::begin_weighed(double samples) {
  if (!(samples >= 0 && std::isfinite(samples)))
    raise<ValueError>("backward", "got {} samples; expected at least 0", samples);
  if (std::ranges::count(arrived_, 1) > 0) refuse_another();
  weighed_ = true;
  samples_ += samples;
}

void GradientAverage::arrived(std::size_t parameter) {
  const std::lock_guard lock(mutex_);
  if (!scope_) return;
  if (arrived_[parameter]) refuse_another();  // even for one rank, which sends nothing
  take(parameter);
  --ways_[bucket_of_[parameter]].missing;
  while (launched_ < ways_.size() && ways_[launched_].missing == 0) launch_next();
  heatpp::progress();
}

/// Copies a gradient into its place in the flat memory, in units of the loss, or zeros if there is none. The parameter
/// has no gradient until its mean arrives, so another backward cannot add to memory that is being sent.
void GradientAverage::take(std::size_t parameter) {
  const at::NoGradGuard no_grad;
  arrived_[parameter] = 1;
  flat_.make_room(bucket_of_[parameter]);
  auto& gradient = parameters()[parameter].mutable_grad();
  auto place = flat_.gradient(parameter);
  status_[parameter] = gradient.defined();
  if (!gradient.defined()) {
    place.zero_();
  } else if (factor_.defined()) {
    at::mul_out(place, gradient.is_sparse() ? gradient.to_dense() : gradient, factor_);
  } else if (!same_place(gradient, place)) {
    place.copy_(gradient.is_sparse() ? gradient.to_dense() : gradient);
  }
  gradient.reset();
}

void GradientAverage::launch_next() {
  const auto bucket = launched_++;
  inspect(bucket);
  if (travels() && flat_.buckets()[bucket].gradients.numel() > 0) launch(bucket);
  if (flat_.in_common()) keep_shares(2);
}

/// Frees buckets whose sums have arrived. Waits while more than these are under way, if backward may wait.
void GradientAverage::keep_shares(std::size_t most_under_way) {
  while (kept_ < launched_ && (ways_[kept_].test() || (waits_ && launched_ - kept_ > most_under_way)))
    keep_share(kept_++);
}

/// Keeps this rank's part of a bucket's sum.
void GradientAverage::keep_share(std::size_t bucket) {
  const at::NoGradGuard no_grad;
  ways_[bucket].wait();
  shares_->gradients(bucket).copy_(shares_->part(bucket, flat_.buckets()[bucket].gradients));
  flat_.leave_room(bucket);
}

void GradientAverage::launch(std::size_t bucket) {
  auto& way = ways_[bucket];
  if (scatters()) {
    const auto values = buffer_of(flat_.buckets()[bucket].gradients);
    way.request = group().ireduce_scatter(values, shares_->counts(bucket), op());
    return;
  }
  if (flat_.in_common()) {  // the memory is another one in each batch
    way.request = group().iallreduce(buffer_of(flat_.buckets()[bucket].gradients), options_of(bucket));
    return;
  }
  if (!way.planned || way.planned->scope != *scope_ || way.planned->op != op())
    way.planned.emplace(Planned{*scope_, op(), plan(bucket)});
  way.planned->sums.start();
}

AllreduceOptions GradientAverage::options_of(std::size_t bucket) const {
  AllreduceOptions options{.op = op(), .reproducible = reproducible_};
  const auto& residual = ways_[bucket].residual;
  if (residual.defined() && *scope_ == Scope::all) {
    options.wire = wire_;
    options.residual = {residual.mutable_data_ptr<float>(), static_cast<std::size_t>(residual.numel())};
  }
  return options;
}

AllreducePlan GradientAverage::plan(std::size_t bucket) const {
  return group().plan(buffer_of(flat_.buckets()[bucket].gradients), options_of(bucket));
}

void GradientAverage::Way::wait() {
  request.wait();
  if (planned) planned->sums.wait();
}

/// Whether it has arrived, if it is not planned.
bool GradientAverage::Way::test() { return request.test(); }

void GradientAverage::inspect(std::size_t number) {
  const auto& bucket = flat_.buckets()[number];
  if (number == 0) bad_.reset();
  if (is_finite(bucket.gradients)) return;
  status(failed_place) = 1;
  for (auto i = bucket.begin; !bad_ && i < bucket.end; ++i)
    if (!is_finite(flat_.gradient(i))) bad_ = i;
}

bool GradientAverage::finish(const Finish& options) {
  for (std::size_t i = 0; i < parameters().size(); ++i)
    if (!arrived_[i]) take(i);
  while (launched_ < ways_.size()) launch_next();
  status(samples_place) = samples_;
  if (options.failed) status(failed_place) = 1;
  status(thawed_place) = options.thawed;
  status(unused_place) = options.unused;
  status(written_place) = options.written;
  if (travels()) {
    auto told = group().iallreduce(status_);
    for (auto& way : ways_) way.wait();
    told.wait();
  }
  while (flat_.in_common() && kept_ < ways_.size()) keep_share(kept_++);
  const bool finite = status(failed_place) == 0;
  thawed_ = status(thawed_place) > 0;
  unused_ = status(unused_place) > 0;
  written_ = status(written_place) > 0;
  samples_of_all_ = status(samples_place);
  if (finite) land(divisor() * options.scale);
  settle();
  return finite;
}

/// Returns the divisor of the gradients' sum over the averaging ranks, which in DASO are a part of all ranks.
double GradientAverage::divisor() {
  if (!weighed_) return 1;
  const double ranks = scope_ ? group().comm().size() : 1;
  if (status(sums_place) > 0) return ranks / all_.comm().size();
  return samples_of_all_ > 0 ? samples_of_all_ : 1;  // without samples there is no mean
}

void GradientAverage::land(double divisor) {
  const at::NoGradGuard no_grad;
  for (std::size_t b = 0; divisor != 1 && b < ways_.size(); ++b) {
    (shares_ ? shares_->gradients(b) : flat_.buckets()[b].gradients).div_(divisor);
  }
  const auto none = [this](std::size_t parameter) { return status_[parameter] == 0; };
  for (std::size_t i = 0; i < parameters().size(); ++i)
    parameters()[i].mutable_grad() = shares_ || none(i) ? at::Tensor() : flat_.gradient(i);
  const auto give = [&](const Piece& piece) {
    piece.values.mutable_grad() = none(piece.parameter) ? at::Tensor() : piece.gradient;
  };
  std::ranges::for_each(pieces_, give);
  if (shares_) return;
  for (const auto& piece : flat_.complex()) {
    parameters()[piece.parameter].mutable_grad() = at::Tensor();  // zero_grad of the optimizer would not clear it
    give(piece);
  }
}

/// Resets the state for the next batch, except for what callers may ask about this one.
void GradientAverage::settle() {
  std::ranges::fill(arrived_, 0);
  status_.assign(parameters().size() + places, 0);
  for (std::size_t b = 0; b < ways_.size(); ++b) ways_[b].missing = flat_.buckets()[b].end - flat_.buckets()[b].begin;
  launched_ = kept_ = 0;
  own_samples_ = weighed_ ? samples_ : 1;
  weighed_ = false;
  samples_ = 0;
  unit_ = 0;
  factor_.reset();
}

std::vector<at::Tensor> GradientAverage::residuals() const {
  std::vector<at::Tensor> found;
  for (const auto& way : ways_)
    if (way.residual.defined()) found.push_back(way.residual);
  return found;
}

}  // namespace heatpp::nn::detail
