#include <heatpp/comm/detail/raise.hpp>
#include <heatpp_c/detail/handles.hpp>

using namespace heatpp::c;  // NOLINT: what the functions below are made of
using heatpp::Brick;

namespace {

std::vector<Brick> bricks_of(int ndim, int count, const std::int64_t* offsets, const std::int64_t* shapes) {
  if (count < 0)
    heatpp::detail::raise<heatpp::ValueError>("ht_plan_bricks", "got {} bricks; expected none or more", count);
  std::vector<Brick> bricks;
  for (int b = 0; b < count; ++b) {
    const auto at = [&](const std::int64_t* numbers) { return numbers ? numbers + b * ndim : nullptr; };
    bricks.push_back({shape_of("ht_plan_bricks", ndim, at(offsets)), shape_of("ht_plan_bricks", ndim, at(shapes))});
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
  return made(op, plan, [&] {
    const auto& ranks = given(op, "comm", comm).ranks;
    heatpp::Shape all;
    heatpp::Dtype type{};
    std::vector<Brick> mine;
    heatpp::BlockOptions options{.comm = ranks};
    heatpp::all_or_none(ranks, [&] {
      all = shape_of(op, ndim, shape);
      type = dtype_of(op, dtype);
      mine = bricks_of(ndim, bricks, offsets, shapes);
      options.split = split_of(op, split);
      if (ghosts) options.ghosts = shape_of(op, ndim, ghosts);
    });
    return heatpp::BlockPlan(all, mine, type, options);
  });
}
void ht_plan_free(ht_plan* plan) { delete plan; }

int ht_from_bricks(const ht_plan* plan, const void* const* memory, ht_array** x) {
  return made("ht_from_bricks", x, [&] {
    const auto& ways = given("ht_from_bricks", "plan", plan);
    return ways.value.from_blocks(addresses(ways, memory));
  });
}
int ht_to_bricks(const ht_plan* plan, const ht_array* x, void* const* memory) {
  return status_of([&] {
    const auto& ways = given("ht_to_bricks", "plan", plan);
    ways.value.to_blocks(given("ht_to_bricks", "x", x).value, addresses(ways, memory));
  });
}
