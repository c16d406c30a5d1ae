// Arrays of more than 2^31 elements on 131,072 ranks, of which this process plays one: all ranks hold the same, so what
// follows from counts over all ranks is exact.
#include "../comm/one_rank/one_rank.hpp"
#include "../support.hpp"

#include <heatpp/comm/detail/numbers/place.hpp>
#include <heatpp/core/detail/relayout.hpp>
#include <heatpp/heatpp.hpp>
#include <heatpp/interop/mpi.hpp>
#include <heatpp/sparse/sparse.hpp>

#include <cstdlib>

namespace {

constexpr int ranks = 1 << 17, rank = 100'003;
constexpr std::int64_t n = 1 << 16, whole = n * ranks;  // 2^33
static_assert(whole == std::int64_t{1} << 33);

/// The default communicator of a test is that of many ranks.
class ManyRanks {
 public:
  ManyRanks() {
    ::setenv("HEATPP_SHARED_MEMORY", "off", 1);
    one_rank::become(rank, ranks);
    ht::use_comm(ht::from_mpi(MPI_COMM_WORLD));
  }
  ~ManyRanks() {
    one_rank::let_ranks_say({});
    one_rank::become(0, 1);
    ht::use_comm(ht::world());
    ::unsetenv("HEATPP_SHARED_MEMORY");
  }
  ManyRanks(const ManyRanks&) = delete;
  ManyRanks& operator=(const ManyRanks&) = delete;
};

ht::DNDarray ones(ht::Dtype dtype = ht::int32) { return ht::ones({whole}, {.dtype = dtype, .split = 0}); }
std::int64_t number(const ht::DNDarray& x) { return x.larray().item<std::int64_t>(); }
std::int64_t first_of(const ht::DNDarray& x) { return x.larray().view(-1)[0].item<std::int64_t>(); }
std::int64_t last_of(const ht::DNDarray& x) { return x.larray().view(-1)[-1].item<std::int64_t>(); }

}  // namespace

TEST_CASE("sums and counts of 2^33 elements are exact", "[ops][many_ranks]") {
  const ManyRanks many;
  CHECK(number(ht::sum(ones())) == whole);
  CHECK(number(ht::sum(ones(ht::bool_))) == whole);
  CHECK(number(ht::count_nonzero(ones())) == whole);
  CHECK(ht::sum(ones(ht::float64)).item<double>() == static_cast<double>(whole));
  CHECK(ht::mean(ones()).item<double>() == 1);
  CHECK(ht::var(ones()).item<double>() == 0);
  CHECK(last_of(ht::cumsum(ones(), 0)) == (rank + 1) * n);
  CHECK(first_of(ht::cumsum(ones(), 0)) == rank * n + 1);
}

TEST_CASE("positions among 2^33 elements are exact", "[ops][many_ranks]") {
  const ManyRanks many;
  const auto x = ht::arange(whole, {.split = 0});
  CHECK(first_of(x) == rank * n);
  CHECK(last_of(x) == (rank + 1) * n - 1);
  const auto found = ht::nonzero(ones());
  CHECK(found[0].shape() == ht::Shape{whole});
  CHECK(first_of(found[0]) == rank * n);
  const auto chosen = x(ones() > 0);
  CHECK(chosen.shape() == ht::Shape{whole});
  CHECK(last_of(chosen) == (rank + 1) * n - 1);
  const auto square = ht::reshape(x, {1 << 20, 1 << 13});
  CHECK(square.layout().offset(rank) == std::int64_t{rank} * 8);
  const auto places = ht::unravel_index(x, {1 << 20, 1 << 13});
  CHECK(first_of(places[0]) == rank * 8);
  CHECK(last_of(places[1]) == (1 << 13) - 1);
  const auto later = x(ht::slice(whole / 2 + 5, {}));
  CHECK(later.shape() == ht::Shape{whole / 2 - 5});
  CHECK(first_of(later) == rank * n);
  CHECK(later.layout().offset(ranks / 2 + 1) == n - 5);
  CHECK(ht::detail::place_in_whole(ht::default_comm(), std::int64_t{1} << 40).total == std::int64_t{1} << 57);
}

TEST_CASE("histograms and quantiles of 2^33 elements are exact", "[ops][many_ranks]") {
  const ManyRanks many;
  const auto [counts, edges] = ht::histogram(ones(), {.bins = 4, .range = std::pair{0.0, 4.0}});
  CHECK(equals(counts.larray(), at::tensor({std::int64_t{0}, whole, std::int64_t{0}, std::int64_t{0}})));
  CHECK(equals(ht::bincount(ones()).larray(), at::tensor({std::int64_t{0}, whole})));
  CHECK(ht::median(ones(ht::float32)).item<float>() == 1);
  CHECK(ht::percentile(ones(ht::float64), 99).item<double>() == 1);
}

