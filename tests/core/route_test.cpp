#include "../support.hpp"
#include "../with_aten.hpp"

#include <heatpp/core/detail/peers/parcels.hpp>
#include <heatpp/core/detail/route.hpp>

namespace {

// Lists of rows are compared in a second pair of brackets: Catch could not print them.

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
  const auto known =
      ht::detail::route_to(owners.clone(), comm, ht::detail::rows_of_ranks(std::vector<std::int64_t>(ranks, 3)));
  CHECK((told.received == known.received));
  CHECK(equals(told.there(owners), at::full({3 * comm.size()}, comm.rank(), at::kLong)));
  CHECK(equals(known.there(owners), told.there(owners)));
}

TEST_CASE("ranks are told how many rows others have for them, at once and in rounds", "[core][route]") {
  const auto& comm = ht::world();
  const auto count = [](int from, int to) { return from == 1 ? 0 : (from + 2 * to) % 3; };
  std::vector<std::int64_t> sent, received;
  for (int peer = 0; peer < comm.size(); ++peer) {
    sent.push_back(count(comm.rank(), peer));
    received.push_back(count(peer, comm.rank()));
  }
  const auto expected = ht::detail::rows_of_ranks(received);
  CHECK((ht::detail::told(ht::detail::rows_of_ranks(sent), comm) == expected));
  CHECK((ht::detail::told_in_rounds(ht::detail::rows_of_ranks(sent), comm) == expected));
}

TEST_CASE("rows are counted by the ranks that hold them", "[core][route]") {
  using ht::detail::Cut;
  using Indices = std::vector<std::int64_t>;
  using List = std::vector<ht::detail::RowsOfRank>;
  CHECK((ht::detail::rows_of_owners(Indices{0, 2, 3, 9, 9}, Cut::even(10, 4)) == List{{0, 2}, {1, 1}, {3, 2}}));
  CHECK((ht::detail::rows_of_owners(Indices{1, 2, 4}, Cut::at({0, 0, 2, 2, 5})) == List{{1, 1}, {3, 2}}));
  CHECK(ht::detail::rows_of_owners({}, Cut::even(10, 4)).empty());
  // The owners of fewer rows than ranks are sorted, those of more are counted.
  for (const auto rows : {0, 3, 20}) {
    const auto owners = at::arange(rows).mul(7).remainder(5);
    const auto few = owners.clone(), many = owners.clone();
    CHECK((ht::detail::owners_to_slots(few, 100) == ht::detail::owners_to_slots(many, 5)));
    CHECK(equals(few, many));
    CHECK(equals(at::zeros_like(owners).index_put_({few}, owners), std::get<0>(at::sort(owners))));
  }
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
