#include "../support.hpp"

#include <functional>
#include <heatpp/heatpp.hpp>

namespace {

class Strict {
 public:
  Strict() { ht::set_redistribution(ht::Redistribution::forbid); }
  ~Strict() { ht::set_redistribution(ht::Redistribution::allow); }
  Strict(const Strict&) = delete;
  Strict& operator=(const Strict&) = delete;
};

ht::PercentileOptions weighted(const ht::DNDarray& weights, const ht::Axes& axis) {
  return {.axis = axis, .interpolation = ht::Interpolation::inverted_cdf, .weights = weights};
}

/// Returns a regular matrix of positive numbers.
at::Tensor matrix() { return (at::arange(36, at::kDouble) * 7).fmod(23).reshape({6, 6}) + 1 + 60 * at::eye(6); }

}  // namespace

TEST_CASE("arrays in one layout are never refused or counted", "[ops][strict][host]") {
  using Call = std::function<void(const ht::DNDarray&, const ht::DNDarray&)>;
  const std::vector<std::pair<std::string, Call>> calls{
      {"percentile", [](const auto& x, const auto&) { (void)ht::percentile(x, 50, weighted(x, 0)); }},
      {"quantile", [](const auto& x, const auto&) { (void)ht::quantile(x, 0.5, weighted(x, 1)); }},
      {"nanquantile", [](const auto& x, const auto&) { (void)ht::nanquantile(x, 0.5, weighted(x, std::nullopt)); }},
      {"replicated weights",
       [](const auto& x, const auto&) { (void)ht::percentile(x, 50, weighted(ht::ones({6}), 0)); }},
      {"gradient 0", [](const auto& x, const auto&) { (void)ht::gradient(x, {.edge_order = 2}); }},
      {"gradient 1", [](const auto& x, const auto&) { (void)ht::gradient(x, {.axis = 1, .edge_order = 2}); }},
      {"take_along_axis 0", [](const auto& x, const auto& p) { (void)ht::take_along_axis(x, p, 0); }},
      {"take_along_axis 1", [](const auto& x, const auto& p) { (void)ht::take_along_axis(x, p, 1); }},
      {"put_along_axis 0",
       [](const auto& x, const auto& p) {
         auto y = x;
         ht::put_along_axis(y, p, x, 0);
       }},
      {"put_along_axis 1",
       [](const auto& x, const auto& p) {
         auto y = x;
         ht::put_along_axis(y, p, x, 1);
       }},
      {"mask", [](const auto& x, const auto&) { (void)x(x > 3); }},
      {"block",
       [](const auto& x, const auto&) {
         (void)ht::block({{x, x}, {x, x}});
       }},
      {"matmul", [](const auto& x, const auto&) { (void)ht::matmul(x, x); }},
      {"inner", [](const auto& x, const auto&) { (void)ht::inner(x, x); }},
      {"cov", [](const auto& x, const auto&) { (void)ht::cov(x); }},
      {"corrcoef", [](const auto& x, const auto&) { (void)ht::corrcoef(x); }},
      {"qr", [](const auto& x, const auto&) { (void)ht::linalg::qr(x(ht::all_of, ht::slice(0, 1))); }},
      {"complete qr",
       [](const auto& x, const auto&) {
         (void)ht::linalg::qr(x(ht::all_of, ht::slice(0, 1)), ht::linalg::QrMode::complete);
       }},
      {"svd", [](const auto& x, const auto&) { (void)ht::linalg::svd(x); }},
      {"rsvd", [](const auto& x, const auto&) { (void)ht::linalg::rsvd(x, 2); }},
      {"eigh", [](const auto& x, const auto&) { (void)ht::linalg::eigh(x); }},
      {"eig", [](const auto& x, const auto&) { (void)ht::linalg::eig(x); }},
      {"cholesky", [](const auto& x, const auto&) { (void)ht::linalg::cholesky(x); }},
      {"inv", [](const auto& x, const auto&) { (void)ht::linalg::inv(x); }},
      {"solve", [](const auto& x, const auto&) { (void)ht::linalg::solve(x, x); }},
      {"solve_triangular", [](const auto& x, const auto&) { (void)ht::linalg::solve_triangular(x, x); }},
  };
  const auto places = at::arange(36, at::kLong).mul(5).remainder(4).reshape({6, 6});
  for (const auto& layout : every_layout({6, 6})) {
    const auto x = distribute(matrix(), layout), positions = distribute(places, layout);
    const Strict strict;
    const auto before = ht::comm_report().redistributions;
    for (const auto& [name, call] : calls) {
      INFO(name << " " << ht::to_string(layout.split()));
      CHECK_NOTHROW(call(x, positions));
    }
    CHECK(ht::comm_report().redistributions == before);
    CHECK(same(ht::inner(x, x), at::inner(matrix(), matrix())));
  }
}

TEST_CASE("operands in different layouts are refused, in the function's name", "[ops][strict]") {
  if (ht::world().size() == 1) return;
  const auto x = ht::from_tensor(matrix(), {.split = 0}), y = ht::resplit(x, 1);
  const auto positions = ht::zeros({6, 6}, {.dtype = ht::int64, .split = 1});
  const Strict strict;
  const auto refused = [](const std::string& name, const std::function<void()>& call) {
    INFO(name);
    const auto text = message_of<ht::ValueError>(call);
    CHECK_THAT(text, Catch::StartsWith("[" + name + "] got an operand") && Catch::Contains("forbid"));
  };
  refused("add", [&] { (void)(x + y); });
  refused("concatenate", [&] { (void)ht::concatenate({x, y}, 1); });
  refused("concatenate", [&] { (void)ht::concatenate({y, x}, 1); });
  refused("hstack", [&] { (void)ht::hstack({y, x}); });
  refused("take_along_axis", [&] { (void)ht::take_along_axis(x, positions, 1); });
  refused("put_along_axis", [&] {
    auto z = x;
    ht::put_along_axis(z, positions, 1.0, 1);
  });
  refused("percentile", [&] { (void)ht::percentile(x, 50, weighted(y, 0)); });
}

TEST_CASE("elements that are on the right rank are not sent", "[ops][strict]") {
  const auto x = distribute(matrix(), every_layout({6, 6}).back()), everywhere = ht::from_tensor(matrix());
  const auto before = ht::comm_report().bytes;
  const auto collected = ht::collect(everywhere, ht::world().size() - 1);
  const auto wide = ht::block({{x}}), one = ht::block({{everywhere, everywhere}});
  CHECK(ht::comm_report().bytes == before);
  CHECK(same(collected, matrix()));
  CHECK(same(wide, matrix()));
  CHECK(wide.larray().const_data_ptr() != x.larray().const_data_ptr());
  CHECK(same(one, at::cat({matrix(), matrix()}, 1)));
}
