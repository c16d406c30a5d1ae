#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/alike.hpp>
#include <heatpp_c/detail/handles.hpp>

using namespace heatpp::c;  // NOLINT: what the functions below are made of
using heatpp::Brick;
using heatpp::detail::check_agreed;

namespace {

/// The bricks of this rank as C passes them.
struct Given {
  int ndim, count;
  const std::int64_t *offsets, *shapes, *before, *behind;  ///< the last two are NULL without ghost cells
};

std::vector<Brick> bricks_of(const Given& given) {
  constexpr auto op = "ht_plan_bricks";
  if (given.count < 0)
    heatpp::detail::raise<heatpp::ValueError>(op, "got {} bricks; expected none or more", given.count);
  std::vector<Brick> bricks;
  for (int b = 0; b < given.count; ++b) {
    const auto of_brick = [&](const char* argument, const std::int64_t* numbers) {
      return shape_of(op, {argument, numbers ? numbers + std::int64_t{b} * given.ndim : nullptr, given.ndim});
    };
    bricks.push_back({of_brick("offsets", given.offsets), of_brick("shapes", given.shapes)});
    if (given.before) bricks.back().before = of_brick("before", given.before);
    if (given.behind) bricks.back().behind = of_brick("behind", given.behind);
  }
  return bricks;
}

/// Returns as many addresses as this rank has bricks, which the host knows.
template <class Pointer>
std::span<const Pointer> addresses(const ht_plan& plan, const Pointer* memory) {
  return {memory, memory ? plan.value.bricks() : 0};
}

std::vector<bool> periodic_of(const heatpp::BlockPlan& plan, const int* periodic) {
  std::vector<bool> axes;
  for (int axis = 0; periodic && axis < plan.layout().ndim(); ++axis) axes.push_back(periodic[axis] != 0);
  return axes;
}

/// The whole domain as C passes it.
struct Domain {
  const ht_comm* comm;
  int dtype;
  const std::int64_t *shape, *ghosts;
  CutNumbers cut;
};

void plan_bricks(const Domain& domain, const Given& bricks, ht_plan** plan) {
  constexpr auto op = "ht_plan_bricks";
  const auto& ranks = given(op, "comm", domain.comm).ranks;
  heatpp::Shape all;
  heatpp::Dtype type{};
  std::vector<Brick> mine;
  heatpp::BlockOptions options{.comm = ranks};
  check_agreed(op, ranks, {{"dtype", dtype_text(domain.dtype)}, setting_of(domain.cut)}, [&] {
    check_given(op, "plan", plan);
    all = shape_of(op, {"shape", domain.shape, bricks.ndim});
    type = dtype_of(op, domain.dtype);
    mine = bricks_of(bricks);
    set_cut(op, options, domain.cut);
    if (domain.ghosts) options.ghosts = shape_of(op, {"ghosts", domain.ghosts, bricks.ndim});
  });
  *plan = new ht_plan{heatpp::BlockPlan(all, mine, type, options)};
}

}  // namespace

int ht_plan_bricks(const ht_comm* comm, int dtype, int ndim, const int64_t* shape, int bricks, const int64_t* offsets,
                   const int64_t* shapes, const int64_t* ghosts, int split, ht_plan** plan) {
  return status_of([&] {
    plan_bricks({comm, dtype, shape, ghosts, {split}}, {ndim, bricks, offsets, shapes, nullptr, nullptr}, plan);
  });
}
int ht_plan_ghosted_bricks(const ht_comm* comm, int dtype, int ndim, const int64_t* shape, int bricks,
                           const int64_t* offsets, const int64_t* shapes, const int64_t* before, const int64_t* behind,
                           int split, ht_plan** plan) {
  return status_of([&] {
    plan_bricks({comm, dtype, shape, nullptr, {split}}, {ndim, bricks, offsets, shapes, before, behind}, plan);
  });
}
int ht_plan_on_grid(const ht_comm* comm, int dtype, int ndim, const int64_t* shape, int bricks, const int64_t* offsets,
                    const int64_t* shapes, const int64_t* before, const int64_t* behind, const int* grid,
                    ht_plan** plan) {
  return status_of([&] {
    plan_bricks({comm, dtype, shape, nullptr, on_grid(ndim, grid)}, {ndim, bricks, offsets, shapes, before, behind},
                plan);
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
int ht_adopt_brick(const ht_plan* plan, void* memory, ht_array** x) {
  constexpr auto op = "ht_adopt_brick";
  return status_of([&] {
    const auto& ways = given(op, "plan", plan).value;
    heatpp::all_or_none(ways.comm(), [&] { check_given(op, "x", x); });
    *x = new ht_array{heatpp::adopt_blocks(memory, ways)};
  });
}
int ht_refresh_bricks(const ht_plan* plan, const int* periodic, void* const* memory) {
  return status_of([&] {
    const auto& ways = given("ht_refresh_bricks", "plan", plan);
    heatpp::refresh_ghosts(addresses(ways, memory), ways.value, {.periodic = periodic_of(ways.value, periodic)});
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
