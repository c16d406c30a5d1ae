#include "../catch.hpp"

#include <heatpp/comm/communicator.hpp>
#include <heatpp/comm/detail/kept/attached.hpp>
#include <heatpp/comm/detail/numbers/place.hpp>
#include <heatpp/interop/mpi.hpp>

#include <algorithm>
#include <limits>
#include <numeric>

namespace ht = heatpp;

TEST_CASE("allreduce reduces every dtype it is given", "[comm]") {
  const auto& world = ht::world();
  const int p = world.size();

  std::vector<std::int64_t> whole{world.rank(), 1};
  std::vector<double> real{1.0 + world.rank()};
  std::vector<std::complex<double>> complex{{1, -1}};
  world.allreduce(whole);
  world.allreduce(real, ht::ReduceOp::prod);
  world.allreduce(complex);

  CHECK(whole == std::vector<std::int64_t>{p * (p - 1) / 2, p});
  CHECK(real[0] == Approx(std::tgamma(p + 1.0)));
  CHECK(complex[0] == std::complex<double>(p, -p));
}

TEST_CASE("booleans reduce to any and all", "[comm]") {
  const auto& world = ht::world();
  std::array<bool, 2> any{world.rank() == 0, false}, all{world.rank() == 0, true};

  world.allreduce(any, ht::ReduceOp::sum);
  world.allreduce(all, ht::ReduceOp::prod);

  CHECK((any[0] && !any[1]));
  CHECK((all[0] == (world.size() == 1) && all[1]));
}

TEST_CASE("16-bit floats are reduced in float32", "[comm]") {
  const auto& world = ht::world();
  std::vector<std::uint16_t> bfloat{0x3f80, 0x7f80};  // 1 and infinity
  std::vector<std::uint16_t> half{0x3c00, 0x7c00};

  world.allreduce({bfloat.data(), 2, ht::bfloat16});
  world.allreduce({half.data(), 2, ht::float16});

  const std::uint16_t sums_bfloat[] = {0x3f80, 0x4000, 0x4040, 0x4080, 0x40a0, 0x40c0, 0x40e0, 0x4100};
  const std::uint16_t sums_half[] = {0x3c00, 0x4000, 0x4200, 0x4400, 0x4500, 0x4600, 0x4700, 0x4800};
  const auto i = static_cast<std::size_t>(world.size() - 1);
  CHECK(bfloat == std::vector<std::uint16_t>{sums_bfloat[i], 0x7f80});
  CHECK(half == std::vector<std::uint16_t>{sums_half[i], 0x7c00});
}

TEST_CASE("the minimum of complex numbers is a TypeError on every rank", "[comm]") {
  std::vector<std::complex<float>> data(2);
  CHECK_THROWS_AS(ht::world().allreduce(data, ht::ReduceOp::min), ht::TypeError);
}

TEST_CASE("a request ends once and holds the result", "[comm]") {
  const auto& world = ht::world();
  std::vector<double> data(1000, 1.0);

  auto request = world.iallreduce(data);
  while (!request.test()) {
  }
  request.wait();

  CHECK(std::ranges::all_of(data, [&](double v) { return v == world.size(); }));
}

TEST_CASE("exscan gives each rank the sum of those before it", "[comm]") {
  const auto& world = ht::world();
  std::array<std::int64_t, 1> value{world.rank() + 1};

  world.exscan(value);

  if (world.rank() > 0) CHECK(value[0] == world.rank() * (world.rank() + 1) / 2);
}

TEST_CASE("allgather takes blocks of different sizes, in place too", "[comm]") {
  const auto& world = ht::world();
  std::vector<std::int64_t> counts(static_cast<std::size_t>(world.size()));
  std::iota(counts.begin(), counts.end(), 0);  // rank 0 has nothing
  const std::vector<std::int32_t> mine(static_cast<std::size_t>(world.rank()), world.rank());
  std::vector<std::int32_t> expected;
  for (int r = 0; r < world.size(); ++r) expected.insert(expected.end(), static_cast<std::size_t>(r), r);

  std::vector<std::int32_t> all(expected.size()), in_place(expected.size());
  world.allgather(mine, all, counts);
  const auto first = static_cast<std::size_t>(world.rank() * (world.rank() - 1) / 2);
  std::ranges::copy(mine, in_place.begin() + static_cast<std::ptrdiff_t>(first));
  world.allgather({in_place.data() + first, world.rank(), ht::int32}, in_place, counts);

  CHECK(all == expected);
  CHECK(in_place == expected);
  CHECK(world.allgather(std::int64_t{world.rank()}) == counts);
}

