#include <heatpp_nn/parallel/sync_batch_norm.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/torch.hpp>

#include <ATen/ATen.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/nn/modules/batchnorm.h>

#include <span>

namespace heatpp::nn {
namespace {

using heatpp::detail::raise;

/// For one feature: the number of values, their mean, and the sum of squares of their distances from it.
struct Moments {
  double count = 0, mean = 0, squares = 0;
};

void merge(const void* from, void* into, std::int64_t n) {
  const auto* a = static_cast<const Moments*>(from);
  auto* b = static_cast<Moments*>(into);
  for (std::int64_t i = 0; i < n; ++i) {
    const auto count = a[i].count + b[i].count;
    if (count == 0) continue;
    const auto apart = b[i].mean - a[i].mean;
    b[i] = {count, a[i].mean + apart * b[i].count / count,
            a[i].squares + b[i].squares + apart * apart * a[i].count * b[i].count / count};
  }
}

/// Returns the dtype of sums: float32 for 16-bit floats.
at::ScalarType sum_type(const at::Tensor& x) {
  return at::isReducedFloatingType(x.scalar_type()) ? at::kFloat : x.scalar_type();
}

std::vector<std::int64_t> all_but_features(const at::Tensor& x) {
  std::vector<std::int64_t> axes{0};
  for (std::int64_t axis = 2; axis < x.dim(); ++axis) axes.push_back(axis);
  return axes;
}

/// Reshapes one number for each feature so that it broadcasts over the other axes.
at::Tensor along_features(const at::Tensor& numbers, const at::Tensor& x) {
  std::vector<std::int64_t> shape(static_cast<std::size_t>(x.dim()), 1);
  shape[1] = x.size(1);
  return numbers.view(shape);
}

/// Returns the moments over all ranks' rows.
std::vector<Moments> moments_of_all(const at::Tensor& x, const Communicator& comm) {
  std::vector<Moments> moments(static_cast<std::size_t>(x.size(1)));
  if (x.numel() > 0) {
    const auto [var, mean] = at::var_mean(x.to(sum_type(x)), all_but_features(x), std::optional<at::Scalar>(0));
    const auto vars = var.to(at::kDouble).cpu(), means = mean.to(at::kDouble).cpu();
    const auto count = static_cast<double>(x.numel() / x.size(1));
    for (std::size_t i = 0; i < moments.size(); ++i) {
      const auto at = static_cast<std::int64_t>(i);
      moments[i] = {count, means.const_data_ptr<double>()[at], vars.const_data_ptr<double>()[at] * count};
    }
  }
  comm.allreduce_records(moments.data(), std::ssize(moments), sizeof(Moments), merge);
  return moments;
}

struct Ranks : torch::CustomClassHolder {
  explicit Ranks(const Communicator& of) : comm(of) {}
  Communicator comm;
};

/// Normalises by statistics of the inputs of all ranks, and propagates gradients through these statistics.
class Normalise : public torch::autograd::Function<Normalise> {
 public:
  using Context = torch::autograd::AutogradContext;
  using Variables = torch::autograd::variable_list;

  static at::Tensor forward(Context* context, const at::Tensor& x, const std::optional<at::Tensor>& weight,
                            const std::optional<at::Tensor>& bias, const at::Tensor& mean, const at::Tensor& var,
                            double eps, double count, const Communicator& comm) {
    context->save_for_backward({x, weight.value_or(at::Tensor()), mean, var});
    context->saved_data["eps"] = eps;
    context->saved_data["count"] = count;
    context->saved_data["ranks"] = c10::IValue::make_capsule(c10::make_intrusive<Ranks>(comm));
    if (x.numel() == 0) return x.clone();
    return at::batch_norm(x, weight, bias, mean, var, false, 0, eps, false);
  }

  static Variables backward(Context* context, Variables gradients) {
    const auto saved = context->get_saved_variables();
    const auto &x = saved[0], &weight = saved[1], &mean = saved[2], &var = saved[3];
    const auto eps = context->saved_data["eps"].toDouble(), count = context->saved_data["count"].toDouble();
    auto of_x = at::zeros_like(x), of_weight = at::zeros_like(mean), of_bias = at::zeros_like(mean);
    if (x.numel() > 0)
      std::tie(of_x, of_weight, of_bias) =
          at::native_batch_norm_backward(gradients[0].contiguous(x.suggest_memory_format()), x, weight, mean, var, {},
                                         {}, false, eps, {true, true, true});
    if (context->needs_input_grad(0) && count > 0) {
      auto sums = at::stack({of_bias, of_weight}).to(at::kDouble).cpu();
      static_cast<Ranks&>(*context->saved_data["ranks"].toCapsule()).comm.allreduce(heatpp::detail::buffer_of(sums));
      of_x = through_statistics(of_x, sums.to(x.device()), count, saved, eps);
    }
    const bool affine = weight.defined();
    return {of_x, affine ? of_weight : at::Tensor(), affine ? of_bias : at::Tensor(), {}, {}, {}, {}, {}};
  }

