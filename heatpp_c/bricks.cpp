#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/alike.hpp>
#include <heatpp_c/detail/handles.hpp>

using namespace heatpp::c;  // NOLINT: what the functions below are made of
using heatpp::Brick;
using heatpp::detail::check_agreed;

namespace {

std::vector<Brick> bricks_of(int ndim, int count, const std::int64_t* offsets, const std::int64_t* shapes) {
  if (count < 0)
    heatpp::detail::raise<heatpp::ValueError>("ht_plan_bricks", "got {} bricks; expected none or more", count);
  std::vector<Brick> bricks;
  for (int b = 0; b < count; ++b) {
    const auto of_brick = [&](const char* argument, const std::int64_t* numbers) {
      return shape_of("ht_plan_bricks", {argument, numbers ? numbers + b * ndim : nullptr, ndim});
    };
    bricks.push_back({of_brick("offsets", offsets), of_brick("shapes", shapes)});
  }
  return bricks;
}

/// As many addresses as this rank has bricks, which the host knows.
template <class Pointer>
std::span<const Pointer> addresses(const ht_plan& plan, const Pointer* memory) {
  return {memory, memory ? plan.value.bricks() : 0};
}

}  // namespace

int ht_plan_bricks(const ht_comm* comm, int dtype, int ndim, const int64_t* shape, int bricks, const int64_t* offsets,
                   const int64_t* shapes, const int64_t* ghosts, int split, ht_plan** plan) {
  constexpr auto op = "ht_plan_bricks";
  return status_of([&] {
    const auto& ranks = given(op, "comm", comm).ranks;
    heatpp::Shape all;
    heatpp::Dtype type{};
    std::vector<Brick> mine;
    heatpp::BlockOptions options{.comm = ranks};
    check_agreed(op, ranks, {{"dtype", dtype_text(dtype)}, {"split", std::to_string(split)}}, [&] {
      check_given(op, "plan", plan);
      all = shape_of(op, {"shape", shape, ndim});
      type = dtype_of(op, dtype);
      mine = bricks_of(ndim, bricks, offsets, shapes);
      options.split = split_of(op, split);
      if (ghosts) options.ghosts = shape_of(op, {"ghosts", ghosts, ndim});
    });
    *plan = new ht_plan{heatpp::BlockPlan(all, mine, type, options)};
  });
}
void ht_plan_free(ht_plan* plan) { delete plan; }

int ht_from_bricks(const ht_plan* plan, const void* const* memory, ht_array** x) {
  constexpr auto op = "ht_from_bricks";
  return status_of([&] {
    const auto& ways = given(op, "plan", plan);
    heatpp::all_or_none(ways.value.comm(), [&] { check_given(op, "x", x); });
    *x = new ht_array{ways.value.from_blocks(addresses(ways, memory))};
  });
}
int ht_to_bricks(const ht_plan* plan, const ht_array* x, void* const* memory) {
  constexpr auto op = "ht_to_bricks";
  return status_of([&] {
    const auto& ways = given(op, "plan", plan);
    heatpp::all_or_none(ways.value.comm(), [&] { check_given(op, "x", x); });
    ways.value.to_blocks(x->value, addresses(ways, memory));
  });
}
