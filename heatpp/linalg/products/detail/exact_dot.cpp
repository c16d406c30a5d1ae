#include <heatpp/linalg/products/detail/exact_dot.hpp>

#include <heatpp/core/detail/cuts/group_along.hpp>
#include <heatpp/core/promotion.hpp>
#include <heatpp/ops/operands/detail/align.hpp>
#include <heatpp/ops/operands/detail/around.hpp>
#include <heatpp/ops/reductions/detail/exact_across.hpp>
#include <heatpp/ops/reductions/detail/exact_reduction.hpp>
#include <heatpp/ops/reductions/detail/exact_sums.hpp>

namespace heatpp::detail {
namespace {

/// Returns contiguous real numbers.
at::Tensor flat(const at::Tensor& block) { return readable(block).contiguous().view({-1}); }

void add_products(const at::Tensor& a, const at::Tensor& b, ExactSum& sum) {
  if (a.scalar_type() == at::kDouble)
    add_products_exactly(a.const_data_ptr<double>(), b.const_data_ptr<double>(), a.numel(), sum);
  else add_products_exactly(a.const_data_ptr<float>(), b.const_data_ptr<float>(), a.numel(), sum);
}

}  // namespace

DNDarray exact_dot(const char* op, const DNDarray& a, const DNDarray& b, bool conjugated) {
  const auto dtype = promote_types(a.dtype(), b.dtype());
  const Operand operands[] = {a.astype(dtype), b.astype(dtype)};
  const auto aligned = align(op, operands);
  const auto x = aligned.blocks[0].resolve_conj(), y = aligned.blocks[1].resolve_conj();
  std::vector<ExactSum> sums(is_complex(dtype) ? 2 : 1);
  if (is_complex(dtype)) {
    const auto x_re = flat(at::real(x)), x_im = flat(at::imag(x)), y_re = flat(at::real(y)), y_im = flat(at::imag(y));
    const auto turned = x_im.neg();
    add_products(x_re, y_re, sums[0]);
    add_products(conjugated ? x_im : turned, y_im, sums[0]);
    add_products(x_re, y_im, sums[1]);
    add_products(conjugated ? turned : x_im, y_re, sums[1]);
  } else {
    add_products(flat(x), flat(y), sums[0]);
  }
  const auto group = group_of_blocks(aligned.layout, aligned.comm);
  if (aligned.layout.is_cut() && group.size() > 1) add_across(group, sums);
  auto result = at::empty({std::ssize(sums)}, at::kDouble);
  for (std::size_t i = 0; i < sums.size(); ++i) result.data_ptr<double>()[i] = rounded_to(dtype, sums[i]);
  result = is_complex(dtype) ? at::view_as_complex(result.view({1, 2})).squeeze(0) : result.squeeze(0);
  return wrap(result.to(x.device(), to_torch(dtype)), aligned.layout.replicated(Shape{}), aligned.comm);
}

}  // namespace heatpp::detail
