#include <heatpp/linalg/solvers/detail/lanczos.hpp>

#include <heatpp/comm/detail/raise.hpp>

namespace heatpp::detail {

LanczosProcess::LanczosProcess(Product product, Orthonormal vectors, double epsilon)
    : product_(std::move(product)),
      vectors_(std::move(vectors)),
      t_(at::zeros({vectors_.room(), vectors_.room()}, at::kDouble)),
      coupling_(at::zeros({0}, at::kDouble)),
      epsilon_(epsilon) {}

void LanczosProcess::start(const at::Tensor& w) {
  const auto length = vectors_.length(w);
  if (length == 0) raise<ValueError>(vectors_.op(), "got a start of length 0; expected another");
  next_ = w / length;
}

void LanczosProcess::start_anew() {
  next_ = at::Tensor();
  coupling_ = at::zeros({size_}, at::kDouble);
}

void LanczosProcess::step() {
  if (!next_.defined()) next_ = vectors_.another(size_);
  const auto j = size_++;
  vectors_.set(j, next_);
  t_[j].narrow(0, 0, j).copy_(coupling_);
  t_.select(1, j).narrow(0, 0, j).copy_(coupling_);
  auto w = product_(next_);
  const auto [parts, length] = vectors_.straighten(w, size_);
  t_[j][j] = at::real(parts[j]);
  if (complete()) {
    coupling_ = at::zeros({size_}, at::kDouble);
    return;
  }
  const auto rounding = static_cast<double>(size_) * epsilon_ * t().abs().max().item<double>();
  if (length <= rounding) return start_anew();
  next_ = w.div_(length);
  coupling_ = at::zeros({size_}, at::kDouble);
  coupling_[j] = length;
}

LanczosProcess::Ritz LanczosProcess::ritz() const {
  const auto [values, vectors] = at::linalg_eigh(t());
  return {values, vectors, at::mv(vectors.t(), coupling_).abs()};
}

at::Tensor LanczosProcess::combined(const at::Tensor& y) const {
  const auto& rows = vectors_.rows();
  return at::mm(y.t().to(rows.options()), rows.narrow(0, 0, size_));
}

void LanczosProcess::restart(const Ritz& ritz, const at::Tensor& kept) {
  const auto y = ritz.vectors.index_select(1, kept);
  vectors_.replace(combined(y));
  coupling_ = at::mv(y.t(), coupling_);
  size_ = kept.numel();
  t_.zero_();
  t().diagonal().copy_(ritz.values.index_select(0, kept));
}

}  // namespace heatpp::detail
