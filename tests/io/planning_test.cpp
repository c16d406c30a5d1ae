#include "../support.hpp"

#include <heatpp_io/detail/elements/pieces.hpp>
#include <heatpp_io/detail/elements/windows.hpp>
#include <heatpp_io/detail/files/expand.hpp>
#include <heatpp_io/detail/shards/shard_reader.hpp>
#include <heatpp_io/detail/shards/strategy.hpp>

namespace io = ht::io::detail;

namespace {

/// Whether pieces cover a box in order, without gaps, within the limit.
bool covers(const std::vector<io::Piece>& pieces, const ht::Shape& box, std::int64_t limit) {
  std::int64_t offset = 0;
  for (const auto& piece : pieces) {
    if (piece.offset != offset || piece.size > limit || piece.size != ht::size_of(piece.count)) return false;
    std::int64_t index = 0;
    for (std::size_t i = 0; i < box.size(); ++i) index = index * box[i] + piece.first[i];
    if (index != offset) return false;
    offset += piece.size;
  }
  return offset == ht::size_of(box);
}

ht::io::detail::DatasetInfo stored(ht::Shape shape, ht::Shape chunk = {}, bool compressed = false) {
  return {.shape = std::move(shape), .element = {ht::float32}, .chunk = std::move(chunk), .compressed = compressed};
}

io::Strategy strategy(const io::DatasetInfo& info, int split, int ranks, std::int64_t files = 1) {
  const io::Shards shards{std::vector<std::string>(static_cast<std::size_t>(files)), "x", {0, info.shape[0]}, info};
  return io::choose_strategy(shards, io::select(info.shape, {}, "test"), ht::Layout(info.shape, split, ranks), {});
}

}  // namespace

TEST_CASE("pieces cover a box", "[io][planning]") {
  for (const auto& box : {ht::Shape{}, ht::Shape{7}, ht::Shape{5, 6}, ht::Shape{2, 3, 40}, ht::Shape{1, 1, 9}})
    for (const std::int64_t limit : {1, 2, 7, 39, 1000}) CHECK(covers(io::plan_pieces(box, limit), box, limit));
  CHECK(io::plan_pieces({0, 4}, 10).empty());
  CHECK(io::plan_pieces({4, 0}, 10).empty());
}

TEST_CASE("pieces of more than 2^31 elements stay below the limit", "[io][planning]") {
  const auto limit = std::int64_t{1} << 30;
  for (const auto& box : {ht::Shape{std::int64_t{5} << 30}, ht::Shape{3, (std::int64_t{1} << 31) + 5},
                          ht::Shape{std::int64_t{1} << 20, 4096}, ht::Shape{1, std::int64_t{1} << 33, 1}}) {
    const auto pieces = io::plan_pieces(box, limit);
    CHECK(covers(pieces, box, limit));
    CHECK(std::ssize(pieces) <= 2 * (ht::size_of(box) / limit + 1));
  }
}

TEST_CASE("pieces begin where chunks do", "[io][planning]") {
  const auto pieces = io::plan_pieces({20, 3}, 18, {.unit = 4, .phase = 1});
  CHECK(covers(pieces, {20, 3}, 100));
  REQUIRE(pieces.size() == 6);
  for (std::size_t i = 1; i < pieces.size(); ++i) CHECK((pieces[i].first[0] + 1) % 4 == 0);
}

TEST_CASE("digits sort as numbers", "[io][planning]") {
  CHECK(io::natural_less("part-2.h5", "part-10.h5"));
  CHECK_FALSE(io::natural_less("part-10.h5", "part-2.h5"));
  CHECK(io::natural_less("part-002.h5", "part-10.h5"));
  CHECK(io::natural_less("a", "a1"));
  CHECK(io::natural_less("a1b2", "a1b10"));
  CHECK(io::natural_less("a01", "a1"));
  CHECK_FALSE(io::natural_less("a1", "a01"));
  CHECK_FALSE(io::natural_less("x", "x"));
}

TEST_CASE("rows of a slice that lie in a shard", "[io][planning]") {
  const ht::ResolvedSlice rows{.start = 3, .count = 5, .step = 4};  // 3 7 11 15 19
  const auto check = [&](std::int64_t first, std::int64_t last, std::int64_t position, std::int64_t count) {
    const auto range = io::rows_within(rows, first, last);
    CHECK(range.count == count);
    if (count > 0) CHECK(range.first == position);
  };
  check(0, 3, 0, 0);
  check(0, 4, 0, 1);
  check(3, 8, 0, 2);
  check(4, 7, 1, 0);
  check(7, 20, 1, 4);
  check(16, 100, 4, 1);
  check(20, 100, 5, 0);
}

TEST_CASE("windows give every position to one part", "[io][planning]") {
  for (const std::int64_t extent : {1, 5, 64, 1000})
    for (const std::int64_t unit : {1, 7, 64})
      for (const std::int64_t phase : {std::int64_t{0}, unit - 1}) {
        const io::Windows windows(ht::Layout({extent, 8}, 1, 3), 4, {0, {unit, phase}, 1024});
        std::int64_t next = 0, largest = 0;
        for (std::int64_t w = 0; w < windows.count(); ++w)
          for (int r = 0; r < 3; ++r) {
            const auto part = windows.part(w, r);
            CHECK(part.first == next);
            if (part.count > 0 && part.first > 0) CHECK((part.first + phase) % unit == 0);
            next += part.count;
            largest = std::max(largest, part.count * 8);
          }
        CHECK(next == extent);
        CHECK(largest <= windows.part_size());
      }
  CHECK(io::Windows(ht::Layout({0, 8}, 1, 3), 4, {0, {}, 1024}).count() == 0);
}

TEST_CASE("the way to read follows from the storage and the split", "[io][planning]") {
  using Kind = io::Strategy::Kind;
  CHECK(strategy(stored({1 << 20, 512}), 0, 4).kind == Kind::collective);
  CHECK(strategy(stored({1 << 20, 512}), 0, 4, 7).kind == Kind::own_block);
  CHECK(strategy(stored({1 << 20, 512}), 1, 2).kind == Kind::own_block);
  CHECK(strategy(stored({1 << 20, 512}), 1, 8).kind == Kind::exchange);
  CHECK(strategy(stored({64, 1 << 20}), 1, 8).kind == Kind::own_block);
  CHECK(strategy(stored({1 << 20, 512}), 1, 1).kind == Kind::own_block);
  CHECK(strategy(stored({131072, 512}, {4096, 128}, true), 1, 4).kind == Kind::own_block);
  CHECK(strategy(stored({131072, 512}, {4096, 128}, true), 1, 3).kind == Kind::exchange);
  const auto columns = strategy(stored({131072, 512}, {131072, 1}, true), 0, 4);
  CHECK(columns.kind == Kind::exchange);
  CHECK(columns.axis == 1);
}
