#include <heatpp/ml/preprocessing/polynomial.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/ml/detail/fitted.hpp>
#include <heatpp/ml/detail/pieces.hpp>

namespace heatpp {

using namespace ml::detail;

PolynomialFeatures& PolynomialFeatures::fit(const Rows& x) {
  constexpr auto op = "PolynomialFeatures.fit";
  constexpr std::size_t most_columns = 1 << 24;
  const auto& [degree, interaction_only, include_bias] = options_;
  check_not_empty(op, x);
  if (degree < 0) detail::raise<ValueError>(op, "got the degree {}; expected at least 0", degree);
  std::vector<std::vector<std::int64_t>> factors;
  std::vector<std::int64_t> shorter;
  if (include_bias) {
    factors.emplace_back();
    shorter.push_back(-1);
  }
  const auto add = [&](std::vector<std::int64_t> product, std::int64_t feature, std::int64_t from) {
    if (factors.size() == most_columns)
      detail::raise<ValueError>(op, "got {} features and the degree {}; expected at most {} products", x.features(),
                                degree, most_columns);
    product.push_back(feature);
    factors.push_back(std::move(product));
    shorter.push_back(from);
  };
  auto first = factors.size();
  for (std::int64_t d = 1; d <= degree; ++d) {
    const auto end = factors.size();
    if (d == 1)
      for (std::int64_t j = 0; j < x.features(); ++j) add({}, j, -1);
    else
      for (auto of = first; of < end; ++of)
        for (auto j = factors[of].back() + (interaction_only ? 1 : 0); j < x.features(); ++j)
          add(factors[of], j, static_cast<std::int64_t>(of));
    first = end;
  }
  features_ = x.features();
  factors_ = std::move(factors);
  shorter_ = std::move(shorter);
  return *this;
}

DNDarray PolynomialFeatures::transform(const Rows& x) const {
  const auto& of = fitted("PolynomialFeatures.transform", factors_);
  check_features("PolynomialFeatures.transform", x, features_);
  return mapped(x, std::ssize(of), [&](const at::Tensor& block) {
    const auto features = block.t().contiguous();
    auto columns = at::empty({std::ssize(of), block.size(0)}, block.options());
    for (std::size_t c = 0; c < of.size(); ++c) {
      auto column = columns[static_cast<std::int64_t>(c)];
      if (of[c].empty()) column.fill_(1);
      else if (shorter_[c] < 0) column.copy_(features[of[c].back()]);
      else at::mul_out(column, columns[shorter_[c]], features[of[c].back()]);
    }
    return columns.t();
  });
}

const std::vector<std::vector<std::int64_t>>& PolynomialFeatures::factors() const {
  return fitted("PolynomialFeatures.factors", factors_);
}

}  // namespace heatpp
