#include <heatpp/comm/detail/checks.hpp>
#include <heatpp/comm/detail/mpi.hpp>
#include <heatpp/comm/detail/raise.hpp>

#include <algorithm>
#include <cstring>
#include <numeric>

namespace heatpp::detail {

void check_counts(const char* op, const Communicator& comm, std::span<const std::int64_t> counts, std::int64_t total) {
  const auto sum = std::reduce(counts.begin(), counts.end(), std::int64_t{0});
  const bool negative = std::ranges::any_of(counts, [](auto count) { return count < 0; });
  if (std::ssize(counts) != comm.size() || sum != total || negative)
    raise<ValueError>(op, "got {} counts with the sum {}{}; expected {} with the sum {}", counts.size(), sum,
                      negative ? ", a negative one among them" : "", comm.size(), total);
}

void check_root(const char* op, const Communicator& comm, int root) {
  if (root < 0 || root >= comm.size())
    raise<ValueError>(op, "got the root {} among {} ranks; expected one of these", root, comm.size());
}

std::vector<Range> parts_of(std::span<const std::int64_t> counts) {
  std::vector<Range> parts;
  std::int64_t first = 0;
  for (const auto count : counts) {
    parts.push_back({first, count});
    first += count;
  }
  return parts;
}

const char* op_name(ReduceOp op) {
  constexpr std::array names{"sum", "prod", "min", "max", "mean"};
  return names[static_cast<std::size_t>(op)];
}

std::string place_part(const Communicator& comm, const ConstBuffer& mine, const Buffer& all,
                       std::span<const std::int64_t> counts) {
  const auto me = counts.begin() + comm.rank();
  if (mine.count != *me || mine.dtype != all.dtype)
    return formatted("got {} x {} on rank {}; expected {} x {}", mine.count, name(mine.dtype), comm.rank(), *me,
                     name(all.dtype));
  auto* const place = address(all, std::reduce(counts.begin(), me));
  if (mine.data != place && mine.count > 0) std::memmove(place, mine.data, static_cast<std::size_t>(mine.bytes()));
  return {};
}

}  // namespace heatpp::detail
