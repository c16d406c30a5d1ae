#include <heatpp/linalg/solvers/detail/orthonormal.hpp>

#include <heatpp/comm/detail/raise.hpp>

#include <cmath>

namespace heatpp::detail {

void sum_over(const char* op, const at::Tensor& numbers, const Layout& layout, const Communicator& comm) {
  if (layout.split()) comm.allreduce(buffer_of(numbers));
  if (!at::isfinite(numbers).all().item<bool>())
    raise<ValueError>(op, "got a product of vectors that is not finite; expected finite numbers");
}

at::Tensor any_vector(std::int64_t seed, const Layout& layout, int rank, const at::TensorOptions& type) {
  const auto first = layout.split() ? layout.offset(rank) : 0, count = layout.local_shape(rank)[0];
  const auto places = at::arange(first + 1, first + count + 1, at::TensorOptions().dtype(at::kDouble));
  return ((places * (12.9898 + static_cast<double>(seed))).sin() * 43758.5453).frac().to(type);
}

Orthonormal::Orthonormal(const char* op, Layout layout, Communicator comm, const at::TensorOptions& type,
                         std::int64_t room)
    : op_(op),
      layout_(std::move(layout)),
      comm_(std::move(comm)),
      rows_(at::zeros({room, layout_.local_shape(comm_.rank())[0]}, type)) {}

Orthonormal::Taken Orthonormal::straighten(at::Tensor& w, std::int64_t count) const {
  const auto earlier = rows_.narrow(0, 0, count);
  Taken taken{at::zeros({count}, rows_.options().device(at::kCPU)), 0};
  for (int pass = 0; pass < 3; ++pass) {
    const auto numbers = at::cat({at::mv(earlier, w.conj().resolve_conj()).conj(), at::vdot(w, w).reshape({1})}).cpu();
    sum_over(op_, numbers, layout_, comm_);
    const auto parts = numbers.narrow(0, 0, count);
    if (count > 0) w.addmv_(earlier.t(), parts.to(w.device()), 1, -1);
    taken.parts.add_(parts);
    const auto before = at::real(numbers[count]).item<double>();
    const auto squared = before - at::real(at::vdot(parts, parts)).item<double>();
    taken.length = std::sqrt(std::max(squared, 0.0));
    if (count == 0 || (pass == 1 && squared > before / 4)) break;
  }
  return taken;
}

at::Tensor Orthonormal::another(std::int64_t count) {
  for (;;) {
    auto w = any_vector(++seed_, layout_, comm_.rank(), rows_.options());
    const auto length = straighten(w, count).length;
    if (length > 1e-8 * std::sqrt(static_cast<double>(extent()))) return w.div_(length);
  }
}

double Orthonormal::length(const at::Tensor& w) const {
  const auto squared = at::real(at::vdot(w, w)).reshape({1}).cpu();
  sum_over(op_, squared, layout_, comm_);
  return std::sqrt(squared.item<double>());
}

}  // namespace heatpp::detail
