#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/ml/decomposition/pca.hpp>
#include <heatpp/ml/detail/fitted.hpp>
#include <heatpp/ml/detail/gram.hpp>
#include <heatpp/ml/detail/state.hpp>

namespace heatpp {
namespace {

using namespace ml::detail;

/// Rows turned so that the entry that is largest in size is positive.
at::Tensor with_signs(const at::Tensor& rows) {
  const auto largest = rows.gather(1, rows.abs().argmax(1, /*keepdim=*/true));
  return at::where(largest < 0, -rows, rows);
}

void check_samples(const Rows& x, std::int64_t count) {
  if (x.size() < 2 || count < 1 || count > x.features())
    detail::raise<ValueError>("PCA.fit",
                              "got {} components of {} rows of {} features; expected 1 <= components <= features and "
                              "two rows",
                              count, x.size(), x.features());
}

/// (rows - from) * matrix + to, a piece at a time.
DNDarray moved(const Rows& x, const at::Tensor& from, const at::Tensor& matrix, const at::Tensor& to) {
  return mapped(x, matrix.size(1),
                [&](const at::Tensor& block) { return at::addmm(to, block.to(at::kDouble) - from, matrix); });
}

at::Tensor wide(const DNDarray& x) { return x.larray().to(at::kDouble); }

}  // namespace

PCA& PCA::fit(const Rows& x) {
  const auto count = options_.n_components.value_or(x.features());
  check_samples(x, count);
  const auto [n, centre, scatter] = gram("PCA.fit", x);
  const auto [values, vectors] = at::linalg_eigh(scatter / (n - 1));  // rising
  const auto variance = values.flip(0).clamp_min(0);
  const auto components = with_signs(vectors.t().flip(0).slice(0, 0, count));
  const auto whole = [&](const at::Tensor& value) { return replicated(value, working_dtype(x), x.comm()); };
  learnt_ = Learnt{whole(components), whole(centre), whole(variance.slice(0, 0, count)),
                   whole(variance.slice(0, 0, count) / variance.sum())};
  return *this;
}

DNDarray PCA::transform(const Rows& x) const {
  const auto& [components, centre, variance, ratio] = learnt();
  check_features("PCA.transform", x, components.shape()[1]);
  auto matrix = wide(components).t();
  if (options_.whiten) matrix = matrix / wide(variance).sqrt();
  return moved(x, wide(centre), matrix, at::zeros({1}, at::kDouble));
}

DNDarray PCA::inverse_transform(const Rows& z) const {
  const auto& [components, centre, variance, ratio] = learnt();
  check_features("PCA.inverse_transform", z, components.shape()[0]);
  auto matrix = wide(components);
  if (options_.whiten) matrix = matrix * wide(variance).sqrt().unsqueeze(1);
  return moved(z, at::zeros({1}, at::kDouble), matrix, wide(centre));
}

ModelState PCA::state() const {
  const auto& [components, centre, variance, ratio] = learnt();
  return {"PCA",
          {{"whiten", text_of(options_.whiten)}},
          {{"components", components},
           {"mean", centre},
           {"explained_variance", variance},
           {"explained_variance_ratio", ratio}}};
}

PCA PCA::from_state(const ModelState& state) {
  const StateReader read("PCA", state);
  const auto components = read.array("components", {-1, -1});
  const auto count = components.shape()[0];
  PCA model({.n_components = count, .whiten = read.option<bool>("whiten")});
  model.learnt_ = Learnt{components, read.array("mean", {components.shape()[1]}),
                         read.array("explained_variance", {count}), read.array("explained_variance_ratio", {count})};
  return model;
}

const PCA::Learnt& PCA::learnt() const { return fitted("PCA", learnt_); }

const DNDarray& PCA::components() const { return learnt().components; }
const DNDarray& PCA::mean() const { return learnt().mean; }
const DNDarray& PCA::explained_variance() const { return learnt().variance; }
const DNDarray& PCA::explained_variance_ratio() const { return learnt().ratio; }

}  // namespace heatpp
