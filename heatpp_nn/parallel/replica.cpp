#include <heatpp_nn/parallel/replica.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/comm/detail/text.hpp>
#include <heatpp/comm/recovery/recovery.hpp>
#include <heatpp/core/detail/torch.hpp>
#include <heatpp_nn/detail/crc32c.hpp>
#include <heatpp_nn/optim/detail/squares.hpp>
#include <heatpp_nn/parallel/detail/complex_watch.hpp>
#include <heatpp_nn/parallel/detail/statistics.hpp>
#include <heatpp_nn/parallel/sync_batch_norm.hpp>
#include <heatpp_nn/training/detail/settings.hpp>

#include <ATen/MemoryOverlap.h>
#include <torch/nn/module.h>
#include <torch/optim/lbfgs.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <ranges>
#include <set>
#include <sstream>

namespace heatpp::nn {

using heatpp::detail::formatted;
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

// Returns the first rank whose value is not rank 0's.
std::optional<int> first_to_differ(const Communicator& comm, std::int64_t value) {
  std::array<std::int64_t, 1> of_0{value};
  comm.broadcast(of_0, 0);
  std::array<std::int64_t, 1> first{value == of_0[0] ? comm.size() : comm.rank()};
  comm.allreduce(first, ReduceOp::min);
  if (first[0] == comm.size()) return std::nullopt;
  return static_cast<int>(first[0]);
}

/// Returns the first lines in which two texts differ, or "nothing more" at the end of one.
std::pair<std::string, std::string> first_lines_to_differ(const std::string& a, const std::string& b) {
  std::istringstream of_a(a), of_b(b);
  const auto next = [](std::istringstream& of) {
    std::string line;
    return std::getline(of, line) ? line : "nothing more";
  };
  for (;;)
    if (auto x = next(of_a), y = next(of_b); x != y) return {x, y};
}

[[noreturn]] void refuse_complex(const char* what) {
  raise<ValueError>("Replica",
                    "got {}; expected an optimizer of the replica's parameters(), which have complex ones as real "
                    "numbers, since LibTorch's optimizers do not step complex numbers as PyTorch's do",
                    what);
}

std::vector<at::Tensor> trained_of(const torch::nn::Module& module) {
  std::vector<at::Tensor> trained;
  for (const auto& [name, tensor] : distinct(module.named_parameters()))
    if (tensor.requires_grad()) trained.push_back(tensor);
  return trained;
}

}  // namespace

Replica::Replica(std::shared_ptr<torch::nn::Module> module, const Topology& topology, const ReplicaOptions& options)
    : module_(std::move(module)),
      topology_(topology),
      options_(options),
      shard_(options.shard),
      trained_(trained_of(*module_)),
      optimized_(trained_) {
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
  check_structure(options);
  if (options.broadcast) detail::broadcast(topology_.comm(), everything_);
  if (const auto rank = first_to_differ(topology_.comm(), checksum()))
    raise<ValueError>("Replica", "got weights on rank {} that differ from those on rank 0; expected equal ones", *rank);
  make_flat();
  arrange();
}

Replica::~Replica() = default;
Replica::Replica(Replica&&) noexcept = default;
Replica& Replica::operator=(Replica&&) noexcept = default;

std::string Replica::structure() const {
  std::string text;
  for (const auto& [name, tensor] : distinct(module_->named_parameters()))
    text += formatted("{} {} {} {}\n", name, at::toString(tensor.scalar_type()),
                      heatpp::detail::tuple_text(tensor.sizes()), tensor.requires_grad());
  for (const auto& [name, tensor] : distinct(module_->named_buffers()))
    text +=
        formatted("{} {} {}\n", name, at::toString(tensor.scalar_type()), heatpp::detail::tuple_text(tensor.sizes()));
  return text;
}

void Replica::check_structure(const ReplicaOptions& options) const {
  const auto& comm = topology_.comm();
  detail::check_agreed("Replica", comm, detail::settings_of(options), [] {});
  const auto mine = structure();
  if (first_to_differ(comm, detail::crc32c(std::as_bytes(std::span(mine))))) {
    const auto theirs = heatpp::detail::text_of_rank_0(comm, mine);
    all_or_none(comm, [&] {
      if (mine == theirs) return;
      const auto [ours, first] = first_lines_to_differ(mine, theirs);
      raise<ValueError>("Replica",
                        "got a module with {} on rank 0 and with {} on rank {}; expected the same names, shapes, "
                        "dtypes and frozen parameters",
                        first, ours, comm.rank());
    });
  }
  for (std::size_t i = 0; i < buffers_.size(); ++i)
    if (at::has_internal_overlap(buffers_[i]) == at::MemOverlap::Yes)
      raise<ValueError>("Replica", "got the buffer {} whose elements share memory; expected one that is contiguous()",
                        buffer_names_[i]);
}

