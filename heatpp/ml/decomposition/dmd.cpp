#include <heatpp/ml/decomposition/dmd.hpp>

#include <heatpp/ml/decomposition/detail/dynamics.hpp>
#include <heatpp/ml/detail/fitted.hpp>
#include <heatpp/ml/detail/options/decomposition.hpp>

#include <algorithm>
#include <numeric>

namespace heatpp {

using namespace ml::detail;

namespace {

/// Returns the operator from each snapshot to the next one, by least squares.
Dynamics dynamics_of(const char* op, const Snapshots& snapshots, const DmdOptions& options) {
  const auto& all = snapshots.coordinates();
  const auto before = all.slice(1, 0, -1), after = all.slice(1, 1);
  const auto [u, s, v, values] = directions(op, before, options.rank, options.rtol);
  Dynamics found;
  found.singular_values = values;
  found.basis = u;
  found.lift = at::mm(after, v / s);
  found.transfer = at::mm(u.t(), found.lift);
  solve(found, options.modes, all.select(1, 0));
  return found;
}

}  // namespace

DMD& DMD::fit(const DNDarray& x) {
  check_agreed("DMD.fit", x, options_);
  check_options("DMD.fit", options_);
  snapshots_ = std::make_shared<const Snapshots>("DMD.fit", x);
  dynamics_.reset();
  return *this;
}

DMD& DMD::partial_fit(const DNDarray& field) {
  if (!snapshots_) check_agreed("DMD.partial_fit", field, options_);
  check_options("DMD.partial_fit", options_);
  const auto before = snapshots_ ? std::optional(*snapshots_) : std::nullopt;
  snapshots_ = std::make_shared<const Snapshots>(Snapshots::with("DMD.partial_fit", before, field));
  dynamics_.reset();
  return *this;
}

const Dynamics& DMD::fitted_state(const char* what) const {
  const Method op("DMD", what);
  check_snapshots(op, snapshots_);
  if (!dynamics_) dynamics_ = std::make_shared<const Dynamics>(dynamics_of(op, *snapshots_, options_));
  return *dynamics_;
}

DNDarray DMD::predict(const DNDarray& fields, const std::vector<std::int64_t>& steps) const {
  const auto& d = fitted_state("predict");
  if (!steps.empty() && std::ranges::min(steps) < 0)
    detail::raise<ValueError>("DMD.predict", "got {} steps; expected numbers that are not negative",
                              std::ranges::min(steps));
  const auto start = snapshots_->coordinates_of("DMD.predict", fields);
  const auto within = at::mm(d.basis.t(), start);
  std::vector<at::Tensor> states;
  for (const auto n : steps)
    states.push_back(n == 0 ? start : at::mm(d.lift, at::mm(at::linalg_matrix_power(d.transfer, n - 1), within)));
  const auto count = std::ssize(steps);
  const auto all = states.empty() ? at::empty({d.basis.size(0), within.size(1), 0}, at::kDouble) : at::stack(states, 2);
  Shape extents{count};
  if (fields.ndim() > static_cast<int>(snapshots_->shape().size())) extents = {within.size(1), count};
  return snapshots_->fields(all.reshape({all.size(0), all.size(1) * all.size(2)}), extents);
}

DNDarray DMD::reconstruct(const std::vector<double>& times) const {
  const auto& d = fitted_state("reconstruct");
  const auto count = std::ssize(times);
  auto growth = at::empty({d.eigenvalues.size(0), count}, at::kComplexDouble);
  for (std::int64_t i = 0; i < count; ++i) {
    const auto steps = times[static_cast<std::size_t>(i)] / options_.dt;
    // 0 to the power of 0 is 1, which logarithms cannot give.
    growth.select(1, i).copy_(steps == 0 ? at::ones_like(d.eigenvalues) : at::pow(d.eigenvalues, steps));
  }
  const auto sum = at::mm(d.modes * d.amplitudes, growth);
  return snapshots_->fields(at::real(sum).contiguous(), {count});
}

DNDarray DMD::reconstruct() const {
  std::vector<double> times(static_cast<std::size_t>(n_snapshots()));
  for (std::size_t i = 0; i < times.size(); ++i) times[i] = static_cast<double>(i) * options_.dt;
  return reconstruct(times);
}

DNDarray DMD::eigenvalues() const {
  const auto& d = fitted_state("eigenvalues");
  return small(*snapshots_, d.eigenvalues);
}
DNDarray DMD::rates() const {
  const auto& d = fitted_state("rates");
  return small(*snapshots_, rates_of(d, options_.dt));
}
DNDarray DMD::modes() const {
  const auto& d = fitted_state("modes");
  return snapshots_->fields(d.modes, {n_modes()});
}
DNDarray DMD::amplitudes() const {
  const auto& d = fitted_state("amplitudes");
  return small(*snapshots_, d.amplitudes);
}
DNDarray DMD::singular_values() const {
  const auto& d = fitted_state("singular_values");
  return small(*snapshots_, d.singular_values);
}
DNDarray DMD::basis() const {
  const auto& d = fitted_state("basis");
  return snapshots_->fields(d.basis, {n_modes()});
}
DNDarray DMD::transfer() const {
  const auto& d = fitted_state("transfer");
  return small(*snapshots_, d.transfer);
}
DNDarray DMD::eigenvectors() const {
  const auto& d = fitted_state("eigenvectors");
  return small(*snapshots_, d.eigenvectors);
}
std::int64_t DMD::n_modes() const { return fitted_state("n_modes").eigenvalues.size(0); }
std::int64_t DMD::n_snapshots() const { return snapshots_ ? snapshots_->count() : 0; }

}  // namespace heatpp