TEST_CASE("reduce_scatter leaves each rank its part", "[comm]") {
  const auto& world = ht::world();
  const auto p = world.size();
  std::vector<std::int64_t> counts(static_cast<std::size_t>(p), 2), data(static_cast<std::size_t>(2 * p));
  std::iota(data.begin(), data.end(), 0);

  world.reduce_scatter(data, counts);

  const auto mine = static_cast<std::size_t>(2 * world.rank());
  CHECK(data[mine] == static_cast<std::int64_t>(mine) * p);
  CHECK(data[mine + 1] == static_cast<std::int64_t>(mine + 1) * p);
}

namespace {
void keep_larger(const void* in, void* inout, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) {
    const auto& a = static_cast<const std::pair<double, std::int64_t>*>(in)[i];
    auto& b = static_cast<std::pair<double, std::int64_t>*>(inout)[i];
    if (a.first >= b.first) b = a;
  }
}
}  // namespace

TEST_CASE("records are merged in rank order", "[comm]") {
  const auto& world = ht::world();
  std::pair<double, std::int64_t> record{world.rank() == 0 ? 1.0 : 2.0, world.rank()};

  world.allreduce_records(&record, 1, sizeof record, &keep_larger);

  CHECK(record.second == std::min(1, world.size() - 1));  // the first of the largest
}

TEST_CASE("records of merges that depend on the order are merged in it", "[comm]") {
  // Maps x -> a x + b, one after another.
  struct Affine {
    std::int64_t a, b;
  };
  const auto after = [](const void* in, void* inout, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) {
      const auto first = static_cast<const Affine*>(in)[i];
      auto& then = static_cast<Affine*>(inout)[i];
      then = {then.a * first.a, then.a * first.b + then.b};
    }
  };
  const auto& world = ht::world();
  std::vector<Affine> maps(5000, {2, world.rank() + 1});
  world.allreduce_records(maps.data(), std::ssize(maps), sizeof(Affine), after);

  std::int64_t a = 1, b = 0;
  for (int r = 0; r < world.size(); ++r) {
    a *= 2;
    b = 2 * b + r + 1;
  }
  for (const auto i : {0, 4999})
    CHECK((maps[static_cast<std::size_t>(i)].a == a && maps[static_cast<std::size_t>(i)].b == b));
}

TEST_CASE("messages match by tag, and may come from any rank", "[comm]") {
  const auto& world = ht::world();
  const std::int64_t mine = world.rank(), doubled = 2 * mine;
  std::vector<ht::Request> sends;
  sends.push_back(world.isend({&mine, 1, ht::int64}, 0, 5));
  sends.push_back(world.isend({&doubled, 1, ht::int64}, 0, 16383));
  std::vector<bool> seen(static_cast<std::size_t>(world.size()), false);
  for (int i = 0; world.rank() == 0 && i < world.size(); ++i) {
    std::int64_t twice = -1, once = -1;
    const int source = world.receive({&twice, 1, ht::int64}, ht::any_rank, 16383);
    CHECK(world.receive({&once, 1, ht::int64}, source, 5) == source);
    CHECK((once == source && twice == 2 * source));
    seen.at(static_cast<std::size_t>(source)) = true;
  }
  ht::wait_all(sends);
  if (world.rank() == 0) CHECK(std::ranges::all_of(seen, std::identity()));
  CHECK_THROWS_WITH(world.send({&mine, 1, ht::int64}, 0, 1 << 14), Catch::Contains("[send] got the tag 16384"));
  CHECK_THROWS_WITH(world.ireceive({nullptr, 1, ht::int64}, 0, -1), Catch::Contains("[ireceive] got the tag -1"));
}

TEST_CASE("a failure on one rank throws on all, with its message", "[comm]") {
  const auto& world = ht::world();
  const int culprit = world.size() - 1;
  std::string message;
  try {
    ht::all_or_none(world, [&] {
      if (world.rank() == culprit) throw ht::IoError("[read] got nothing; expected a file");
    });
  } catch (const ht::IoError& error) {
    message = error.what();
  }
  CHECK_THAT(message, Catch::Contains("[read] got nothing"));
  if (world.size() > 1) CHECK_THAT(message, Catch::Contains("rank " + std::to_string(culprit)));
  CHECK_NOTHROW(ht::all_or_none(world, [] {}));
}