std::vector<at::Tensor> Replica::parameters(const torch::nn::Module& part) const {
  return parameters(part.parameters());
}

std::vector<at::Tensor> Replica::parameters(const std::vector<at::Tensor>& some) const {
  std::set<const void*> wanted;
  for (const auto& parameter : some) wanted.insert(parameter.unsafeGetTensorImpl());
  const auto is_wanted = [&](const at::Tensor& tensor) { return wanted.contains(tensor.unsafeGetTensorImpl()); };
  std::vector<at::Tensor> found;
  for (std::size_t i = 0; !shard_ && i < trained_.size(); ++i)
    if (is_wanted(trained_[i])) found.push_back(optimized_[i]);
  for (const auto& piece : std::ranges::reverse_view(owned_->pieces))
    if (is_wanted(flat_->parameters()[piece.parameter])) found.push_back(piece.values);
  return found;
}

void Replica::check(const torch::optim::Optimizer& optimizer) const {
  if (!shard_) return check_complex(optimizer);
  std::set<const void*> pieces;
  for (const auto& tensor : optimized_) pieces.insert(tensor.unsafeGetTensorImpl());
  for (const auto& group : optimizer.param_groups())
    for (const auto& tensor : group.params())
      if (!pieces.contains(tensor.unsafeGetTensorImpl()))
        raise<ValueError>("Replica",
                          "got an optimizer of other tensors than this rank's pieces; expected one of the replica's "
                          "parameters()");
}

void Replica::check_complex(const torch::optim::Optimizer& optimizer) const {
  if (flat_->complex().empty()) return;
  for (const auto& group : optimizer.param_groups())
    for (const auto& tensor : group.params())
      if (tensor.is_complex()) refuse_complex("an optimizer of a complex parameter");
  complex_->end();
}

void Replica::agree_on(const char* op, const torch::optim::Optimizer& optimizer) const {
  detail::check_agreed(op, topology_.comm(), detail::settings_of(optimizer, shard_.has_value()), [&] {
    check(optimizer);
    if (dynamic_cast<const torch::optim::LBFGS*>(&optimizer))
      raise<TypeError>(op,
                       "got LBFGS, which calls for gradients by itself; expected an optimizer that steps by those "
                       "of a batch");
  });
  if (survives_failures()) learn_groups(optimizer);
}

void Replica::update(torch::optim::Optimizer& optimizer) {
  if (std::exchange(updated_, true)) check(optimizer);
  else agree_on("Replica", optimizer);
  if (flat_->in_common()) topology_.node().barrier();  // the others may still read the weights
  optimizer.step();
  if (shard_) spread();
}

double Replica::clip_gradients(double max_norm) {
  if (!(max_norm > 0))
    raise<ValueError>("clip_gradients", "got the largest norm {}; expected a positive one", max_norm);
  std::vector<at::Tensor> gradients;
  for (const auto& tensor : optimized_)
    if (tensor.grad().defined()) gradients.push_back(tensor.grad());
  std::array<double, 1> squares{0};
  for (const auto& gradient : gradients) squares[0] += detail::squares(gradient);
  if (shard_) owned_->shares().comm().allreduce(squares);
  const auto norm = std::sqrt(squares[0]);
  if (norm > max_norm)
    for (auto& gradient : gradients) gradient.mul_(max_norm / norm);
  return norm;
}

void Replica::send_gradients(std::optional<Scope> scope) {
  if (shard_ && (!scope || *scope < *shard_))
    raise<ValueError>("Replica",
                      "got gradients that fewer ranks average than share the optimizer; expected all of these");
  gradients_->send_to(scope);
}

/// Norms over several ranks add up gradients of these ranks, so these need the same unit. Without such norms a rank
/// assumes that the others have the same number of samples.
void Replica::backward(const at::Tensor& loss, double samples) {
  const auto* const norms = ranks_of_norms(*module_);
  std::array<double, 1> sum{samples};
  if (norms) norms->allreduce(sum);
  const auto of_all = sum[0] * topology_.comm().size() / (norms ? norms->size() : 1);
  run_backward(loss, samples, gradients_->weigh(samples, of_all), norms != nullptr);
}

void Replica::backward(const at::Tensor& loss, double samples, double of_all) {
  run_backward(loss, samples, gradients_->weigh(samples, of_all), has_synchronised_norms(*module_));
}

