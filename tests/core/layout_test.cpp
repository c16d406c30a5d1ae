#include "../support.hpp"

#include <heatpp/core/promotion.hpp>

TEST_CASE("the even cut gives the first ranks one more", "[core][layout]") {
  const ht::Layout layout({10, 3}, 0, 4);

  CHECK(layout.offsets() == std::vector<std::int64_t>{0, 3, 6, 8, 10});
  CHECK(layout.local_shape(3) == ht::Shape{2, 3});
  CHECK(layout.owner(0) == 0);
  CHECK(layout.owner(6) == 2);
  CHECK(layout.is_balanced());
  CHECK(ht::Layout({10, 3}, -1, 4).split() == 1);
}

TEST_CASE("fewer indices than ranks leave the last ranks empty", "[core][layout]") {
  const ht::Layout layout({2}, 0, 4);
  CHECK(layout.count(1) == 1);
  CHECK(layout.count(2) == 0);
  CHECK(layout.owner(1) == 1);
}

TEST_CASE("owners skip empty blocks", "[core][layout]") {
  const ht::Layout layout({5}, 0, {0, 0, 2, 2, 5});
  CHECK(layout.owner(0) == 1);
  CHECK(layout.owner(2) == 3);
  CHECK_FALSE(layout.is_balanced());
}

TEST_CASE("errors for bad layouts name the reason", "[core][layout]") {
  CHECK_THROWS_AS(ht::Layout({4, 4}, 2, 2), ht::IndexError);
  CHECK_THROWS_AS(ht::Layout({4, -1}, 0, 2), ht::ValueError);
  CHECK_THROWS_AS(ht::Layout({std::int64_t{1} << 40, std::int64_t{1} << 40}, 0, 2), ht::ValueError);
  CHECK_THROWS_AS(ht::Layout({4}, 0, {0, 3, 2, 4}), ht::ValueError);
  CHECK_THROWS_AS(ht::Layout({4}, 0, {0, 3}), ht::ValueError);
}

TEST_CASE("shapes broadcast as NumPy's", "[core][shape]") {
  CHECK(ht::broadcast_shapes({3, 1}, {4}) == ht::Shape{3, 4});
  CHECK(ht::broadcast_shapes({}, {0, 2}) == ht::Shape{0, 2});
  CHECK(ht::broadcast_shapes({1}, {0}) == ht::Shape{0});
  CHECK_THROWS_WITH(ht::broadcast_shapes({3, 2}, {3}, "add"),
                    Catch::Contains("[add] got arrays of shapes (3, 2) and (3,)"));
}

TEST_CASE("types promote to the smallest that holds both", "[core][dtype]") {
  CHECK(ht::promote_types(ht::uint8, ht::int8) == ht::int16);
  CHECK(ht::promote_types(ht::uint8, ht::int32) == ht::int32);
  for (const auto floating : {ht::float16, ht::bfloat16, ht::float32}) {
    for (const auto whole : {ht::bool_, ht::uint8, ht::int8}) CHECK(ht::promote_types(floating, whole) == floating);
    CHECK(ht::promote_types(ht::int16, floating) == ht::float32);
    for (const auto whole : {ht::int32, ht::int64}) CHECK(ht::promote_types(floating, whole) == ht::float64);
  }
  CHECK(ht::promote_types(ht::int16, ht::complex64) == ht::complex64);
  CHECK(ht::promote_types(ht::complex64, ht::int32) == ht::complex128);
  CHECK(ht::promote_types(ht::float16, ht::bfloat16) == ht::float32);
  CHECK(ht::promote_types(ht::float64, ht::complex64) == ht::complex128);
  CHECK(ht::promote_types(ht::bool_, ht::int8) == ht::int8);
  CHECK(ht::result_type(ht::int8, 300) == ht::int8);
  CHECK(ht::result_type(ht::int64, 1.5) == ht::float64);
  CHECK(ht::result_type(ht::int32, 1.5) == ht::float64);
  CHECK(ht::result_type(ht::int16, 1.5) == ht::float32);
  CHECK(ht::result_type(ht::float16, 1.5) == ht::float16);
  CHECK(ht::result_type(ht::float32, 3) == ht::float32);
  CHECK(ht::result_type(ht::int64, std::complex<double>(0, 1)) == ht::complex128);
  CHECK(ht::result_type(ht::int8, std::complex<double>(0, 1)) == ht::complex64);
  for (const auto whole : {ht::int32, ht::int64}) CHECK(ht::inexact_type(whole) == ht::float64);
  for (const auto whole : {ht::bool_, ht::uint8, ht::int8, ht::int16}) CHECK(ht::inexact_type(whole) == ht::float32);
  CHECK(ht::result_type(ht::float64, std::complex<double>(0, 1)) == ht::complex128);
}

