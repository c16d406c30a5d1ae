#pragma once

#include <deque>
#include <heatpp/comm/detail/impl.hpp>
#include <heatpp/comm/detail/machine/peer_memory.hpp>
#include <heatpp/comm/detail/mpi.hpp>
#include <heatpp/comm/detail/progress/exchange.hpp>

namespace heatpp::detail {

/// Tags of the messages of one exchange. Exchanges under way at the same time need different tags.
struct ExchangeTags {
  int data = exchange_tag, whereabouts = whereabouts_tag, answer = answer_tag;
};

/// Copies the large blocks of an exchange between ranks of one machine, which read each other's memory. For each block
/// the sender tells where it lies, and the receiver answers that it has copied it, or that it has to come in messages.
/// Both know the size of the block and the earlier answers, so both know whether a block goes this way.
class DirectCopies {
 public:
  DirectCopies(const Communicator& comm, const Sends& send, const Receives& receive, const char* call,
               const ExchangeTags& tags = {});

  /// Does what can be done without waiting. Returns whether all blocks have been copied or refused.
  bool advance();
  [[nodiscard]] bool in_flight() const;
  /// Whether the block for a rank, or from one, needs no message.
  [[nodiscard]] bool sent(int rank) const;
  [[nodiscard]] bool received(int rank) const;

 private:
  enum Answer : int { copied, not_this, never };
  struct Copy {
    int rank;
    Block to = {};  ///< at the receiver
    Whereabouts from = {};
    int answer = copied;
    std::int64_t done = 0;
    MPI_Request told = MPI_REQUEST_NULL, answered = MPI_REQUEST_NULL;
    bool started = false, ended = false;
  };

  [[nodiscard]] bool arrived(MPI_Request& request) const;
  void send_step(Copy& copy);
  void receive_step(Copy& copy);

  Communicator comm_;
  const char* call_;
  ExchangeTags tags_;
  std::deque<Copy> sends_, receives_;
};

}  // namespace heatpp::detail
