#include "../catch.hpp"

#include <heatpp/comm/communicator.hpp>
#include <heatpp/comm/detail/impl.hpp>
#include <heatpp/comm/detail/machine/peer_memory.hpp>
#include <heatpp/comm/detail/mpi.hpp>

#include <algorithm>
#include <numeric>

namespace ht = heatpp;

namespace {

ht::ConstBlock whole(const std::vector<std::int32_t>& v) {
  const auto bytes = static_cast<std::int64_t>(v.size() * sizeof(std::int32_t));
  return {reinterpret_cast<const std::byte*>(v.data()), 1, bytes, bytes};
}

}  // namespace

TEST_CASE("exchange transposes a matrix of blocks cut in columns", "[comm]") {
  // Rank r holds `rows` rows of p * width columns, all equal to r; afterwards `width` columns of all rows. With 300,000
  // elements a block spans several pieces.
  const auto& world = ht::world();
  const auto p = static_cast<std::int64_t>(world.size());
  const std::int64_t rows = GENERATE(0, 1, 3, 1000), width = GENERATE(1, 7, 300);
  std::vector<std::int32_t> mine(static_cast<std::size_t>(rows * p * width)), result(mine.size(), -1);
  for (std::size_t i = 0; i < mine.size(); ++i)
    mine[i] = static_cast<std::int32_t>(world.rank() * 1000 + static_cast<std::int64_t>(i) % (p * width));

  std::vector<ht::ConstBlock> send;
  std::vector<ht::Block> receive;
  for (std::int64_t r = 0; r < p; ++r) {
    send.push_back({reinterpret_cast<const std::byte*>(mine.data() + r * width), rows, width * 4, p * width * 4});
    receive.push_back(
        {reinterpret_cast<std::byte*>(result.data() + r * rows * width), 1, rows * width * 4, rows * width * 4});
  }
  world.exchange(send, receive);

  bool right = true;
  for (std::size_t i = 0; i < result.size(); ++i) {
    const auto from = static_cast<std::int64_t>(i) / (rows * width),
               column = world.rank() * width + static_cast<std::int64_t>(i) % width;
    right = right && result[i] == from * 1000 + column;
  }
  CHECK(right);
}

TEST_CASE("exchange takes blocks of any size, empty ones and strided receivers", "[comm]") {
  const auto& world = ht::world();
  // Rank s sends (s + 1) * (r + 1) numbers to rank r, none to rank 1; rank r stores them at every second place.
  const auto count = [](int from, int to) { return to == 1 ? 0 : (from + 1) * (to + 1); };
  std::vector<std::vector<std::int32_t>> out, in;
  std::vector<ht::ConstBlock> send;
  std::vector<ht::Block> receive;
  for (int r = 0; r < world.size(); ++r) {
    out.emplace_back(static_cast<std::size_t>(count(world.rank(), r)), world.rank() * 10 + r);
    in.emplace_back(static_cast<std::size_t>(2 * count(r, world.rank())), -1);
  }
  for (int r = 0; r < world.size(); ++r) {
    const auto i = static_cast<std::size_t>(r);
    send.push_back(whole(out[i]));
    receive.push_back({reinterpret_cast<std::byte*>(in[i].data()), count(r, world.rank()), 4, 8});
  }

  world.exchange(send, receive);

  for (int r = 0; r < world.size(); ++r)
    for (std::size_t k = 0; k < in[static_cast<std::size_t>(r)].size(); ++k)
      CHECK(in[static_cast<std::size_t>(r)][k] == (k % 2 ? -1 : r * 10 + world.rank()));
}

TEST_CASE("exchange wants one block for each rank", "[comm]") {
  CHECK_THROWS_AS(ht::world().exchange({}, {}), ht::ValueError);
}

TEST_CASE("long buffers go in pieces that cover them once", "[comm]") {
  std::vector<std::pair<std::int64_t, int>> pieces;
  const auto note = [&](std::int64_t first, int n) { pieces.emplace_back(first, n); };

  ht::detail::for_each_piece(10, 4, note);
  ht::detail::for_each_piece(0, 4, note);
  ht::detail::for_each_piece((std::int64_t{1} << 31) + 5, ht::detail::max_count, note);

  const std::int64_t big = ht::detail::max_count;
  CHECK(pieces ==
        std::vector<std::pair<std::int64_t, int>>{
            {0, 4}, {4, 4}, {8, 2}, {0, 0}, {0, static_cast<int>(big)}, {big, static_cast<int>(big)}, {2 * big, 5}});
}

