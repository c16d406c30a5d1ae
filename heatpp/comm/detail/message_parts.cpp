#include <heatpp/comm/detail/message_parts.hpp>
#include <heatpp/comm/detail/mpi.hpp>

#include <algorithm>
#include <utility>

namespace heatpp::detail {
namespace {

// MPI copies this many bytes in less time than a message of their own takes.
constexpr std::int64_t short_bytes = 65536;

MPI_Aint address_of(const Part& part, const char* call) {
  MPI_Aint address = 0;
  check_mpi(MPI_Get_address(part.at, &address), call);
  return address;
}

}  // namespace

void by_peer(std::vector<Part>& parts, int rank, int ranks) {
  for (std::size_t i = 0; i < parts.size(); ++i) parts[i].place = i;
  std::ranges::sort(parts, {},
                    [=](const Part& part) { return std::pair((part.peer - rank + ranks) % ranks, part.place); });
}

std::span<const Part> first_message(std::span<const Part> parts, std::int64_t limit) {
  std::size_t count = 1;
  auto bytes = parts[0].bytes;
  const auto joins = [&](const Part& part) {
    return part.peer == parts[0].peer && part.bytes <= short_bytes && bytes + part.bytes <= limit;
  };
  if (bytes <= short_bytes)
    while (count < parts.size() && joins(parts[count])) bytes += parts[count++].bytes;
  return parts.first(count);
}

ApartType::ApartType(std::span<const Part> parts, const char* call) {
  // Each thread keeps these, so that nothing is allocated after they have grown.
  thread_local std::vector<int> lengths;
  thread_local std::vector<MPI_Aint> places;
  lengths.clear();
  places.clear();
  const auto origin = address_of(parts[0], call);
  for (const auto& part : parts) {
    lengths.push_back(static_cast<int>(part.bytes));
    places.push_back(MPI_Aint_diff(address_of(part, call), origin));
  }
  check_mpi(MPI_Type_create_hindexed(static_cast<int>(parts.size()), lengths.data(), places.data(), MPI_BYTE, &type_),
            call);
  check_mpi(MPI_Type_commit(&type_), call);
}

ApartType::~ApartType() { MPI_Type_free(&type_); }

}  // namespace heatpp::detail
