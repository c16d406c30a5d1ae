#include <heatpp/ml/decomposition/dmdc.hpp>

#include <heatpp/core/redistribute.hpp>
#include <heatpp/ml/decomposition/detail/dynamics.hpp>
#include <heatpp/ml/detail/fitted.hpp>
#include <heatpp/ml/detail/options/decomposition.hpp>
#include <heatpp/ml/detail/pieces.hpp>

namespace heatpp {

using namespace ml::detail;

/// The operators of the fields and of the controls.
struct DMDc::Driven {
  Dynamics fields;
  at::Tensor control;  ///< (r, controls)
  std::int64_t system_modes;
};

namespace {

DmdOptions of_fields(const DmdcOptions& o) { return {.rank = o.rank, .rtol = o.rtol, .dt = o.dt, .modes = o.modes}; }

/// Returns the controls on every rank, float64.
at::Tensor numbers_of(const char* op, const DNDarray& controls, int axes) {
  if (controls.ndim() != axes)
    detail::raise<ValueError>(op, "got controls of shape {}; expected {} axes", to_string(controls.shape()), axes);
  const auto numbers = resplit(controls, std::nullopt).larray().to(at::kCPU, at::kDouble);
  if (!numbers.isfinite().all().item<bool>())
    detail::raise<ValueError>(op, "got controls that are not finite; expected finite ones");
  return numbers;
}

}  // namespace

DMDc& DMDc::fit(const DNDarray& x, const DNDarray& controls) {
  constexpr auto op = "DMDc.fit";
  check_agreed(op, x, options_);
  check_options(op, of_fields(options_));
  const auto numbers = numbers_of(op, controls, 2);
  if (x.ndim() < 2 || (numbers.size(1) != x.shape().back() && numbers.size(1) != x.shape().back() - 1))
    detail::raise<ValueError>(op, "got snapshots of shape {} and controls of shape {}; expected as many, or one less",
                              to_string(x.shape()), to_string(controls.shape()));
  snapshots_ = std::make_shared<const Snapshots>(op, x);
  controls_ = replicated(numbers, float64, x.comm());
  driven_.reset();
  return *this;
}

DMDc& DMDc::partial_fit(const DNDarray& field, const DNDarray& controls) {
  constexpr auto op = "DMDc.partial_fit";
  if (!snapshots_) check_agreed(op, field, options_);
  check_options(op, of_fields(options_));
  auto numbers = numbers_of(op, controls, 1).unsqueeze(1);
  if (controls_ && (controls_->shape()[0] != numbers.size(0) || controls_->shape()[1] != n_snapshots()))
    detail::raise<ValueError>(op,
                              "got {} controls beside {} for {} snapshots; expected as many controls, and one column "
                              "for each snapshot",
                              numbers.size(0), to_string(controls_->shape()), n_snapshots());
  const auto before = snapshots_ ? std::optional(*snapshots_) : std::nullopt;
  snapshots_ = std::make_shared<const Snapshots>(Snapshots::with(op, before, field));
  if (controls_) numbers = at::cat({controls_->larray(), numbers}, 1);
  controls_ = replicated(numbers, float64, field.comm());
  driven_.reset();
  return *this;
}

const DMDc::Driven& DMDc::fitted_state(const char* what) const {
  const Method op("DMDc", what);
  check_snapshots(op, snapshots_);
  if (driven_) return *driven_;
  const auto& all = snapshots_->coordinates();
  const auto before = all.slice(1, 0, -1), after = all.slice(1, 1);
  const auto controls = controls_->larray().slice(1, 0, before.size(1));
  const auto [u, s, v, values] = directions(op, at::cat({before, controls}), options_.system_rank, options_.rtol);
  const auto fields = directions(op, after, options_.rank, options_.rtol);
  const auto onward = at::mm(after, v / s);
  Driven found{{}, {}, s.size(0)};
  found.fields.singular_values = values;
  found.fields.basis = fields.u;
  found.fields.lift = at::mm(onward, at::mm(u.slice(0, 0, before.size(0)).t(), fields.u));
  found.fields.transfer = at::mm(fields.u.t(), found.fields.lift);
  found.control = at::mm(fields.u.t(), at::mm(onward, u.slice(0, before.size(0)).t()));
  solve(found.fields, options_.modes, all.select(1, 0));
  driven_ = std::make_shared<const Driven>(std::move(found));
  return *driven_;
}

DNDarray DMDc::predict(const DNDarray& fields, const DNDarray& controls) const {
  constexpr auto op = "DMDc.predict";
  const auto& d = fitted_state("predict");
  const auto numbers = numbers_of(op, controls, 2);
  if (numbers.size(0) != d.control.size(1))
    detail::raise<ValueError>(op, "got controls of shape {}; expected ({}, steps)", to_string(controls.shape()),
                              d.control.size(1));
  auto state = at::mm(d.fields.basis.t(), snapshots_->coordinates_of(op, fields));
  const auto many = state.size(1), steps = numbers.size(1);
  const auto states = at::empty({state.size(0), many, steps}, at::kDouble);
  for (std::int64_t i = 0; i < steps; ++i) {
    state = at::mm(d.fields.transfer, state) + at::mv(d.control, numbers.select(1, i)).unsqueeze(1);
    states.select(2, i).copy_(state);
  }
  Shape extents{steps};
  if (fields.ndim() > static_cast<int>(snapshots_->shape().size())) extents = {many, steps};
  return snapshots_->fields(at::mm(d.fields.basis, states.reshape({states.size(0), many * steps})), extents);
}

DNDarray DMDc::eigenvalues() const {
  const auto& d = fitted_state("eigenvalues");
  return small(*snapshots_, d.fields.eigenvalues);
}
DNDarray DMDc::rates() const {
  const auto& d = fitted_state("rates");
  return small(*snapshots_, rates_of(d.fields, options_.dt));
}
DNDarray DMDc::modes() const {
  const auto& d = fitted_state("modes");
  return snapshots_->fields(d.fields.modes, {n_modes()});
}
DNDarray DMDc::amplitudes() const {
  const auto& d = fitted_state("amplitudes");
  return small(*snapshots_, d.fields.amplitudes);
}
DNDarray DMDc::basis() const {
  const auto& d = fitted_state("basis");
  return snapshots_->fields(d.fields.basis, {n_modes()});
}
DNDarray DMDc::transfer() const {
  const auto& d = fitted_state("transfer");
  return small(*snapshots_, d.fields.transfer);
}
DNDarray DMDc::control() const {
  const auto& d = fitted_state("control");
  return small(*snapshots_, d.control);
}
DNDarray DMDc::eigenvectors() const {
  const auto& d = fitted_state("eigenvectors");
  return small(*snapshots_, d.fields.eigenvectors);
}
std::int64_t DMDc::n_modes() const { return fitted_state("n_modes").fields.eigenvalues.size(0); }
std::int64_t DMDc::n_system_modes() const { return fitted_state("n_system_modes").system_modes; }
std::int64_t DMDc::n_snapshots() const { return snapshots_ ? snapshots_->count() : 0; }

}  // namespace heatpp