void Replica::backward_sum(const at::Tensor& loss, double samples) {
  gradients_->add_up(samples);
  run_backward(loss, samples, samples > 0 ? 1 : 0, has_synchronised_norms(*module_));
}

/// Without samples it runs only for the messages of layers that normalise over all ranks.
void Replica::run_backward(const at::Tensor& loss, double samples, double factor, bool together) const {
  if (samples > 0 || (loss.defined() && together)) loss.backward(at::full_like(loss, factor));
}

bool Replica::finish_gradients(double scale, bool failed) {
  if (outdated_)
    raise<ValueError>("Replica",
                      "got another batch before the other ranks' new weights; expected update(optimizer) in place of "
                      "optimizer.step()");
  flat_->adopt();
  const bool thawed = std::ranges::any_of(frozen_, [](const auto& tensor) { return tensor.requires_grad(); });
  const bool unused = !shard_ && complex_->unused();
  const bool written = flat_->in_common() && flat_->is_written();
  const bool finite =
      gradients_->finish({.scale = scale, .failed = failed, .thawed = thawed, .unused = unused, .written = written});
  if (gradients_->written())
    raise<ValueError>("Replica",
                      "got weights that were written in place while ranks of a node share them; expected "
                      "change_weights([&] {{ ... }}), which writes them once, or load_safetensors(path, model)");
  if (gradients_->thawed())
    raise<ValueError>("Replica",
                      "got a parameter that requires gradients but was frozen when the module was wrapped; "
                      "expected it to be wrapped again after that");
  if (gradients_->unused()) refuse_complex("gradients of complex parameters by which nobody has stepped");
  if (finite && !shard_) complex_->begin();
  outdated_ = shard_ && finite;
  if (flat_->in_common()) gradients_->let_wait(!has_synchronised_norms(*module_));  // such layers wait themselves
  rows_ += gradients_->own_samples();
  return finite;
}

std::string Replica::not_finite() const {
  const auto bad = gradients_->bad();
  return bad ? names_[names_.size() - 1 - *bad] : std::string();
}

void Replica::throw_not_finite(std::string_view op, const std::string& parameter) const {
  std::optional<Communicator::Failure> failure;
  if (!parameter.empty())
    failure = {ErrorKind::value, formatted("[{}] got a gradient with NaN or infinity for parameter {}; expected "
                                           "finite gradients",
                                           op, parameter)};
  topology_.comm().agree(failure);
  raise<ValueError>(op, "got finite gradients whose sum over the ranks is not; expected a finite mean");
}

std::vector<at::Tensor> Replica::floating_buffers() const { return detail::floating(buffers_); }

/// The buffers change when all means have arrived, so that they are whole if a rank ends meanwhile.
void Replica::average_buffers() {
  if (topology_.comm().size() == 1) return;
  std::vector<at::Tensor> means;
  for (const auto& buffer : buffers_) means.push_back(buffer.detach().clone());
  auto copied = means;
  if (options_.buffers == BufferPolicy::average) {
    average_statistics(detail::floating(means));
    std::erase_if(copied, [](const auto& buffer) { return buffer.is_floating_point(); });
  }
  detail::broadcast(topology_.comm(), copied);
  const at::NoGradGuard no_grad;
  for (std::size_t i = 0; i < buffers_.size(); ++i) buffers_[i].copy_(means[i]);
  rows_ = 0;
}

/// Returns this rank's share of all rows; nullopt if all ranks have the same number, or none has any.
std::optional<double> Replica::share_of_rows() const {
  const auto& comm = topology_.comm();
  const auto own = said_rows_.value_or(rows_);
  std::array<double, 2> bounds{own, -own};
  comm.allreduce(bounds, ReduceOp::min);
  if (bounds[0] == -bounds[1]) return std::nullopt;
  std::array<double, 1> sum{own};
  comm.allreduce(sum);
  if (!(sum[0] > 0)) return std::nullopt;
  return own / sum[0];
}

void Replica::average_statistics(const std::vector<at::Tensor>& tensors) const {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < buffers_.size(); ++i)
    if (buffers_[i].is_floating_point()) names.push_back(buffer_names_[i]);
  detail::average_statistics(topology_, names, tensors, share_of_rows());
}

std::uint32_t Replica::checksum() const {
  std::uint32_t crc = 0;
  for (const auto& tensor : everything_) crc = continued(crc, tensor);
  return crc;
}

bool Replica::equal_on_all_ranks() const { return !first_to_differ(topology_.comm(), checksum()); }

}  // namespace heatpp::nn
