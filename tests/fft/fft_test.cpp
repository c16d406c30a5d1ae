#include "../linalg/matrices.hpp"

#include <heatpp/fft/detail/pieces.hpp>
#include <heatpp/fft/fft.hpp>
#include <heatpp/ops/elementwise/elementwise.hpp>

namespace {

using ht::fft::Norm;

const char* text_of(Norm norm) {
  return norm == Norm::backward ? "backward" : norm == Norm::ortho ? "ortho" : "forward";
}

}  // namespace

TEST_CASE("transforms along one axis of any layout", "[fft]") {
  for (const ht::Shape& shape : {ht::Shape{12}, {7}, {1}, {36}, {5, 4}, {3, 16, 1}, {16, 2}}) {
    const auto a = scattered(shape), c = scattered(shape, at::kComplexDouble);
    for (const auto& layout : every_layout(shape)) {
      const auto x = distribute(a, layout), z = distribute(c, layout);
      for (int axis = 0; axis < x.ndim(); ++axis) {
        for (const auto norm : {Norm::backward, Norm::ortho, Norm::forward}) {
          const ht::fft::FftOptions options{.axis = axis, .norm = norm};
          const auto how = text_of(norm);
          CHECK(close(ht::fft::fft(z, options), at::fft_fft(c, std::nullopt, axis, how)));
          CHECK(close(ht::fft::ifft(z, options), at::fft_ifft(c, std::nullopt, axis, how)));
          CHECK(close(ht::fft::rfft(x, options), at::fft_rfft(a, std::nullopt, axis, how)));
          CHECK(close(ht::fft::ihfft(x, options), at::fft_ihfft(a, std::nullopt, axis, how)));
          if (a.size(axis) < 2) continue;
          CHECK(close(ht::fft::irfft(z, options), at::fft_irfft(c, std::nullopt, axis, how)));
          CHECK(close(ht::fft::hfft(z, options), at::fft_hfft(c, std::nullopt, axis, how)));
        }
        for (const std::int64_t n : {1, 3, 9, 20}) {
          CHECK(close(ht::fft::fft(x, {.n = n, .axis = axis}), at::fft_fft(a, n, axis)));
          CHECK(close(ht::fft::rfft(x, {.n = n, .axis = axis}), at::fft_rfft(a, n, axis)));
          CHECK(close(ht::fft::irfft(z, {.n = n, .axis = axis}), at::fft_irfft(c, n, axis)));
        }
        CHECK(ht::fft::fft(x, {.axis = axis}).layout() == layout);
      }
    }
  }
}

TEST_CASE("long transforms are as exact as short ones", "[fft]") {
  for (const std::int64_t n : {6000, 5003, 9998}) {  // many factors, a prime, and twice a prime
    const auto a = scattered({n}), c = scattered({n / 2 + 1}, at::kComplexDouble);
    for (const auto& layout : every_layout({n})) {
      const auto x = distribute(a, layout);
      CHECK(close(ht::fft::fft(x), at::fft_fft(a), 1e-11));
      CHECK(close(ht::fft::rfft(x), at::fft_rfft(a), 1e-11));
    }
    for (const auto& layout : every_layout({n / 2 + 1}))
      CHECK(close(ht::fft::irfft(distribute(c, layout), {.n = n}), at::fft_irfft(c, n)));
  }
}

TEST_CASE("blocks larger than a cache are transformed some lines at a time", "[fft]") {
  const ht::Shape shape{2, 300, 700};
  const auto a = scattered(shape), c = scattered(shape, at::kComplexDouble);
  for (const auto& split : {std::optional<int>{}, {0}, {1}, {2}}) {
    const ht::Layout layout(shape, split, ht::world().size());
    const auto x = distribute(a, layout), z = distribute(c, layout);
    for (int axis = 0; axis < 3; ++axis) {
      CHECK(close(ht::fft::fft(z, {.axis = axis}), at::fft_fft(c, std::nullopt, axis)));
      CHECK(close(ht::fft::ifft(z, {.axis = axis}), at::fft_ifft(c, std::nullopt, axis)));
      CHECK(close(ht::fft::fft(x, {.axis = axis}), at::fft_fft(a, std::nullopt, axis)));
      CHECK(close(ht::fft::ifft(x, {.axis = axis}), at::fft_ifft(a, std::nullopt, axis)));
      CHECK(close(ht::fft::rfft(x, {.axis = axis}), at::fft_rfft(a, std::nullopt, axis)));
      CHECK(close(ht::fft::ihfft(x, {.axis = axis}), at::fft_ihfft(a, std::nullopt, axis)));
      CHECK(close(ht::fft::irfft(z, {.n = 31, .axis = axis}), at::fft_irfft(c, 31, axis)));
    }
  }
}

