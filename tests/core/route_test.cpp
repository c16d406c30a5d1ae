#include "../support.hpp"
#include "../with_aten.hpp"

#include <heatpp/core/detail/peers/parcels.hpp>
#include <heatpp/core/detail/route.hpp>

namespace {

/// Row i of a rank begins with this number.
std::int64_t number(int rank, std::int64_t i) { return 1000 * rank + i; }

/// Returns the number of a rank's rows: none on the first, uneven numbers on the others.
std::int64_t count_of(int rank) { return rank == 0 && ht::world().size() > 1 ? 0 : 5 + 3 * rank; }

at::Tensor owners_of_rows(std::int64_t rows, int ranks) { return at::arange(rows) * 7 % (ranks + 1) % ranks; }

}  // namespace

TEST_CASE("rows go to their owners and answers come back in the order of the rows", "[core][route]") {
  const auto& comm = ht::world();
  const auto count = count_of(comm.rank());
  const std::pair<at::ScalarType, std::vector<std::int64_t>> rows_of[] = {{at::kShort, {}},         {at::kLong, {}},
                                                                          {at::kComplexDouble, {}}, {at::kInt, {3}},
                                                                          {at::kShort, {2, 5}},     {at::kByte, {0}}};
  for (const auto& [type, extents] : rows_of) {
    std::vector<std::int64_t> shape{count};
    shape.insert(shape.end(), extents.begin(), extents.end());
    std::vector<std::int64_t> column(shape.size(), 1);
    column.front() = count;
    const auto numbers = at::arange(number(comm.rank(), 0), number(comm.rank(), count));
    const auto rows = numbers.to(type).view(column).expand(shape);

    const auto route = ht::detail::route_to(owners_of_rows(count, comm.size()), comm);
    const auto arrived = route.there(rows);
    const auto back = route.back(arrived * 2);

    std::vector<std::int64_t> expected;
    for (int rank = 0; rank < comm.size(); ++rank) {
      const auto owners = owners_of_rows(count_of(rank), comm.size());
      for (std::int64_t i = 0; i < owners.numel(); ++i)
        if (owners[i].item<std::int64_t>() == comm.rank()) expected.push_back(number(rank, i));
    }
    shape.front() = column.front() = std::ssize(expected);
    CHECK(equals(arrived, at::tensor(expected, at::kLong).to(type).view(column).expand(shape)));
    CHECK(equals(back, rows * 2));
  }
}

TEST_CASE("a route needs no message if ranks know what they receive", "[core][route]") {
  const auto& comm = ht::world();
  const auto ranks = static_cast<std::size_t>(comm.size());
  const auto owners = at::arange(3 * comm.size()).fmod(comm.size());
  const auto told = ht::detail::route_to(owners.clone(), comm);
  const auto known = ht::detail::route_to(owners.clone(), comm, std::vector<std::int64_t>(ranks, 3));
  CHECK(told.received == known.received);
  CHECK(equals(told.there(owners), at::full({3 * comm.size()}, comm.rank(), at::kLong)));
  CHECK(equals(known.there(owners), told.there(owners)));
}

TEST_CASE("parcels reach their ranks, in rounds and all at once", "[core][route]") {
  const auto& comm = ht::world();
  // Rank r sends 0 to 2 records to each rank; rank 1 sends none.
  const auto count = [](int from, int to) { return from == 1 ? 0 : (from + 2 * to) % 3; };
  std::vector<std::vector<std::int64_t>> expected;
  ht::detail::Parcels mine{3, {}};
  for (int peer = 0; peer < comm.size(); ++peer) {
    for (int i = 0; i < count(comm.rank(), peer); ++i)
      mine.numbers.insert(mine.numbers.end(), {peer, comm.rank(), number(peer, i)});
    for (int i = 0; i < count(peer, comm.rank()); ++i) expected.push_back({comm.rank(), peer, number(comm.rank(), i)});
  }
  const auto records = [](const ht::detail::Parcels& parcels) {
    std::vector<std::vector<std::int64_t>> all;
    for (std::size_t i = 0; i < parcels.count(); ++i)
      all.emplace_back(parcels.record(i).begin(), parcels.record(i).end());
    std::ranges::sort(all);
    return all;
  };
  CHECK(records(ht::detail::delivered_in_rounds(mine, comm)) == expected);
  CHECK(records(ht::detail::delivered(mine, comm)) == expected);
}