TEST_CASE("exchange of blocks that ranks copy from each other's memory", "[comm][direct]") {
  // Rows of p * width columns become columns, as above, in runs that the kernel copies and in runs too short for it. In
  // a second call ranks know whether they can.
  const auto& world = ht::world();
  const auto p = static_cast<std::int64_t>(world.size());
  const std::int64_t width = GENERATE(1024, 1500, 200), rows = (std::int64_t{5} << 20) / (4 * width);
  const auto columns = p * width;
  const auto number = [](std::int64_t row, std::int64_t column) {
    return static_cast<std::int32_t>(row * 7919 + column);
  };
  std::vector<std::int32_t> mine(static_cast<std::size_t>(rows * columns)), result(mine.size());
  for (std::int64_t i = 0; i < rows * columns; ++i)
    mine[static_cast<std::size_t>(i)] = number(world.rank() * rows + i / columns, i % columns);

  const auto check = [&](const ht::Communicator& comm) {
    std::ranges::fill(result, -1);
    std::vector<ht::ConstBlock> send;
    std::vector<ht::Block> receive;
    for (std::int64_t r = 0; r < p; ++r) {
      send.push_back({reinterpret_cast<const std::byte*>(mine.data() + r * width), rows, width * 4, columns * 4});
      receive.push_back(
          {reinterpret_cast<std::byte*>(result.data() + r * rows * width), 1, rows * width * 4, rows * width * 4});
    }
    comm.exchange(send, receive);
    bool right = true;
    for (std::int64_t i = 0; i < rows * columns; ++i)
      right &= result[static_cast<std::size_t>(i)] == number(i / width, world.rank() * width + i % width);
    CHECK(right);
  };
  check(world);
  check(world);

  // As if the memory of some ranks could not be read.
  const auto other = *world.split(0);
  other.impl().no_copies_from.assign(static_cast<std::size_t>(p), world.rank() == 0);
  other.impl().no_copies_to.assign(static_cast<std::size_t>(p), false);
  other.impl().no_copies_to[0] = true;
  if (world.rank() == 0) other.impl().no_copies_to.assign(static_cast<std::size_t>(p), false);
  check(other);
}

TEST_CASE("a block of another process is read if the system allows it", "[comm][direct]") {
  const auto& world = ht::world();
  std::vector<std::int32_t> mine(5000, world.rank()), copy(2000, -1);
  const auto there = ht::detail::whereabouts(whole(mine));
  std::vector<ht::detail::Whereabouts> all(static_cast<std::size_t>(world.size()));
  world.allgather({&there, sizeof there, ht::int8},
                  {all.data(), std::ssize(all) * static_cast<std::int64_t>(sizeof there), ht::int8},
                  std::vector<std::int64_t>(all.size(), sizeof there));
  const auto next = static_cast<std::size_t>((world.rank() + 1) % world.size());
  auto from = all[next];
  const ht::Block to{reinterpret_cast<std::byte*>(copy.data()), 1, 8000, 8000};
  // If the system forbids it, all of this is false, and exchanges use messages.
  const bool readable = ht::detail::is_readable(from);
  CHECK(ht::detail::copy_from_peer(from, to, 400, 2000) == readable);
  if (readable) CHECK((copy[99] == -1 && copy[100] == static_cast<std::int32_t>(next) && copy[600] == -1));
  world.barrier();

  from.signature += 1;
  CHECK_FALSE(ht::detail::is_readable(from));
  from = all[next];
  from.machine += 1;
  CHECK_FALSE(ht::detail::is_readable(from));
  from.machine = 0;
  CHECK_FALSE(ht::detail::is_readable(from));
  from = all[next];
  from.sign = nullptr;
  CHECK_FALSE(ht::detail::is_readable(from));
  world.barrier();
}