TEST_CASE("2^33 elements are sorted by positions of 64 bits", "[ops][many_ranks]") {
  const ManyRanks many;
  one_rank::let_ranks_say([](one_rank::Call call, int from, std::span<std::byte> part) {
    const std::int64_t count = from == rank ? n : 0;  // equal keys stay where they are
    if (call == one_rank::Call::alltoall) std::memcpy(part.data(), &count, sizeof count);
  });
  const auto sorted = ht::sort(ones(ht::uint8));
  CHECK(sorted.shape() == ht::Shape{whole});
  CHECK(sorted.lshape() == ht::Shape{n});
  CHECK(each_is(sorted.larray(), 1));
}

TEST_CASE("a sparse matrix has 2^33 rows and 2^34 entries", "[ops][many_ranks]") {
  const ManyRanks many;
  constexpr std::int64_t columns = std::int64_t{1} << 29;
  std::vector<std::int64_t> row_ptr, places;
  for (std::int64_t row = 0; row <= n; ++row) row_ptr.push_back(2 * row);
  for (std::int64_t row = 0; row < n; ++row) places.insert(places.end(), {row, columns - 1});
  std::vector<double> values(places.size(), 1);

  const auto a = ht::sparse::from_local({row_ptr, places, values.data(), ht::float64}, columns, {.split = 0});

  CHECK(a.shape() == ht::Shape{whole, columns});
  CHECK(a.nnz() == 2 * whole);
  CHECK(a.lnnz() == 2 * n);
  CHECK(a.layout().offset(rank) == rank * n);
  CHECK(ht::sparse::sum(a).item<double>() == static_cast<double>(2 * whole));
  const auto rows = ht::sparse::sum(a, 1);
  CHECK(rows.shape() == ht::Shape{whole});
  CHECK(each_is(rows.larray(), 2));
}

TEST_CASE("a sparse matrix has 2^33 rows and columns", "[ops][many_ranks]") {
  const ManyRanks many;
  std::vector<std::int64_t> row_ptr, places;
  for (std::int64_t row = 0; row <= n; ++row) row_ptr.push_back(2 * row);
  for (std::int64_t row = 0; row < n; ++row) places.insert(places.end(), {row, whole - 1});
  std::vector<double> values(places.size(), 1);

  const auto a = ht::sparse::from_local({row_ptr, places, values.data(), ht::float64}, whole, {.split = 0});

  CHECK(a.shape() == ht::Shape{whole, whole});
  CHECK(a.nnz() == 2 * whole);
  CHECK(ht::sparse::sum(a, 1).larray().eq(2).all().item<bool>());
  CHECK(ht::sparse::mean(a).item<double>() == 2.0 / static_cast<double>(whole));
  CHECK(ht::sparse::balance(a, ht::sparse::Balance::rows).layout().offset(rank) == rank * n);
  CHECK(ht::sparse::max(a, 1).larray().eq(1).all().item<bool>());
  CHECK_THROWS_WITH(ht::sparse::argmax(a), Catch::Contains("expected an axis"));
  CHECK_THROWS_WITH(ht::sparse::to_dense(a), Catch::Contains("63 bits"));
}

TEST_CASE("a message of more than 2^31 bytes travels in pieces", "[ops][many_ranks]") {
  const ManyRanks many;
  constexpr std::int64_t run = 1 << 20, runs = (1 << 11) + 1;
  std::vector<std::byte> memory(2 * run);
  std::vector<ht::ConstBlock> send(ranks);
  std::vector<ht::Block> receive(ranks);
  send[0] = {memory.data(), runs, run, 0};  // the same run again and again
  receive[0] = {memory.data() + run, runs, run, 0};

  const auto before = one_rank::sent();
  ht::default_comm().exchange(send, receive);
  const auto sent = one_rank::sent() - before;

  CHECK(sent.bytes == runs * run);
  CHECK(sent.messages == 2 * runs);
}

TEST_CASE("costs of a copy for each of many ranks do not wrap", "[ops][many_ranks]") {
  const ht::Layout cut({std::int64_t{1} << 47}, 0, ranks);  // times 2^17 ranks times 8 bytes: 2^67
  const auto cost = ht::detail::relayout_cost(cut, cut.replicated(cut.shape()), 8);
  CHECK(cost > std::int64_t{1} << 56);
  CHECK(cost + cost > cost);
}