TEST_CASE("a host's communicator is duplicated, and splits have ranks of their own", "[comm]") {
  const auto comm = ht::from_mpi(MPI_COMM_WORLD);
  int relation = 0;
  MPI_Comm_compare(ht::to_mpi(comm), MPI_COMM_WORLD, &relation);
  const auto even = comm.split(comm.rank() % 2 == 0 ? 0 : -1);

  CHECK(relation == MPI_CONGRUENT);
  CHECK(even.has_value() == (comm.rank() % 2 == 0));
  if (even) CHECK(even->size() == (comm.size() + 1) / 2);
}

TEST_CASE("communicators of the same ranks in the same order are of one group", "[comm]") {
  const auto& world = ht::world();
  CHECK(world.group() == 0);
  CHECK(world.split(0)->group() == 0);
  const auto backwards = world.split(0, -world.rank()), half = world.split(world.rank() % 2);
  CHECK(half->group() == half->split(0)->group());
  if (world.size() == 1) return;
  CHECK(backwards->group() != 0);
  auto groups = world.allgather(static_cast<std::int64_t>(ht::self().group()));
  groups.insert(groups.end(), {0, static_cast<std::int64_t>(backwards->group())});
  std::ranges::sort(groups);
  CHECK(std::ranges::adjacent_find(groups) == groups.end());
}

TEST_CASE("duplicates are of the same ranks, parts and other orders are not", "[comm]") {
  const auto& world = ht::world();
  const auto copy = ht::from_mpi(MPI_COMM_WORLD), alone = ht::from_mpi(MPI_COMM_SELF);
  const auto turned = world.split(0, -world.rank());
  CHECK(copy.same_ranks(world));
  CHECK(alone.same_ranks(ht::self()));
  CHECK_FALSE(alone.same_ranks(world));
  CHECK(turned->same_ranks(world) == (world.size() == 1));
}

TEST_CASE("invalid groups of ranks are an error on all of them", "[comm]") {
  CHECK_THROWS_AS(ht::from_mpi(MPI_COMM_NULL), ht::ValueError);
  const auto& world = ht::world();
  if (world.size() == 1) return;
  MPI_Comm half = MPI_COMM_NULL, between = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, world.rank() > 0, world.rank(), &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, world.rank() > 0 ? 0 : 1, 7, &between);
  CHECK_THROWS_AS(ht::from_mpi(between), ht::ValueError);
  MPI_Comm_free(&between);
  MPI_Comm_free(&half);
}

TEST_CASE("counters count calls and payload", "[comm]") {
  const auto comm = ht::from_mpi(MPI_COMM_WORLD);
  std::vector<float> data(10);
  comm.allreduce(data);
  comm.broadcast(data, 0);
  CHECK(comm.counters().calls == (comm.size() > 1 ? 2 : 0));
  CHECK(comm.counters().bytes == (comm.size() > 1 ? 80 : 0));
}

TEST_CASE("a rank finds its place in the whole", "[comm]") {
  const auto& world = ht::world();
  const auto rank = std::int64_t{world.rank()}, ranks = std::int64_t{world.size()};
  for (int again = 0; again < 3; ++again) {
    const auto place = ht::detail::place_in_whole(world, 10 * rank + again);
    CHECK(place.offset == 5 * rank * (rank - 1) + again * rank);
    CHECK(place.total == 5 * ranks * (ranks - 1) + again * ranks);
    const auto all = world.allgather(rank * rank - again);
    REQUIRE(std::ssize(all) == ranks);
    for (std::int64_t r = 0; r < ranks; ++r) CHECK(all[static_cast<std::size_t>(r)] == r * r - again);
  }
  const auto most = std::numeric_limits<std::int64_t>::max() / ranks;
  CHECK(ht::detail::place_in_whole(world, most).total == most * ranks);
  const auto alone = ht::detail::place_in_whole(ht::self(), 7);
  CHECK(alone.offset == 0);
  CHECK(alone.total == 7);
}

namespace {
struct Attached {
  static inline int alive = 0;
  Attached() { ++alive; }
  ~Attached() { --alive; }
  std::optional<ht::Communicator> part;
};
}  // namespace

TEST_CASE("what is attached to a communicator goes with its last copy", "[comm]") {
  const auto& world = ht::world();
  auto group = world.split(0, world.rank());
  auto copy = group;
  const auto attached = [&] { return ht::detail::attached<Attached>(*copy); };
  CHECK(attached() == attached());
  CHECK(Attached::alive == 1);
  attached()->part = copy->split(0, copy->rank());
  std::vector<int> ranks{1};
  attached()->part->allreduce(ranks);
  CHECK(ranks[0] == world.size());
  group.reset();
  CHECK(Attached::alive == 1);
  copy.reset();
  CHECK(Attached::alive == 0);
}
