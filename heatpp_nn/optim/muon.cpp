#include <heatpp_nn/optim/muon.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp_nn/optim/detail/adam_step.hpp>
#include <heatpp_nn/optim/detail/squares.hpp>
#include <heatpp_nn/parallel/replica.hpp>

#include <algorithm>
#include <cmath>

namespace heatpp::nn {
namespace {

std::unique_ptr<MuonOptions> checked(MuonOptions options) {
  const auto share = [](double beta) { return beta >= 0 && beta < 1; };
  if (!(options.lr() >= 0 && share(options.momentum()) && options.weight_decay() >= 0 && options.ns_steps() >= 1 &&
        options.ns_steps() <= 100))
    heatpp::detail::raise<ValueError>("Muon",
                                      "got the rate {}, momentum {}, decay {} and {} iterations; expected at least 0, "
                                      "a momentum below 1, and 1 to 100 iterations",
                                      options.lr(), options.momentum(), options.weight_decay(), options.ns_steps());
  if (!(share(options.beta1()) && share(options.beta2()) && options.eps() >= 0))
    heatpp::detail::raise<ValueError>("Muon", "got betas {} and {} and eps {}; expected at least 0, and betas below 1",
                                      options.beta1(), options.beta2(), options.eps());
  return std::make_unique<MuonOptions>(options);
}

/// Calls `f` for each option, to write it to an archive or to read it.
template <class Options, class F>
void for_muon_fields(Options& options, F f) {
  f("lr", options.lr());
  f("momentum", options.momentum());
  f("nesterov", options.nesterov());
  f("weight_decay", options.weight_decay());
  f("ns_steps", options.ns_steps());
  f("match_rms", options.match_rms());
  f("orthogonal", options.orthogonal());
  f("beta1", options.beta1());
  f("beta2", options.beta2());
  f("eps", options.eps());
}

/// Returns a whole parameter as a matrix with a row for each index along its first axis.
at::Tensor as_matrix(const at::Tensor& whole) { return whole.reshape({whole.size(0), -1}); }

double scale_of(const at::Tensor& matrix, bool match_rms) {
  const auto rows = static_cast<double>(matrix.size(0)), columns = static_cast<double>(matrix.size(1));
  return match_rms ? 0.2 * std::sqrt(std::max(rows, columns)) : std::sqrt(std::max(1.0, rows / columns));
}

}  // namespace

void MuonOptions::serialize(torch::serialize::OutputArchive& archive) const {
  for_muon_fields(*this, detail::WriteTo{archive});
}

void MuonOptions::serialize(torch::serialize::InputArchive& archive) {
  for_muon_fields(*this, detail::ReadFrom{archive});
}

at::Tensor orthogonalized(const at::Tensor& matrix, std::int64_t steps) {
  constexpr double a = 3.4445, b = -4.7750, c = 2.0315;
  const bool tall = matrix.size(0) > matrix.size(1);
  auto x = tall ? matrix.t() : matrix;
  if (x.element_size() < 4) x = x.to(at::kFloat);
  x = x / (at::linalg_vector_norm(x) + 1e-7);
  for (std::int64_t i = 0; i < steps; ++i) {
    const auto square = x.mm(x.t());
    x = at::addmm(x, at::addmm(square, square, square, b, c), x, a, 1);
  }
  return (tall ? x.t() : x).to(matrix.scalar_type());
}

Muon::Muon(std::vector<at::Tensor> parameters, MuonOptions options)
    : Muon(Groups{torch::optim::OptimizerParamGroup(std::move(parameters))}, options) {}
Muon::Muon(Groups groups, MuonOptions options) : LayerwiseOptimizer(std::move(groups), checked(options), nullptr) {}
Muon::Muon(const Replica& replica, MuonOptions options)
    : Muon(replica, {torch::optim::OptimizerParamGroup(replica.parameters())}, options) {}
Muon::Muon(const Replica& replica, Groups groups, MuonOptions options)
    : LayerwiseOptimizer(std::move(groups), checked(options), &replica) {
  learn_pieces();
}

void Muon::learn_pieces() {
  const auto& flat = replica()->flat();
  const auto learn = [&](const detail::Piece& piece, bool part) {
    pieces_[piece.values.unsafeGetTensorImpl()] = {&flat.parameters()[piece.parameter], part ? &piece : nullptr};
  };
  for (const auto& piece : flat.complex()) learn(piece, false);
  for (const auto& piece : replica()->ownership().pieces) learn(piece, true);
}

Muon::Whole Muon::whole_of(const at::Tensor& tensor) const {
  const auto found = pieces_.find(tensor.unsafeGetTensorImpl());
  return found != pieces_.end() ? found->second : Whole{&tensor};
}

bool Muon::steps_orthogonally(const at::Tensor& tensor, const MuonOptions& options) const {
  const auto& parameter = *whole_of(tensor).parameter;
  return options.orthogonal() && parameter.dim() >= 2 && !parameter.is_complex();
}

/// Stores the direction in the memory of the gradient: the momentum of matrices, which is not orthogonal yet.
LayerwiseOptimizer::Squares Muon::prepare(const at::Tensor& tensor, const Options& options) {
  const auto& o = static_cast<const MuonOptions&>(options);
  auto& state = state_of<MuonState>(tensor);
  auto gradient = tensor.grad();
  state.step(state.step() + 1);
  if (!state.momentum().defined()) state.momentum(at::zeros_like(tensor));
  if (!steps_orthogonally(tensor, o)) {
    if (!state.exp_avg_sq().defined()) state.exp_avg_sq(at::zeros_like(tensor));
    detail::adam_direction(gradient, state.momentum(), state.exp_avg_sq(), state.step(),
                           {o.beta1(), o.beta2(), o.eps()});
    return {};
  }
  state.momentum().lerp_(gradient, 1 - o.momentum());
  if (o.nesterov()) gradient.lerp_(state.momentum(), o.momentum());
  else gradient.copy_(state.momentum());
  return {};
}

void Muon::complete(std::span<const at::Tensor>, std::span<double>) {
  const auto orthogonal = [](const auto& group) {
    return static_cast<const MuonOptions&>(group.options()).orthogonal();
  };
  if (replica() && std::ranges::any_of(param_groups(), orthogonal)) replica()->gather_gradients();
}

void Muon::advance(const at::Tensor& tensor, const Options& options, const Squares&) {
  const auto& o = static_cast<const MuonOptions&>(options);
  auto weights = at::Tensor(tensor).mul_(1 - o.lr() * o.weight_decay());
  if (!steps_orthogonally(tensor, o)) {
    weights.sub_(tensor.grad(), o.lr());
    return;
  }
  const auto [parameter, piece] = whole_of(tensor);
  const auto matrix = as_matrix(piece ? replica()->flat().gradient(piece->parameter) : tensor.grad());
  auto step = orthogonalized(matrix, o.ns_steps()).reshape(parameter->sizes());
  if (piece) step = step.flatten().narrow(0, piece->first, piece->count);
  weights.sub_(step, o.lr() * scale_of(matrix, o.match_rms()));
}

}  // namespace heatpp::nn
