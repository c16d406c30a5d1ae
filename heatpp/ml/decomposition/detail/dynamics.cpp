#include <heatpp/ml/decomposition/detail/dynamics.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/ml/detail/pieces.hpp>
#include <heatpp/ml/estimator.hpp>

namespace heatpp::ml::detail {
namespace {

using heatpp::detail::formatted;
using heatpp::detail::raise;

/// Scales columns to length 1; columns of 0 stay.
at::Tensor normed(const at::Tensor& columns) {
  const auto length = at::linalg_vector_norm(columns, 2, 0);
  return columns / at::where(length > 0, length, at::ones_like(length));
}

}  // namespace

Directions directions(const char* op, const at::Tensor& matrix, std::optional<std::int64_t> most, double rtol) {
  const auto [u, s, vh] = at::linalg_svd(matrix, /*full_matrices=*/false);
  const auto largest = s.size(0) > 0 ? s[0].item<double>() : 0;
  if (!(largest > 0)) raise<ValueError>(op, "got snapshots of zeros before the last; expected others");
  auto count = std::max<std::int64_t>(1, (s > rtol * largest).sum().item<std::int64_t>());
  if (most) count = std::min(count, *most);
  return {u.slice(1, 0, count), s.slice(0, 0, count), vh.t().slice(1, 0, count), s};
}

void solve(Dynamics& dynamics, DmdModes modes, const at::Tensor& first) {
  const auto [values, vectors] = at::linalg_eig(dynamics.transfer);
  const auto order = at::argsort(values.abs(), /*stable=*/true, 0, /*descending=*/true);
  dynamics.eigenvalues = values.index_select(0, order);
  dynamics.eigenvectors = vectors.index_select(1, order);
  const auto& lift = modes == DmdModes::exact ? dynamics.lift : dynamics.basis;
  const auto fields = normed(at::mm(lift.to(at::kComplexDouble), dynamics.eigenvectors));
  const auto amplitudes = at::mv(at::linalg_pinv(fields), first.to(at::kComplexDouble));
  dynamics.amplitudes = amplitudes.abs();
  // Moves the phase of an amplitude to its mode, whose own phase is arbitrary.
  const auto turn = at::where(dynamics.amplitudes > 0, amplitudes / dynamics.amplitudes, at::ones_like(amplitudes));
  dynamics.modes = fields * turn;
}

void check_snapshots(const char* op, const std::shared_ptr<const Snapshots>& snapshots) {
  if (!snapshots || snapshots->count() < 2)
    throw NotFittedError(formatted("[{}] got {} snapshots yet; expected two, by fit or partial_fit", op,
                                   snapshots ? snapshots->count() : 0));
}

void check_options(const char* op, const DmdOptions& o) {
  if ((o.rank && *o.rank < 1) || !(o.rtol >= 0 && o.rtol < 1) || !(o.dt > 0))
    raise<ValueError>(op, "got rank {}, rtol {} and dt {}; expected rank >= 1, 0 <= rtol < 1 and dt > 0",
                      o.rank.value_or(1), o.rtol, o.dt);
}

DNDarray small(const Snapshots& snapshots, const at::Tensor& value) {
  const bool single = snapshots.dtype() == float32;
  const auto type = value.is_complex() ? (single ? complex64 : complex128) : (single ? float32 : float64);
  return replicated(value, type, snapshots.comm());
}

at::Tensor rates_of(const Dynamics& dynamics, double dt) { return dynamics.eigenvalues.log() / dt; }

}  // namespace heatpp::ml::detail
