#include <heatpp/comm/device/nccl/peers.hpp>

#include <heatpp/comm/detail/mpi.hpp>

#include <algorithm>
#include <utility>

namespace heatpp::device {
namespace {

enum Tag { offer_tag = 8, vote_tag, decision_tag };

struct Note {
  std::array<char, 384> failure = {};  // empty: no failure
  Peers::Offer offer = {};
};

void write(Note& note, const std::string& failure) {
  std::copy_n(failure.data(), std::min(failure.size(), note.failure.size() - 1), note.failure.begin());
}

bool ended(MPI_Request& request) {
  int done = 0;
  detail::check_mpi(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "device");
  return done != 0;
}

}  // namespace

/// The message buffers. Rank 0 has a separate one for each rank.
struct Peers::Messages {
  MPI_Comm mpi;
  int rank, ranks;
  Note offer = {}, vote = {}, decision = {};
  std::vector<Note> votes = {};
  MPI_Request offer_request = MPI_REQUEST_NULL, decision_request = MPI_REQUEST_NULL;
  std::vector<MPI_Request> vote_requests = {}, sends = {};
  bool has_voted = false, decided = false;
  std::string failure = {};

  void send(const Note& note, int to, int tag) {
    detail::check_mpi(MPI_Isend(&note, sizeof note, MPI_BYTE, to, tag, mpi, &sends.emplace_back()), "device");
  }
  void send_to_others(const Note& note, int tag) {
    for (int other = 0; other < ranks; ++other)
      if (other != rank) send(note, other, tag);
  }
  void receive(Note& note, int from, int tag, MPI_Request& request) const {
    detail::check_mpi(MPI_Irecv(&note, sizeof note, MPI_BYTE, from, tag, mpi, &request), "device");
  }
  bool sent() {
    return std::ranges::all_of(sends, &ended) && std::ranges::all_of(vote_requests, &ended) && ended(offer_request) &&
           ended(decision_request);
  }
};

Peers::Peers(const Communicator& comm) : messages_(new Messages{comm.impl().mpi, comm.rank(), comm.size()}) {
  auto& all = *messages_;
  if (comm.rank() != 0) {
    all.receive(all.offer, 0, offer_tag, all.offer_request);
    all.receive(all.decision, 0, decision_tag, all.decision_request);
    return;
  }
  const auto others = static_cast<std::size_t>(comm.size() - 1);
  all.votes.resize(others);
  all.vote_requests.assign(others, MPI_REQUEST_NULL);
  for (int rank = 1; rank < comm.size(); ++rank) {
    const auto i = static_cast<std::size_t>(rank - 1);
    all.receive(all.votes[i], rank, vote_tag, all.vote_requests[i]);
  }
}

Peers::~Peers() {
  int running = 0;
  MPI_Finalized(&running);
  // MPI may still write to buffers for messages of a rank that failed.
  if (running || !messages_->sent()) messages_.release();  // NOLINT: it stays
}

void Peers::offer(const Offer& offer, const std::string& failure) {
  messages_->offer.offer = offer;
  write(messages_->offer, failure);
  messages_->send_to_others(messages_->offer, offer_tag);
}

const Peers::Offer* Peers::offered() {
  auto& all = *messages_;
  if (!ended(all.offer_request)) return nullptr;
  if (all.offer.failure[0] != '\0' && !std::exchange(all.decided, true)) all.failure = all.offer.failure.data();
  return &all.offer.offer;
}

void Peers::vote(const std::string& failure) {
  messages_->has_voted = true;
  if (messages_->rank == 0) {
    if (!failure.empty()) decide(failure);
    return;
  }
  write(messages_->vote, failure);
  messages_->send(messages_->vote, 0, vote_tag);
}
bool Peers::has_voted() const { return messages_->has_voted; }

void Peers::decide(const std::string& failure) {
  auto& all = *messages_;
  if (std::exchange(all.decided, true)) return;
  all.failure = failure;
  write(all.decision, failure);
  all.send_to_others(all.decision, decision_tag);
}

bool Peers::decided() {
  auto& all = *messages_;
  if (all.decided) return true;
  if (all.rank != 0) {
    if (!ended(all.decision_request)) return false;
    all.failure = all.decision.failure.data();
    return all.decided = true;
  }
  bool complete = all.has_voted;
  for (std::size_t i = 0; i < all.votes.size(); ++i) {
    if (!ended(all.vote_requests[i])) complete = false;
    else if (all.votes[i].failure[0] != '\0') decide(all.votes[i].failure.data());
  }
  if (complete) decide({});
  return all.decided;
}
const std::string& Peers::failure() const { return messages_->failure; }

}  // namespace heatpp::device