 private:
  /// Returns the gradient of the inputs, including the paths through mean and variance.
  static at::Tensor through_statistics(const at::Tensor& direct, const at::Tensor& sums, double count,
                                       const Variables& saved, double eps) {
    const auto &x = saved[0], &weight = saved[1], &mean = saved[2], &var = saved[3];
    const auto type = sum_type(x);
    const auto along = [&](const at::Tensor& numbers) { return along_features(numbers.to(type), x); };
    const auto inverse = (var.to(at::kDouble) + eps).rsqrt();
    auto scale = inverse / count;
    if (weight.defined()) scale = scale * weight;
    auto change = (x.to(type) - along(mean)).mul_(along(sums[1] * inverse * scale)).add_(along(sums[0] * scale));
    return direct.scalar_type() == type ? change.neg_().add_(direct)
                                        : (direct.to(type) - change).to(direct.scalar_type());
  }
};

}  // namespace

SyncBatchNormImpl::SyncBatchNormImpl(std::int64_t features, const SyncBatchNormOptions& options)
    : features_(features), options_(options) {
  if (features < 1) raise<ValueError>("SyncBatchNorm", "got {} features; expected at least 1", features);
  const auto if_any = [&](bool any, const at::Tensor& tensor) { return any ? tensor : at::Tensor(); };
  weight = register_parameter("weight", if_any(options.affine, at::ones({features})), options.affine);
  bias = register_parameter("bias", if_any(options.affine, at::zeros({features})), options.affine);
  const bool track = options.track_running_stats;
  running_mean = register_buffer("running_mean", if_any(track, at::zeros({features})));
  running_var = register_buffer("running_var", if_any(track, at::ones({features})));
  num_batches_tracked = register_buffer("num_batches_tracked", if_any(track, at::zeros({}, at::kLong)));
}

double SyncBatchNormImpl::count_batch() {
  if (is_training() && options_.track_running_stats) {
    const at::NoGradGuard no_grad;
    num_batches_tracked.add_(1);
    if (!options_.momentum) return 1 / num_batches_tracked.item<double>();
  }
  return options_.momentum.value_or(0);
}

at::Tensor SyncBatchNormImpl::forward(const at::Tensor& x) {
  if (x.dim() < 2 || x.size(1) != features_)
    raise<ValueError>("SyncBatchNorm", "got inputs of shape {}; expected rows of {} features",
                      heatpp::detail::tuple_text(x.sizes()), features_);
  const auto share = count_batch();
  if (is_training() && is_synchronised()) return forward_of_all(x, share);
  const bool of_batch = is_training() || !options_.track_running_stats;
  if (of_batch && x.numel() == features_)
    raise<ValueError>("SyncBatchNorm", "got one value of each feature; expected more in train mode");
  return at::batch_norm(x, weight, bias, running_mean, running_var, of_batch, share, options_.eps,
                        at::globalContext().userEnabledCuDNN());
}

at::Tensor SyncBatchNormImpl::forward_of_all(const at::Tensor& x, double share) {
  const auto moments = moments_of_all(x.detach(), *comm_);
  const auto count = moments.front().count;
  if (count == 1)
    raise<ValueError>("SyncBatchNorm", "got one value of each feature on all ranks; expected more in train mode");
  auto means = at::zeros({2, features_}, at::kDouble);
  for (std::int64_t i = 0; i < features_ && count > 0; ++i) {
    const auto& own = moments[static_cast<std::size_t>(i)];
    means.mutable_data_ptr<double>()[i] = own.mean;
    means.mutable_data_ptr<double>()[features_ + i] = own.squares / count;
  }
  means = means.to(x.device());
  if (running_mean.defined() && count > 0) {
    const at::NoGradGuard no_grad;
    running_mean.lerp_(means[0].to(running_mean.scalar_type()), share);
    running_var.lerp_((means[1] * (count / (count - 1))).to(running_var.scalar_type()), share);
  }
  const auto type = weight.defined() ? weight.scalar_type() : x.scalar_type();
  const auto if_any = [](const at::Tensor& tensor) { return tensor.defined() ? std::optional(tensor) : std::nullopt; };
  return Normalise::apply(x, if_any(weight), if_any(bias), means[0].to(type), means[1].to(type), options_.eps, count,
                          *comm_);
}

std::int64_t synchronise_norms(torch::nn::Module& module, const Topology& topology, Scope scope) {
  for (const auto& item : module.named_modules())
    if (dynamic_cast<const torch::nn::BatchNorm1dImpl*>(item.value().get()) ||
        dynamic_cast<const torch::nn::BatchNorm2dImpl*>(item.value().get()) ||
        dynamic_cast<const torch::nn::BatchNorm3dImpl*>(item.value().get()))
      raise<ValueError>("synchronise_norms",
                        "got the layer \"{}\", which is LibTorch's BatchNorm; expected SyncBatchNorm", item.key());
  // Messages of gradients may be under way between those of the layers.
  const auto comm = *(scope == Scope::all ? topology.comm() : topology.node()).split(0);
  std::int64_t layers = 0;
  for (const auto& part : module.modules())
    if (auto* norm = part->as<SyncBatchNormImpl>()) {
      norm->set_ranks(comm);
      ++layers;
    }
  return layers;
}

const Communicator* ranks_of_norms(const torch::nn::Module& module) {
  const Communicator* most = nullptr;
  for (const auto& part : module.modules())
    if (const auto* norm = part->as<SyncBatchNormImpl>(); norm && norm->ranks())
      if (!most || norm->ranks()->size() > most->size()) most = norm->ranks();
  return most;
}

bool has_synchronised_norms(const torch::nn::Module& module) { return ranks_of_norms(module) != nullptr; }

}  // namespace heatpp::nn
