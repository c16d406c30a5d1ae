#include <heatpp/linalg/solvers/detail/vectors.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/relayout.hpp>

#include <cmath>

namespace heatpp::detail {

at::Tensor Vectors::zeros() const { return at::zeros(layout_.local_shape(comm_.rank()), type_); }

at::Tensor Vectors::local(const DNDarray& x) const {
  if (x.shape() != layout_.shape())
    raise<ValueError>(op_, "got a vector of shape {}; expected {}", to_string(x.shape()), to_string(layout_.shape()));
  return relayout(x, layout_).to(at::kCPU, type_, false, true).contiguous();
}

DNDarray Vectors::array(const at::Tensor& x) const { return wrap(x.to(device_), layout_, comm_); }

at::Tensor Vectors::apply(const linalg::LinearOperator::Apply& product, const at::Tensor& x) const {
  return apply(product, *this, x);
}
at::Tensor Vectors::apply(const linalg::LinearOperator::Apply& product, const Vectors& from,
                          const at::Tensor& x) const {
  if (!watch_) return local(product(from.array(x)));
  auto found = zeros();
  watch_->run([&] { found = local(product(from.array(x))); });
  return found;
}

std::vector<Vectors::Number> Vectors::dots(std::initializer_list<std::pair<at::Tensor, at::Tensor>> pairs) const {
  std::vector<Number> found;
  for (const auto& [x, y] : pairs) found.push_back(at::vdot(x, y).item().toComplexDouble());
  sum(found);
  return found;
}

void Vectors::sum(std::vector<Number>& numbers) const {
  if (watch_) numbers.emplace_back(watch_->vote());
  if (layout_.split()) comm_.allreduce({numbers.data(), std::ssize(numbers), complex128});
  if (watch_) {
    watch_->hear(numbers.back().real());
    numbers.pop_back();
    if (watch_->failed()) settle();
  }
  for (const auto& number : numbers)
    if (!std::isfinite(number.real()) || !std::isfinite(number.imag()))
      raise<ValueError>(op_, "got a product of vectors that is not finite; expected finite numbers");
}

double Vectors::length(const at::Tensor& x) const { return std::sqrt(dot(x, x).real()); }

at::Scalar Vectors::scalar(Number factor) const {
  return at::isComplexType(type_) ? at::Scalar(factor) : at::Scalar(factor.real());
}

}  // namespace heatpp::detail
