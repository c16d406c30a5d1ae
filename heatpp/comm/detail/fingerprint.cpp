#include <heatpp/comm/detail/fingerprint.hpp>
#include <heatpp/comm/detail/mpi.hpp>
#include <heatpp/comm/detail/raise.hpp>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>

namespace heatpp::detail {
namespace {

constexpr int tag = 3;

/// What travels.
struct Fingerprint {
  char op[32] = {};
  char site[160] = {};
  std::int64_t count = 0;
  Dtype dtype = Dtype::bool_;
  int detail = 0;

  [[nodiscard]] bool agrees(const Fingerprint& other) const {
    return std::strcmp(op, other.op) == 0 && count == other.count && dtype == other.dtype && detail == other.detail;
  }
  [[nodiscard]] std::string text() const {
    return fmt::format("{} of {} x {} ({}) at {}", op, count, name(dtype), detail, site);
  }
};

Fingerprint fingerprint_of(const Call& call, const std::source_location& site) {
  Fingerprint print;
  std::strncpy(print.op, call.op, sizeof print.op - 1);
  const std::string_view path = site.file_name();
  const auto tail = path.substr(path.size() > 120 ? path.size() - 120 : 0);
  fmt::format_to_n(print.site, sizeof print.site - 1, "{}:{}", tail, site.line());
  print.count = call.count;
  print.dtype = call.dtype;
  print.detail = call.detail;
  return print;
}

bool wanted() {
  static const bool debug = [] {
    const char* value = std::getenv("HEATPP_DEBUG");
    return value && std::string_view(value).find("collectives") != std::string_view::npos;
  }();
  return debug;
}

double patience_seconds() {
  const char* value = std::getenv("HEATPP_TIMEOUT");
  const double seconds = value ? std::atof(value) : 0;
  return seconds > 0 ? seconds : 30;
}

/// Fingerprints on their way from and to all other ranks. What has not come when it ends is given up.
class Exchange {
 public:
  Exchange(const Communicator& comm, const Fingerprint& mine)
      : mine_(mine), all_(static_cast<std::size_t>(comm.size())), requests_(2 * all_.size(), MPI_REQUEST_NULL) {
    const auto mpi = comm.impl().mpi;
    for (int rank = 0; rank < comm.size(); ++rank) {
      const auto r = static_cast<std::size_t>(rank);
      if (rank == comm.rank()) {
        all_[r] = mine;
        continue;
      }
      check_mpi(MPI_Irecv(&all_[r], sizeof mine, MPI_BYTE, rank, tag, mpi, &requests_[r]), mine.op);
      check_mpi(MPI_Isend(&mine_, sizeof mine, MPI_BYTE, rank, tag, mpi, &requests_[all_.size() + r]), mine.op);
    }
  }
  ~Exchange() {
    for (auto& request : requests_) {
      if (request == MPI_REQUEST_NULL) continue;
      MPI_Cancel(&request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
  }
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  bool ended() {
    int done = 0;
    check_mpi(MPI_Testall(static_cast<int>(requests_.size()), requests_.data(), &done, MPI_STATUSES_IGNORE), mine_.op);
    return done != 0;
  }

  [[nodiscard]] const std::vector<Fingerprint>& all() const { return all_; }
  [[nodiscard]] std::string missing() {
    std::string ranks;
    for (std::size_t rank = 0; rank < all_.size(); ++rank) {
      int arrived = 1;
      MPI_Test(&requests_[rank], &arrived, MPI_STATUS_IGNORE);
      if (!arrived) ranks += fmt::format("{}{}", ranks.empty() ? "" : ", ", rank);
    }
    return ranks;
  }

 private:
  Fingerprint mine_;
  std::vector<Fingerprint> all_;
  std::vector<MPI_Request> requests_;  // receptions, then sends
};

}  // namespace

void check_collective(const Communicator& comm, const Call& call, const std::source_location& site) {
  if (!wanted() || comm.size() == 1) return;
  const auto mine = fingerprint_of(call, site);
  Exchange exchange(comm, mine);
  const auto begin = std::chrono::steady_clock::now();
  const std::chrono::duration<double> patience(patience_seconds());
  while (!exchange.ended()) {
    progress();
    if (std::chrono::steady_clock::now() - begin < patience) continue;
    raise<CommError>(call.op, "got no call from rank {} of {} within {} s, in {}; expected all ranks to make it",
                     exchange.missing(), comm.size(), patience.count(), mine.text());
  }
  const auto& all = exchange.all();
  const auto other = std::ranges::find_if(all, [&](const auto& print) { return !print.agrees(all[0]); });
  if (other != all.end())
    raise<CommError>(call.op, "got {} on rank 0 and {} on rank {}; expected the same call on all ranks", all[0].text(),
                     other->text(), other - all.begin());
}

}  // namespace heatpp::detail