TEST_CASE("large arrays are transformed piece by piece", "[fft]") {
  for (const ht::Shape& shape : {ht::Shape{5, 4}, {3, 16, 2}, {7, 1}})
    for (const auto& layout : every_layout(shape)) {
      if (!layout.split()) continue;
      const auto axis = *layout.split();
      const auto a = scattered(shape), half = at::fft_rfft(a, std::nullopt, axis);
      const auto x = distribute(a, layout).to_device(ht::cpu);  // pieces are in memory of the host
      const ht::Layout target(half.sizes().vec(), axis, ht::world().size());
      for (int other = 0; other < x.ndim(); ++other)
        for (const std::int64_t pieces : {1, 3, 5}) {
          if (other == axis) continue;
          const auto y = ht::detail::transformed_in_pieces(x, other, pieces, target, [&](const at::Tensor& block) {
            if (block.numel() > 0) return at::fft_rfft(block, std::nullopt, axis);
            auto empty = block.sizes().vec();
            empty[static_cast<std::size_t>(axis)] = half.size(axis);
            return at::empty(empty, half.options());
          });
          CHECK(close(y, half));
        }
    }
}

TEST_CASE("only large arrays are transformed piece by piece", "[fft]") {
  const auto ranks = std::int64_t{ht::world().size()};
  const auto of_rows = [&](std::int64_t rows) {  // without memory
    return ht::detail::wrap(at::empty({1}, at::kDouble).expand({rows, 16}),
                            ht::Layout({rows * ranks, 16}, 0, ht::world().size()), ht::world());
  };
  CHECK(ht::detail::pieces_of(of_rows(1 << 19), 1) == 1);  // 64 MiB each
  CHECK(ht::detail::pieces_of(of_rows(1 << 20), 1) ==
        (ranks == 1 ? 1 : 16 / ranks));  // no piece without lines for a rank
}

TEST_CASE("transforms along several axes", "[fft]") {
  const auto a = scattered({4, 6, 5}), c = scattered({4, 6, 5}, at::kComplexDouble);
  for_each_layout(a, [&](const auto& x) {
    const auto z = distribute(c, x.layout());
    CHECK(close(ht::fft::fftn(x), at::fft_fftn(a)));
    CHECK(close(ht::fft::ifftn(z, {.s = ht::Shape{3, 7}}), at::fft_ifftn(c, at::IntArrayRef{3, 7}, {{1, 2}})));
    CHECK(close(ht::fft::rfftn(x, {.axes = {2, 0}}), at::fft_rfftn(a, std::nullopt, {{2, 0}})));
    CHECK(close(ht::fft::irfftn(z, {.s = ht::Shape{-1, 8}, .axes = {1, 0}}),
                at::fft_irfftn(c, at::IntArrayRef{-1, 8}, {{1, 0}})));
    CHECK(close(ht::fft::hfftn(z), at::fft_hfftn(c)));
    CHECK(close(ht::fft::ihfftn(x), at::fft_ihfftn(a)));
    CHECK(close(ht::fft::fft2(x, {.norm = Norm::ortho}), at::fft_fft2(a, std::nullopt, {-2, -1}, "ortho")));
    CHECK(close(ht::fft::ifft2(z, {.axes = {0, 1}}), at::fft_ifft2(c, std::nullopt, {0, 1})));
    CHECK(close(ht::fft::rfft2(x), at::fft_rfft2(a)));
    CHECK(close(ht::fft::irfft2(z), at::fft_irfft2(c)));
    CHECK(close(ht::fft::hfft2(z), at::fft_hfft2(c)));
    CHECK(close(ht::fft::ihfft2(x), at::fft_ihfft2(a)));
  });
}

TEST_CASE("an axis that is named twice is transformed twice, with its first length", "[fft]") {
  const auto a = scattered({3, 4}), c = scattered({3, 4}, at::kComplexDouble);
  for_each_layout(a, [&](const auto& x) {
    const auto z = distribute(c, x.layout());
    for (const int axis : {0, 1}) {
      const auto n = a.size(axis);
      CHECK(close(ht::fft::rfftn(x, {.axes = {axis, axis}}), at::fft_fft(at::fft_rfft(a, n, axis), n, axis)));
      CHECK(close(ht::fft::fftn(z, {.axes = {axis, axis}}), at::fft_fft(at::fft_fft(c, n, axis), n, axis)));
      CHECK(
          close(ht::fft::irfftn(z, {.axes = {axis, axis}}), at::fft_irfft(at::fft_ifft(c, n, axis), 2 * n - 2, axis)));
      CHECK(close(ht::fft::rfftn(x, {.s = ht::Shape{5, 4}, .axes = {axis, axis}}),
                  at::fft_fft(at::fft_rfft(a, 4, axis), 5, axis)));
      CHECK(close(ht::fft::irfftn(z, {.s = ht::Shape{5, 2, 4}, .axes = {axis, axis, 1 - axis}}),
                  at::fft_irfft(at::fft_ifft(at::fft_ifft(c, 5, axis), 2, axis), 4, 1 - axis)));
    }
  });
}

