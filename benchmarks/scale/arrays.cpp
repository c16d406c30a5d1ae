#include "arrays.hpp"

#include <heatpp/comm/detail/numbers/place.hpp>
#include <heatpp/comm/detail/progress/exchange.hpp>
#include <heatpp/comm/error.hpp>

#include <smpi/smpi.h>

#include <functional>
#include <map>
#include <sstream>

namespace ht = heatpp;

namespace {

/// Memory whose contents do not matter: all of it is the same few pages.
class Pages {
 public:
  explicit Pages(std::int64_t bytes) : data_(SMPI_SHARED_MALLOC(static_cast<std::size_t>(bytes))) {}
  ~Pages() { SMPI_SHARED_FREE(data_); }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;
  [[nodiscard]] std::byte* data() const { return static_cast<std::byte*>(data_); }

 private:
  void* data_;
};

/// Every rank sends an equal part of the array to every rank, as a resplit does.
void exchange(const ht::Communicator& comm, std::int64_t bytes) {
  const std::int64_t ranks = comm.size(), part = bytes / ranks / ranks;
  const Pages from(part * ranks), to(part * ranks);
  ht::detail::Sends send;
  ht::detail::Receives receive;
  for (int rank = 0; rank < comm.size(); ++rank) {
    send.push_back({rank, {from.data() + rank * part, 1, part, part}});
    receive.push_back({rank, {to.data() + rank * part, 1, part, part}});
  }
  ht::detail::exchange_among_all(comm, std::move(send), std::move(receive), part * ranks);
}

using Send = std::function<void(const ht::Topology&, std::int64_t)>;
const std::map<std::string, Send>& kinds() {
  static const std::map<std::string, Send> known{
      {"allreduce",
       [](const ht::Topology& topology, std::int64_t bytes) {
         const Pages data(bytes);
         topology.comm().allreduce({data.data(), bytes / 4, ht::float32});
       }},
      {"topology",
       [](const ht::Topology& topology, std::int64_t bytes) {
         const Pages data(bytes);
         topology.allreduce({data.data(), bytes / 4, ht::float32}, {.algorithm = "blueconnect"});
       }},
      {"exscan",
       [](const ht::Topology& topology, std::int64_t bytes) {
         const Pages data(bytes);
         topology.comm().exscan({data.data(), bytes / 4, ht::float32});
       }},
      {"place", [](const ht::Topology& topology,
                   std::int64_t) { static_cast<void>(ht::detail::place_in_whole(topology.comm(), 1)); }},
      {"allgather",
       [](const ht::Topology& topology, std::int64_t) { static_cast<void>(topology.comm().allgather(1)); }},
      {"alltoall",
       [](const ht::Topology& topology, std::int64_t) {
         const std::vector<std::int64_t> counts(static_cast<std::size_t>(topology.comm().size()));
         static_cast<void>(topology.comm().alltoall(counts));
       }},
  };
  return known;
}

/// Returns the numbers of a text such as 16x12.
std::vector<int> extents_of(std::istream& text) {
  std::vector<int> extents;
  for (std::string extent; std::getline(text, extent, 'x');) extents.push_back(std::stoi(extent));
  return extents;
}

/// Returns the ranks of a grid that differ from this one only along `axis`.
ht::Communicator ranks_along(const ht::Communicator& comm, const std::vector<int>& grid, std::size_t axis) {
  int stride = 1;
  for (auto i = axis + 1; i < grid.size(); ++i) stride *= grid[i];
  const auto place = comm.rank() / stride % grid[axis];
  return *comm.split(comm.rank() - place * stride, place);
}

}  // namespace

ArrayStep step_of(const ht::Topology& topology, const std::string& text) {
  std::istringstream parts(text);
  std::string kind, bytes, grid, axis;
  std::getline(parts, kind, ':');
  std::getline(parts, bytes, ':');
  std::getline(parts, grid, ':');
  std::getline(parts, axis, ':');
  if (!kinds().contains(kind) && kind != "exchange")
    throw ht::ValueError("[step_of] got the step " + text + "; expected a known kind");
  const auto size = bytes.empty() ? 8 : std::stoll(bytes);
  if (grid.empty()) return {kind, size, topology.comm()};
  std::istringstream extents(grid);
  const auto comm = ranks_along(topology.comm(), extents_of(extents), std::stoul(axis));
  return {kind, size / topology.comm().size() * comm.size(), comm};
}

void replay(const ht::Topology& topology, const ArrayStep& step) {
  if (step.kind == "exchange") exchange(step.comm, step.bytes);
  else kinds().at(step.kind)(topology, step.bytes);
}
