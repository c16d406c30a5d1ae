#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace heatpp::detail {

/// Bytes that go to a rank, or come from one, in a step.
struct Part {
  int peer;
  std::byte* at;
  std::int64_t bytes;
  std::size_t place = 0;  ///< in the order in which they match
};

/// Puts the parts of each peer together, in their order. Peers follow in the order of the ranks behind `rank`, so that
/// not all ranks send to the same one first.
void by_peer(std::vector<Part>& parts, int rank, int ranks);

/// Returns the first parts that travel in one message: short ones of one peer, together at most `limit` bytes. This
/// follows from the sizes alone, which both sides know.
[[nodiscard]] std::span<const Part> first_message(std::span<const Part> parts, std::int64_t limit);

/// The MPI datatype of parts that do not lie together, relative to the first of them.
class ApartType {
 public:
  explicit ApartType(std::span<const Part> parts, const char* call);
  ~ApartType();
  ApartType(const ApartType&) = delete;
  ApartType& operator=(const ApartType&) = delete;

  [[nodiscard]] MPI_Datatype get() const { return type_; }

 private:
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

}  // namespace heatpp::detail