TEST_CASE("frequencies and their shifts", "[fft]") {
  for (const std::optional<int> split : {std::optional<int>(), std::optional(0)})
    for (const std::int64_t n : {1, 2, 7, 8}) {
      const ht::ArrayOptions options{.dtype = ht::float64, .split = split};
      CHECK(close(ht::fft::fftfreq(n, 0.5, options), at::fft_fftfreq(n, 0.5, at::kDouble)));
      CHECK(close(ht::fft::rfftfreq(n, 0.5, options), at::fft_rfftfreq(n, 0.5, at::kDouble)));
      CHECK(same(ht::fft::rfftfreq(-n, 0.5, options), at::empty({0}, at::kDouble)));
      CHECK_THROWS_AS(ht::fft::fftfreq(-n, 0.5, options), ht::ValueError);
    }
  const auto a = scattered({5, 4});
  for_each_layout(a, [&](const auto& x) {
    CHECK(same(ht::fft::fftshift(x), at::fft_fftshift(a)));
    CHECK(same(ht::fft::ifftshift(x), at::fft_ifftshift(a)));
    CHECK(same(ht::fft::fftshift(x, -1), at::fft_fftshift(a, at::IntArrayRef{-1})));
  });
}

TEST_CASE("transforms near the end of the numbers' range", "[fft]") {
  for (const std::int64_t n : {6, 7, 12}) {
    const auto a = scattered({n}), c = scattered({n}, at::kComplexDouble);
    for (const auto& layout : every_layout({n})) {
      const auto x = distribute(a * 1e306, layout), z = distribute(c * 1e306, layout);
      CHECK(close(ht::fft::rfft(x) / 1e306, at::fft_rfft(a)));
      CHECK(close(ht::fft::fft(z) / 1e306, at::fft_fft(c)));
      CHECK(close(ht::fft::ifft(z) / 1e306, at::fft_ifft(c)));
      CHECK(close(ht::fft::irfft(z) / 1e306, at::fft_irfft(c)));
    }
  }
}

TEST_CASE("dtypes and refusals of transforms", "[fft]") {
  for_each_layout(numbers({6, 2}), [&](const auto& x) {
    const auto single = numbers({6, 2}, at::kFloat);
    CHECK(close(ht::fft::fft(x, {.axis = 0}), at::fft_fft(single.to(at::kDouble), std::nullopt, 0)));
    CHECK(close(ht::fft::fft(x.astype(ht::int16), {.axis = 0}), at::fft_fft(single, std::nullopt, 0), 1e-5));
    CHECK(close(ht::fft::rfft(x.astype(ht::float16), {.axis = 0}), at::fft_rfft(single, std::nullopt, 0), 1e-5));
    CHECK_THROWS_AS(ht::fft::fft(x, {.axis = 2}), ht::IndexError);
    CHECK_THROWS_WITH(ht::fft::fft(x, {.n = 0}), Catch::Contains("[fft] got a transform of length 0"));
    CHECK_THROWS_AS(ht::fft::rfft(x.astype(ht::complex64)), ht::TypeError);
    CHECK_THROWS_AS(ht::fft::fftn(x, {.s = ht::Shape{2}, .axes = {0, 1}}), ht::ValueError);
    CHECK_THROWS_WITH(ht::fft::fftn(x, {.s = ht::Shape{3, -1, 2}}),
                      Catch::Contains("[fftn] got 3 lengths for an array"));
  });
  CHECK_THROWS_AS(ht::fft::fftfreq(4, 0.0), ht::ValueError);
  CHECK_THROWS_AS(ht::fft::rfftfreq(4, 0.0), ht::ValueError);
  CHECK_THROWS_AS(ht::fft::fftfreq(0), ht::ValueError);
  CHECK_THROWS_AS(ht::fft::rfftfreq(0), ht::ValueError);
  CHECK(ht::fft::fft(ht::empty({0, 3}, {.split = 0})).shape() == ht::Shape{0, 3});
}

TEST_CASE("axes of one element and lengths as they are", "[fft]") {
  for_each_layout(at::ones({1, 1, 1}), [&](const auto& x) {
    CHECK(close(ht::fft::fft(x, {.axis = 0}), at::ones({1, 1, 1}, at::kComplexFloat), 1e-6));
    CHECK(close(ht::fft::ifftn(x), at::ones({1, 1, 1}, at::kComplexFloat), 1e-6));
  });
  const auto z = numbers({3, 4}).to(at::kComplexDouble);
  for_each_layout(z, [&](const auto& x) {
    CHECK(close(ht::fft::irfftn(x, {.s = ht::Shape{2, -1}}), at::fft_irfftn(z, at::IntArrayRef{2, 4})));
  });
}
