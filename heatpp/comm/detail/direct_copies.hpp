#pragma once

#include <deque>
#include <heatpp/comm/detail/impl.hpp>
#include <heatpp/comm/detail/machine/peer_memory.hpp>
#include <heatpp/comm/detail/mpi.hpp>
#include <span>

namespace heatpp::detail {

/// Of the messages of one exchange; those under way at once need different ones.
struct ExchangeTags {
  int data = exchange_tag, whereabouts = whereabouts_tag, answer = answer_tag;
};

/// The large blocks of an exchange, which ranks of the same machine take from each other's memory. For each, the sender
/// tells where it lies and the receiver answers when it has copied it, or that it has to come in messages. Both know
/// the block's size, and what was answered before: so both know without asking whether there is such a message.
class DirectCopies {
 public:
  DirectCopies(const Communicator& comm, std::span<const ConstBlock> send, std::span<const Block> receive,
               const char* call, const ExchangeTags& tags = {});

  /// Does what can be done without waiting. Whether all have been copied or refused.
  bool advance();
  [[nodiscard]] bool in_flight() const;
  /// Whether the block for a rank, or from one, needs no message any more.
  [[nodiscard]] bool sent(int rank) const;
  [[nodiscard]] bool received(int rank) const;

 private:
  enum Answer : int { copied, not_this, never };
  struct Copy {
    int rank;
    Block to = {};  ///< of a receiver
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