TEST_CASE("dtypes have kinds, limits and lossless casts", "[core][promotion]") {
  CHECK(ht::can_cast(ht::bool_, ht::int8));
  CHECK(ht::can_cast(ht::uint8, ht::int16));
  CHECK(ht::can_cast(ht::uint8, ht::float16));
  CHECK(ht::can_cast(ht::int32, ht::float64));
  CHECK_FALSE(ht::can_cast(ht::int32, ht::float32));
  CHECK_FALSE(ht::can_cast(ht::int8, ht::uint8));
  CHECK_FALSE(ht::can_cast(ht::float64, ht::float32));
  CHECK_FALSE(ht::can_cast(ht::complex64, ht::float64));
  CHECK(ht::can_cast(ht::float64, ht::float16, ht::Casting::same_kind));
  CHECK(ht::can_cast(ht::int64, ht::float16, ht::Casting::same_kind));
  CHECK_FALSE(ht::can_cast(ht::int8, ht::uint8, ht::Casting::same_kind));
  CHECK_FALSE(ht::can_cast(ht::int8, ht::int16, ht::Casting::no));
  CHECK(ht::can_cast(ht::complex64, ht::bool_, ht::Casting::unsafe));
  CHECK(ht::isdtype(ht::uint8, ht::DtypeKind::unsigned_integer));
  CHECK_FALSE(ht::isdtype(ht::bool_, ht::DtypeKind::numeric));
  CHECK(ht::issubdtype(ht::int16, ht::DtypeKind::integral));
  CHECK_FALSE(ht::issubdtype(ht::int16, ht::int32));
  CHECK(ht::isrealobj(ht::ones({2})));
  CHECK(ht::iscomplexobj(ht::ones({2}, {.dtype = ht::complex64})));
  CHECK(ht::iinfo(ht::int16).min == -32768);
  CHECK(ht::iinfo(ht::int64).max == std::numeric_limits<std::int64_t>::max());
  CHECK(ht::finfo(ht::complex64).eps == std::numeric_limits<float>::epsilon());
  CHECK(ht::finfo(ht::complex64).dtype == ht::float32);
  CHECK(ht::finfo(ht::float16).max == 65504);
  CHECK(ht::finfo(ht::float16).smallest_subnormal == std::ldexp(1.0, -24));
  CHECK(ht::finfo(ht::bfloat16).max == std::ldexp(255.0, 120));
  using Double = std::numeric_limits<double>;
  const auto limits = ht::finfo(ht::float64);
  CHECK(limits.bits == 64);
  CHECK(limits.eps == Double::epsilon());
  CHECK(limits.min == Double::lowest());
  CHECK(limits.max == Double::max());
  CHECK(limits.tiny == Double::min());
  CHECK(limits.smallest_subnormal == Double::denorm_min());
  CHECK(limits.precision == 15);
  CHECK(limits.resolution == 1e-15);
  CHECK_THROWS_AS(ht::finfo(ht::int8), ht::TypeError);
  CHECK_THROWS_AS(ht::iinfo(ht::float32), ht::TypeError);
}

TEST_CASE("numbers that no dtype of whole numbers holds are refused", "[core][scalar]") {
  CHECK(ht::Scalar(std::uint64_t{INT64_MAX}).to<std::int64_t>() == INT64_MAX);
  CHECK_THROWS_WITH(ht::Scalar(std::uint64_t{1} << 63), Catch::Contains("[Scalar] got the number 9223372036854775808"));
}
