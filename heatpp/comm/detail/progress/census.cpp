#include <heatpp/comm/detail/progress/census.hpp>
#include <heatpp/comm/detail/raise.hpp>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstring>
#include <thread>

namespace heatpp::detail {
namespace {

constexpr std::chrono::seconds time_to_answer{1};
constexpr std::size_t most_named = 100, bits = 64;

/// Returns the ranks at distances 1, 2, 4, ... on both sides.
std::vector<int> neighbors_of(const Communicator& comm) {
  std::vector<int> ranks;
  const auto p = comm.size();
  for (std::int64_t distance = 1; distance < p; distance *= 2)
    for (const auto rank : {(comm.rank() + distance) % p, (comm.rank() + p - distance) % p})
      if (std::ranges::find(ranks, rank) == ranks.end()) ranks.push_back(static_cast<int>(rank));
  return ranks;
}

}  // namespace

Census::Census(const Communicator& comm, const Fingerprint& mine)
    : comm_(comm), said_(comm.rank(), mine), present_(static_cast<std::size_t>(comm.size()) / bits + 1) {
  const auto rank = static_cast<std::size_t>(comm.rank());
  present_[rank / bits] |= std::uint64_t{1} << rank % bits;
  comm_.impl().failed = true;
}

Census::~Census() {
  for (auto& letter : letters_) {
    int done = 0;
    MPI_Testall(static_cast<int>(letter.requests.size()), letter.requests.data(), &done, MPI_STATUSES_IGNORE);
    if (!done) static_cast<void>(new Letter(std::move(letter)));  // a rank that died receives nothing any more
  }
}

void Census::tell() {
  auto& [content, requests] = letters_.emplace_back();
  content.resize(sizeof said_ + present_.size() * sizeof present_[0]);
  std::memcpy(content.data(), &said_, sizeof said_);
  std::memcpy(content.data() + sizeof said_, present_.data(), content.size() - sizeof said_);
  for (const auto rank : neighbors_of(comm_)) {
    auto& request = requests.emplace_back(MPI_REQUEST_NULL);
    check_mpi(MPI_Isend(content.data(), static_cast<int>(content.size()), MPI_BYTE, rank, gave_up_tag, comm_.impl().mpi,
                        &request),
              said_.print.op);
  }
}

/// Takes what has come. Returns whether another rank is there that was not known.
bool Census::hear() {
  bool more = false;
  std::vector<std::byte> content(sizeof said_ + present_.size() * sizeof present_[0]);
  for (;;) {
    int found = 0;
    MPI_Message message = MPI_MESSAGE_NULL;
    check_mpi(MPI_Improbe(MPI_ANY_SOURCE, gave_up_tag, comm_.impl().mpi, &found, &message, MPI_STATUS_IGNORE),
              said_.print.op);
    if (!found) return more;
    check_mpi(MPI_Mrecv(content.data(), static_cast<int>(content.size()), MPI_BYTE, &message, MPI_STATUS_IGNORE),
              said_.print.op);
    Said said;
    std::memcpy(static_cast<void*>(&said), content.data(), sizeof said);
    said_.add(said);
    for (std::size_t i = 0; i < present_.size(); ++i) {
      std::uint64_t word = 0;
      std::memcpy(&word, content.data() + sizeof said + i * sizeof word, sizeof word);
      more = more || (word & ~present_[i]) != 0;
      present_[i] |= word;
    }
  }
}

bool Census::has(int rank) const {
  const auto r = static_cast<std::size_t>(rank);
  return present_[r / bits] >> r % bits & 1U;
}

bool Census::all() const {
  int count = 0;
  for (const auto word : present_) count += std::popcount(word);
  return count == comm_.size();
}

bool Census::wait() {
  const auto end = std::chrono::steady_clock::now() + time_to_answer;
  tell();
  while (!all() && std::chrono::steady_clock::now() < end) {
    if (hear()) tell();
    else std::this_thread::yield();
  }
  return all();
}

std::string Census::missing() const {
  std::string ranks;
  std::size_t count = 0;
  for (int rank = 0; rank < comm_.size(); ++rank)
    if (!has(rank) && ++count <= most_named) ranks += formatted("{}{}", ranks.empty() ? "" : ", ", rank);
  return count > most_named ? formatted("{} and {} others", ranks, count - most_named) : ranks;
}

bool somebody_gave_up(const Communicator& comm) {
  int found = 0;
  MPI_Iprobe(MPI_ANY_SOURCE, gave_up_tag, comm.impl().mpi, &found, MPI_STATUS_IGNORE);
  return found != 0;
}

}  // namespace heatpp::detail
