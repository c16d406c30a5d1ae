// Arrays of more than 2^31 elements on 131,072 ranks, of which this process plays one: all ranks hold the same, so what
// follows from counts over all ranks is exact.
#include "../comm/one_rank/one_rank.hpp"
#include "../scratch_path.hpp"
#include "../support.hpp"

#include <heatpp/comm/detail/numbers/place.hpp>
#include <heatpp/core/detail/relayout.hpp>
#include <heatpp/heatpp.hpp>
#include <heatpp/interop/mpi.hpp>
#include <heatpp/sparse/sparse.hpp>
#include <heatpp_io/heatpp_io.hpp>

#include <sys/mman.h>

#include <cstdlib>
#include <deque>
#include <filesystem>
#include <fstream>

namespace {

constexpr int ranks = 1 << 17, rank = 100'003;
constexpr std::int64_t n = 1 << 16, whole = n * ranks;  // 2^33
static_assert(whole == std::int64_t{1} << 33);

/// The default communicator of a test is that of many ranks.
class ManyRanks {
 public:
  explicit ManyRanks(int self = rank) {
    ::setenv("HEATPP_SHARED_MEMORY", "off", 1);
    one_rank::become(self, ranks);
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
/// Addresses of more than 2^31 bytes in the same MiB of memory, except some parts that have pages of their own.
class RepeatedMemory {
 public:
  explicit RepeatedMemory(std::int64_t bytes) : bytes_((bytes + piece - 1) / piece * piece) {
    const int file = ::memfd_create("repeated", 0);
    if (file < 0 || ::ftruncate(file, piece) != 0) throw std::runtime_error("no memory");
    data_ = mapped(nullptr, bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
    for (std::int64_t at = 0; at < bytes_; at += piece)
      mapped(data_ + at, piece, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file);
    ::close(file);
  }
  ~RepeatedMemory() { ::munmap(data_, static_cast<std::size_t>(bytes_)); }
  RepeatedMemory(const RepeatedMemory&) = delete;
  RepeatedMemory& operator=(const RepeatedMemory&) = delete;
  [[nodiscard]] std::uint8_t* data() const { return data_; }
  /// Gives the MiB around a byte, and the next one, pages of their own.
  void own(std::int64_t at) const {
    at = std::min(at / piece * piece, bytes_ - 2 * piece);
    mapped(data_ + at, 2 * piece, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1);
  }

 private:
  static constexpr std::int64_t piece = 1 << 20;
  static std::uint8_t* mapped(void* at, std::int64_t bytes, int protection, int flags, int file) {
    void* const memory = ::mmap(at, static_cast<std::size_t>(bytes), protection, flags, file, 0);
    if (memory == MAP_FAILED) throw std::runtime_error("no memory");
    return static_cast<std::uint8_t*>(memory);
  }

  std::int64_t bytes_;
  std::uint8_t* data_;
};

/// Returns what each byte of a rank is in a gathered whole.
std::uint8_t number_of(int of) { return static_cast<std::uint8_t>(1 + of % 251); }
bool is_part_of(const std::uint8_t* all, int of, std::int64_t each) {
  const auto* const first = all + of * each;
  return std::all_of(first, first + each, [&](auto x) { return x == number_of(of); });
}

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

TEST_CASE("more than 2^31 elements are gathered, from all ranks and from one", "[ops][many_ranks]") {
  const ManyRanks many;
  constexpr std::int64_t each = (1 << 14) + 1, all = each * ranks;
  static_assert(all > std::int64_t{1} << 31);
  const RepeatedMemory memory(all);
  const std::array seen{0, 1, ranks / 2, rank, ranks - 1};
  for (const int of : seen) memory.own(of * each);
  const std::vector<std::uint8_t> mine(static_cast<std::size_t>(each), number_of(rank));
  const std::vector<std::int64_t> counts(ranks, each);
  one_rank::let_ranks_say([&](one_rank::Call call, int from, std::span<std::byte> part) {
    if (call == one_rank::Call::message && std::ssize(part) == each)
      std::ranges::fill(part, std::byte{number_of(from)});
  });

  ht::default_comm().gather({mine.data(), each, ht::uint8}, {memory.data(), all, ht::uint8}, counts, rank);
  for (const int of : seen) CHECK(is_part_of(memory.data(), of, each));

  std::vector<std::int64_t> large(ranks, 0);
  large[rank] = all;  // one rank has all of it
  const auto before = one_rank::sent();
  ht::default_comm().gather({memory.data(), all, ht::uint8}, {nullptr, 0, ht::uint8}, large, 0);
  CHECK((one_rank::sent() - before).bytes >= all);
}

TEST_CASE("2^33 elements of a file are read where they lie", "[ops][many_ranks]") {
  const auto path = scratch_path("heatpp_many_ranks") + ".npy";
  constexpr std::int64_t header = 128;
  {
    std::ofstream file(path, std::ios::binary);
    std::string text = "{'descr': '|u1', 'fortran_order': False, 'shape': (" + std::to_string(whole) + ",), }";
    text.resize(header - 11, ' ');
    file << std::string("\x93NUMPY\x01\x00", 8) << static_cast<char>(header - 10) << '\0' << text << '\n';
    for (const auto& [at, byte] : {std::pair{rank * n, 7}, {(rank + 1) * n - 1, 8}, {whole - 1, 9}}) {
      file.seekp(header + at);
      file.put(static_cast<char>(byte));
    }
  }
  // Rank 0 looks at the file, and this rank hears what it says.
  std::deque<std::vector<std::byte>> said;
  {
    const ManyRanks first(0);
    one_rank::let_ranks_say([&](one_rank::Call call, int, std::span<std::byte> part) {
      if (call == one_rank::Call::broadcast) said.emplace_back(part.begin(), part.end());
    });
    CHECK(ht::io::load(path, {.split = 0}).lshape() == ht::Shape{n});
  }
  const ManyRanks many;
  one_rank::let_ranks_say([&](one_rank::Call call, int, std::span<std::byte> part) {
    if (call != one_rank::Call::broadcast || said.empty()) return;
    std::ranges::copy(said.front(), part.begin());
    said.pop_front();
  });

  const auto x = ht::io::load(path, {.split = 0});

  CHECK(x.shape() == ht::Shape{whole});
  CHECK(x.lshape() == ht::Shape{n});
  CHECK(x.larray()[0].item<int>() == 7);
  CHECK(x.larray()[-1].item<int>() == 8);
  CHECK(x.larray().sum().item<int>() == 15);
  std::filesystem::remove(path);
}

TEST_CASE("costs of a copy for each of many ranks do not wrap", "[ops][many_ranks]") {
  const ht::Layout cut({std::int64_t{1} << 47}, 0, ranks);  // times 2^17 ranks times 8 bytes: 2^67
  const auto cost = ht::detail::relayout_cost(cut, cut.replicated(cut.shape()), 8);
  CHECK(cost > std::int64_t{1} << 56);
  CHECK(cost + cost > cost);
}
