#include "../core/grids.hpp"
#include "../linalg/matrices.hpp"

#include <heatpp/core/factories.hpp>
#include <heatpp/fft/fft.hpp>

namespace {

using ht::fft::Norm;

template <class F>
void for_each_grid(const at::Tensor& a, F f) {
  for (const auto& layout : every_grid(shape_of(a)))
    if (layout.is_grid()) f(distribute(a, layout));
}

}  // namespace

TEST_CASE("transforms along one axis of a grid stay on it", "[fft][grid]") {
  for (const ht::Shape& shape : {ht::Shape{7}, {5, 4}, {4, 6, 5}, {1, 3, 8}}) {
    const auto a = scattered(shape), c = scattered(shape, at::kComplexDouble);
    for_each_grid(a, [&](const auto& x) {
      const auto z = distribute(c, x.layout());
      for (int axis = 0; axis < x.ndim(); ++axis) {
        CHECK(close(ht::fft::fft(z, {.axis = axis}), at::fft_fft(c, std::nullopt, axis)));
        CHECK(
            close(ht::fft::ifft(x, {.axis = axis, .norm = Norm::ortho}), at::fft_ifft(a, std::nullopt, axis, "ortho")));
        CHECK(close(ht::fft::rfft(x, {.axis = axis}), at::fft_rfft(a, std::nullopt, axis)));
        for (const std::int64_t n : {1, 3, 9}) {
          CHECK(close(ht::fft::fft(x, {.n = n, .axis = axis}), at::fft_fft(a, n, axis)));
          CHECK(close(ht::fft::rfft(x, {.n = n, .axis = axis}), at::fft_rfft(a, n, axis)));
          CHECK(close(ht::fft::irfft(z, {.n = n, .axis = axis}), at::fft_irfft(c, n, axis)));
        }
        if (x.ndim() > 1) CHECK(ht::fft::fft(z, {.axis = axis}).layout() == x.layout());
      }
    });
  }
}

TEST_CASE("transforms along several axes of a grid", "[fft][grid]") {
  for (const ht::Shape& shape : {ht::Shape{4, 6, 5}, {3, 8}, {2, 7, 3}}) {
    const auto a = scattered(shape), c = scattered(shape, at::kComplexDouble);
    for_each_grid(a, [&](const auto& x) {
      const auto z = distribute(c, x.layout());
      CHECK(close(ht::fft::fftn(z), at::fft_fftn(c)));
      CHECK(close(ht::fft::ifftn(z, {.norm = Norm::forward}), at::fft_ifftn(c, std::nullopt, std::nullopt, "forward")));
      CHECK(close(ht::fft::rfftn(x), at::fft_rfftn(a)));
      CHECK(close(ht::fft::irfftn(z), at::fft_irfftn(c)));
      CHECK(close(ht::fft::irfftn(ht::fft::rfftn(x), {.s = shape}), a));
      CHECK(close(ht::fft::fftn(x, {.s = ht::Shape{3, 7}}), at::fft_fftn(a, at::IntArrayRef{3, 7}, {{-2, -1}})));
      CHECK(close(ht::fft::rfftn(x, {.axes = {1, 0}}), at::fft_rfftn(a, std::nullopt, {{1, 0}})));
      CHECK(close(ht::fft::irfftn(z, {.s = ht::Shape{-1, 8}, .axes = {1, 0}}),
                  at::fft_irfftn(c, at::IntArrayRef{-1, 8}, {{1, 0}})));
      CHECK(close(ht::fft::fftn(z, {.axes = {1, 1}}), at::fft_fft(at::fft_fft(c, std::nullopt, 1), std::nullopt, 1)));
    });
  }
}

TEST_CASE("pencils exchange twice, and the inverse transform returns to the grid", "[fft][grid]") {
  if (ht::world().size() != 4) return;
  const ht::Shape shape{8, 12, 16};
  const auto a = scattered(shape);
  const auto x = distribute(a, ht::Layout::on_grid(shape, {2, 2, 1}, 4));
  const auto before = ht::world().counters();
  const auto y = ht::fft::fftn(x);
  const auto after = ht::world().counters();
  CHECK(y.layout() == ht::Layout::on_grid(shape, {1, 2, 2}, 4));
  CHECK(after.calls - before.calls == 2);
  CHECK(after.bytes - before.bytes == 2 * 16 * y.size() / 4 / 2);  // half of a block each time
  CHECK(ht::fft::ifftn(y).layout() == x.layout());
  CHECK(close(ht::fft::ifftn(y), a.to(at::kComplexDouble)));
  const auto half = ht::fft::rfftn(x);
  CHECK(half.grid() == Along{1, 2, 2});
  CHECK(ht::fft::irfftn(half).grid() == Along{2, 2, 1});
  CHECK(close(ht::fft::irfftn(half), a));
}

TEST_CASE("pencils have work for more ranks than an axis has indices", "[fft][grid]") {
  const ht::Shape shape{2, 2, 5};
  const auto a = scattered(shape);
  for_each_grid(a, [&](const auto& x) {
    CHECK(close(ht::fft::fftn(x), at::fft_fftn(a)));
    if (x.grid() == Along{2, 2, 1} && x.is_balanced()) CHECK(ht::fft::fftn(x).larray().numel() > 0);
  });
  CHECK(close(ht::fft::fftn(distribute(at::empty({0, 2, 3}),
                                       ht::Layout::on_grid({0, 2, 3}, ht::balanced_grid, ht::world().size())),
                            {.s = ht::Shape{2, 2, 3}}),
              at::zeros({2, 2, 3}, at::kComplexFloat)));
}

TEST_CASE("refusals of transforms on grids", "[fft][grid]") {
  for_each_grid(scattered({4, 6}), [&](const auto& x) {
    CHECK_THROWS_AS(ht::fft::fft(x, {.axis = 2}), ht::IndexError);
    CHECK_THROWS_WITH(ht::fft::fftn(x, {.s = ht::Shape{0, 2}}), Catch::Contains("[fftn] got a transform of length 0"));
    CHECK_THROWS_AS(ht::fft::rfftn(x.astype(ht::complex64)), ht::TypeError);
  });
}
