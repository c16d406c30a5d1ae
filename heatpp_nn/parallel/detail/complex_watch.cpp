#include <heatpp_nn/parallel/detail/complex_watch.hpp>

#include <ATen/ATen.h>

namespace heatpp::nn::detail {

void ComplexWatch::end() {
  ended_ = true;
  before_.clear();
}

void ComplexWatch::begin() {
  if (ended_ || flat_.complex().empty()) return;
  before_.clear();
  for (const auto& piece : flat_.complex())
    before_.push_back(piece.values.grad().defined() ? piece.values.detach().clone() : at::Tensor());
}

bool ComplexWatch::unused() {
  bool given = false;
  for (std::size_t i = 0; i < before_.size(); ++i) {
    if (!before_[i].defined()) continue;
    const auto& values = flat_.complex()[i].values;
    if (!values.grad().defined() || !values.detach().equal(before_[i])) return end(), false;
    given = true;
  }
  return given;
}

}  // namespace heatpp::nn::detail
