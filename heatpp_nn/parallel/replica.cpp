#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/torch.hpp>
#include <heatpp_nn/detail/crc32c.hpp>
#include <heatpp_nn/parallel/detail/flat.hpp>
#include <heatpp_nn/parallel/replica.hpp>

#include <torch/nn/module.h>

#include <algorithm>
#include <map>
#include <set>

namespace heatpp::nn {

using heatpp::detail::buffer_of;
using heatpp::detail::raise;

namespace {

using Named = std::vector<std::pair<std::string, at::Tensor>>;

// A tensor that the module holds under two names is one tensor.
Named distinct(const torch::OrderedDict<std::string, at::Tensor>& tensors) {
  std::set<const void*> seen;
  Named found;
  for (const auto& item : tensors)
    if (item.value().defined() && seen.insert(item.value().unsafeGetTensorImpl()).second)
      found.emplace_back(item.key(), item.value());
  return found;
}

std::uint32_t continued(std::uint32_t crc, const at::Tensor& tensor) {
  const auto host = tensor.detach().cpu().contiguous();
  return detail::crc32c({static_cast<const std::byte*>(host.data_ptr()), host.nbytes()}, crc);
}

std::uint32_t structure_of(const torch::nn::Module& module) {
  std::string text;
  for (const auto& [name, tensor] : distinct(module.named_parameters()))
    text += fmt::format("{} {} {} {}\n", name, at::toString(tensor.scalar_type()),
                        heatpp::detail::tuple_text(tensor.sizes()), tensor.requires_grad());
  for (const auto& [name, tensor] : distinct(module.named_buffers()))
    text +=
        fmt::format("{} {} {}\n", name, at::toString(tensor.scalar_type()), heatpp::detail::tuple_text(tensor.sizes()));
  return detail::crc32c(std::as_bytes(std::span(text)));
}

// The first rank whose value is not rank 0's.
std::optional<int> first_to_differ(const Communicator& comm, std::int64_t value) {
  const auto all = comm.allgather(value);
  const auto found = std::ranges::find_if(all, [&](auto other) { return other != all.front(); });
  if (found == all.end()) return std::nullopt;
  return static_cast<int>(found - all.begin());
}

/// "block.norm.running_var" as "block.norm" and "running_var".
std::pair<std::string, std::string> split_name(const std::string& name) {
  const auto dot = name.rfind('.');
  if (dot == std::string::npos) return {"", name};
  return {name.substr(0, dot), name.substr(dot + 1)};
}

std::vector<at::Tensor> trained_of(const torch::nn::Module& module) {
  std::vector<at::Tensor> trained;
  for (const auto& [name, tensor] : distinct(module.named_parameters()))
    if (tensor.requires_grad()) trained.push_back(tensor);
  return trained;
}

}  // namespace

Replica::Replica(std::shared_ptr<torch::nn::Module> module, const Topology& topology, const ReplicaOptions& options)
    : module_(std::move(module)), topology_(topology), policy_(options.buffers), trained_(trained_of(*module_)) {
  for (const auto& [name, tensor] : distinct(module_->named_parameters())) {
    if (tensor.requires_grad()) names_.push_back(name);
    else frozen_.push_back(tensor);
    everything_.push_back(tensor);
  }
  for (const auto& [name, tensor] : distinct(module_->named_buffers())) {
    buffers_.push_back(tensor);
    buffer_names_.push_back(name);
  }
  everything_.insert(everything_.end(), buffers_.begin(), buffers_.end());
  check_structure();
  if (options.broadcast) broadcast_from_rank_0();
  if (const auto rank = first_to_differ(topology_.comm(), checksum()))
    raise<ValueError>("Replica", "got weights on rank {} that differ from those on rank 0; expected equal ones", *rank);
  const Topology node(topology_.node(), {.node_of = [](int) { return 0; }});
  gradients_ = std::make_unique<detail::GradientAverage>(trained_, node, topology_, options.gradients);
  gradients_->send_to(Scope::all);
}

Replica::~Replica() = default;
Replica::Replica(Replica&&) noexcept = default;
Replica& Replica::operator=(Replica&&) noexcept = default;

void Replica::check_structure() const {
  if (const auto rank = first_to_differ(topology_.comm(), structure_of(*module_)))
    raise<ValueError>("Replica",
                      "got a module on rank {} with other names, shapes, dtypes or frozen parameters than on rank 0; "
                      "expected the same module on all ranks",
                      *rank);
}

void Replica::broadcast_from_rank_0() {
  if (topology_.comm().size() == 1) return;
  detail::FlatBuffers flat(everything_);
  flat.pack(everything_);
  for (const auto& buffer : flat.buffers()) topology_.comm().broadcast(buffer_of(buffer), 0);
  flat.unpack(everything_);
}

void Replica::backward(const at::Tensor& loss, double samples) {
  gradients_->weigh(samples);
  if (samples > 0) loss.backward(at::full_like(loss, samples));
}

bool Replica::finish_gradients(double scale, bool failed) {
  const bool thawed = std::ranges::any_of(frozen_, [](const auto& tensor) { return tensor.requires_grad(); });
  const bool finite = gradients_->finish({.scale = scale, .failed = failed, .thawed = thawed});
  if (gradients_->thawed())
    raise<ValueError>("Replica",
                      "got a parameter that requires gradients but was frozen when the module was wrapped; "
                      "expected it to be wrapped again after that");
  return finite;
}

std::string Replica::not_finite() const {
  const auto bad = gradients_->bad();
  return bad ? names_[names_.size() - 1 - *bad] : std::string();
}

void Replica::throw_not_finite(std::string_view op, const std::string& parameter) const {
  std::optional<Communicator::Failure> failure;
  if (!parameter.empty())
    failure = {ErrorKind::value, fmt::format("[{}] got a gradient with NaN or infinity for parameter {}; expected "
                                             "finite gradients",
                                             op, parameter)};
  topology_.comm().agree(failure);
  raise<ValueError>(op, "got finite gradients whose sum over the ranks is not; expected a finite mean");
}

void Replica::average_buffers() {
  if (topology_.comm().size() == 1) return;
  std::vector<std::size_t> floating;
  std::vector<at::Tensor> copied;
  for (std::size_t i = 0; i < buffers_.size(); ++i) {
    if (buffers_[i].is_floating_point() && policy_ == BufferPolicy::average) floating.push_back(i);
    else copied.push_back(buffers_[i]);
  }
  average_floating(floating);
  detail::FlatBuffers flat(copied);
  flat.pack(copied);
  for (const auto& buffer : flat.buffers()) topology_.comm().broadcast(buffer_of(buffer), 0);
  flat.unpack(copied);
}

/// Means first, so that a variance can take up how far this rank's mean was from that of all.
void Replica::average_floating(const std::vector<std::size_t>& which) {
  const at::NoGradGuard no_grad;
  std::map<std::string, std::pair<at::Tensor, at::Tensor>> own_means;  // by the module's name: the buffer, as it was
  std::vector<at::Tensor> first, variances;
  for (const auto i : which) {
    const auto [module, name] = split_name(buffer_names_[i]);
    if (name == "running_mean") own_means[module] = {buffers_[i], buffers_[i].clone()};
    if (name != "running_var") first.push_back(buffers_[i]);
  }
  detail::average(topology_, first);
  for (const auto i : which) {
    const auto [module, name] = split_name(buffer_names_[i]);
    if (name != "running_var") continue;
    variances.push_back(buffers_[i]);
    const auto found = own_means.find(module);
    if (found == own_means.end() || found->second.first.sizes() != buffers_[i].sizes()) continue;
    const auto& [mean, own] = found->second;
    variances.back().add_((own - mean).square_());
  }
  detail::average(topology_, variances);
}

std::uint32_t Replica::checksum() const {
  std::uint32_t crc = 0;
  for (const auto& tensor : everything_) crc = continued(crc, tensor);
  return crc;
}

bool Replica::equal_on_all_ranks() const { return !first_to_differ(topology_.comm(), checksum()); }

}  // namespace heatpp::nn
