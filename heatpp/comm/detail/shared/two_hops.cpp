#include <heatpp/comm/detail/shared/two_hops.hpp>

#include <heatpp/comm/detail/machine/scratch.hpp>
#include <heatpp/comm/detail/mpi.hpp>
#include <heatpp/comm/detail/progress/collective.hpp>
#include <heatpp/comm/detail/runs.hpp>
#include <heatpp/comm/detail/state.hpp>
#include <heatpp/comm/recovery/detail/lost_messages.hpp>

#include <algorithm>
#include <numeric>
#include <utility>

namespace heatpp::detail {
namespace {

constexpr std::int64_t batch_bytes = std::int64_t{4} << 20, several_messages = std::int64_t{64} << 10;
// Two hops copy data three times more than direct messages: into the first message, into the second, and out of it.
constexpr std::int64_t more_copies = 3;

/// The nodes of a communicator as one rank sees them. A shift is the number of nodes between two, round a ring.
class Nodes {
 public:
  using Ranks = std::span<const int>;  ///< of a node; a rank's place is its index

  explicit Nodes(const Communicator& comm) {
    for_each_child(nodes_at(comm.impl().machine->tree, comm.impl().machine->node_level), [&](const Tree& node) {
      const auto first = ranks_.insert(ranks_.end(), node.ranks(), 0);
      for (std::size_t place = 0; place < node.ranks(); ++place)
        first[static_cast<std::ptrdiff_t>(place)] = node.rank_at(place);
      ends_.push_back(ranks_.size());
    });
    const auto at = std::ranges::find(ranks_, comm.rank()) - ranks_.begin();
    mine_ = static_cast<std::size_t>(std::ranges::upper_bound(ends_, static_cast<std::size_t>(at)) - ends_.begin());
    place_ = static_cast<std::size_t>(std::ranges::find(own(), comm.rank()) - own().begin());
  }

  [[nodiscard]] std::size_t size() const { return ends_.size(); }
  [[nodiscard]] std::size_t place() const { return place_; }
  [[nodiscard]] Ranks own() const { return after(0); }
  [[nodiscard]] Ranks after(std::size_t shift) const {
    const auto node = (mine_ + shift) % size();
    const auto first = node == 0 ? 0 : ends_[node - 1];
    return Ranks(ranks_).subspan(first, ends_[node] - first);
  }
  [[nodiscard]] Ranks before(std::size_t shift) const { return after(size() - shift); }

 private:
  std::vector<int> ranks_;         // node by node
  std::vector<std::size_t> ends_;  // of the nodes in `ranks_`
  std::size_t mine_ = 0, place_ = 0;
};

std::int64_t batches_for(std::int64_t nodes, std::int64_t most) {
  return std::clamp<std::int64_t>((most + batch_bytes - 1) / batch_bytes, 1, nodes);
}

/// Blocks by rank; those of ranks that are missing are empty.
template <class B>
class ByRank {
 public:
  ByRank(std::vector<PeerBlock<B>> blocks, int ranks) : blocks_(std::move(blocks)), all_(std::ssize(blocks_) == ranks) {
    std::ranges::sort(blocks_, {}, &PeerBlock<B>::rank);
  }
  [[nodiscard]] B operator[](int rank) const {
    if (all_) return blocks_[static_cast<std::size_t>(rank)].block;
    const auto found = std::ranges::lower_bound(blocks_, rank, {}, &PeerBlock<B>::rank);
    return found == blocks_.end() || found->rank != rank ? B{} : found->block;
  }

 private:
  std::vector<PeerBlock<B>> blocks_;
  bool all_;
};

/// Messages under way, with their memory.
class Messages {
 public:
  Messages(const Communicator& comm, const char* call) : comm_(comm.impl().mpi), call_(call) {}

  std::byte* receive(std::int64_t bytes, int from, int tag) {
    auto* const to = prepare(bytes);
    check_mpi(MPI_Irecv(to, static_cast<int>(bytes), MPI_BYTE, from, tag, comm_, &requests_.emplace_back()), call_);
    return to;
  }
  /// Returns memory for a message, aligned for its sizes.
  [[nodiscard]] std::byte* prepare(std::int64_t bytes) {
    constexpr std::int64_t aligned = 8;
    bytes = (bytes + aligned - 1) / aligned * aligned;
    if (bytes > free_) {
      free_ = std::max(bytes, several_messages);
      next_ = memory_.emplace_back(free_).data();
    }
    free_ -= bytes;
    return std::exchange(next_, next_ + bytes);
  }
  void send(const std::byte* data, std::int64_t bytes, int to, int tag) {
    check_mpi(MPI_Isend(data, static_cast<int>(bytes), MPI_BYTE, to, tag, comm_, &requests_.emplace_back()), call_);
  }
  bool ended() {
    int all = 0;
    check_mpi(MPI_Testall(static_cast<int>(requests_.size()), requests_.data(), &all, MPI_STATUSES_IGNORE), call_);
    if (all != 0) requests_.clear();
    return all != 0;
  }
  void sleep() {
    check_mpi(MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE), call_);
  }
  void free_memory() {
    memory_.clear();
    free_ = 0;
  }
  [[nodiscard]] bool in_flight() const { return !requests_.empty(); }
  void end() noexcept { end_lost_messages(requests_); }

 private:
  MPI_Comm comm_;
  const char* call_;
  std::vector<MPI_Request> requests_;
  std::vector<Scratch> memory_;
  std::byte* next_ = nullptr;  // in the last part of the memory, of which so much is free
  std::int64_t free_ = 0;
};

class TwoHops final : public Operation {
 public:
  TwoHops(const Communicator& comm, Sends send, Receives receive, std::int64_t most, const char* call)
      : comm_(comm),
        nodes_(comm),
        own_(nodes_.own()),
        send_(std::move(send), comm.size()),
        receive_(std::move(receive), comm.size()),
        sizes_messages_(comm, call),
        near_(comm, call),
        far_(comm, call) {
    const auto nodes = static_cast<std::int64_t>(nodes_.size()), batches = batches_for(nodes, most);
    each_ = static_cast<std::size_t>((nodes + batches - 1) / batches);
  }

  bool advance() override {
    while (step()) {
    }
    return state_ == State::ended;
  }
  bool advance_or_sleep() override {
    if (advance()) return true;
    waited_for().sleep();
    return false;
  }
  [[nodiscard]] bool in_flight() const override {
    return sizes_messages_.in_flight() || near_.in_flight() || far_.in_flight();
  }
  void end_messages() noexcept override {
    for (auto* messages : {&sizes_messages_, &near_, &far_}) messages->end();
  }

 private:
  using Size = std::int32_t;
  enum class State { begin, sizes, first_hop, second_hop, ended };
  struct Target {
    std::size_t shift;
    int rank;
  };
  struct Arriving {
    std::size_t shift;
    const std::byte* data;
  };

  /// Goes on to the next state if nothing is waited for. Returns whether it did.
  bool step() {
    switch (state_) {
      case State::begin: return tell_sizes();
      case State::sizes: return sizes_messages_.ended() && begin_batch(0);
      case State::first_hop: return near_.ended() && pass_on();
      case State::second_hop: return far_.ended() && end_batch();
      case State::ended: break;
    }
    return false;
  }
  Messages& waited_for() {
    return state_ == State::sizes ? sizes_messages_ : state_ == State::first_hop ? near_ : far_;
  }
  bool enter(State state) {
    state_ = state;
    return true;
  }

  /// Returns the ranks to which the rank at a place of this node passes blocks on, shift by shift.
  [[nodiscard]] std::vector<Target> targets_of(std::size_t place, std::size_t first, std::size_t last) const {
    std::vector<Target> targets;
    for (auto shift = first; shift < last; ++shift) {
      const auto node = nodes_.after(shift);
      for (auto there = place; there < node.size(); there += own_.size()) targets.push_back({shift, node[there]});
    }
    return targets;
  }

  bool tell_sizes() {
    mine_ = targets_of(nodes_.place(), 0, nodes_.size());
    for (std::size_t place = 0; place < own_.size(); ++place) {
      const auto targets = targets_of(place, 0, nodes_.size());
      const auto told = bytes_of_sizes(targets), heard = bytes_of_sizes(mine_);
      auto* const numbers = sizes_messages_.prepare(told);
      std::ranges::transform(targets, reinterpret_cast<Size*>(numbers),
                             [&](const Target& to) { return static_cast<Size>(send_[to.rank].bytes()); });
      const bool here = place == nodes_.place();
      sizes_.push_back(
          reinterpret_cast<const Size*>(here ? numbers : sizes_messages_.receive(heard, own_[place], hop_sizes_tag)));
      if (!here) sizes_messages_.send(numbers, told, own_[place], hop_sizes_tag);
    }
    return enter(State::sizes);
  }
  static std::int64_t bytes_of_sizes(const std::vector<Target>& targets) {
    return std::ssize(targets) * static_cast<std::int64_t>(sizeof(Size));
  }

  /// Returns how many bytes a rank of this node has for targets first .. last of this rank.
  [[nodiscard]] std::int64_t sum_of_sizes(std::size_t place, std::size_t first, std::size_t last) const {
    return std::reduce(sizes_[place] + first, sizes_[place] + last, std::int64_t{0});
  }

  /// Begins with the nodes from a shift on.
  bool begin_batch(std::size_t first) {
    first_ = first;
    last_ = std::min(first + each_, nodes_.size());
    target_ = last_target_;
    while (last_target_ < mine_.size() && mine_[last_target_].shift < last_) ++last_target_;
    expect_second_hop();
    arrived_.assign(sizes_.size(), nullptr);
    for (std::size_t place = 0; place < sizes_.size(); ++place) {
      if (place == nodes_.place()) continue;
      const auto rank = own_[place];
      if (const auto bytes = sum_of_sizes(place, target_, last_target_); bytes > 0)
        arrived_[place] = near_.receive(bytes, rank, first_hop_tag);
      send_first_hop(targets_of(place, first_, last_), rank);
    }
    return enter(State::first_hop);
  }

  void expect_second_hop() {
    arriving_.clear();
    for (auto shift = std::max<std::size_t>(first_, 1); shift < last_; ++shift) {
      const auto node = nodes_.before(shift);
      std::int64_t bytes = 0;
      for (const int rank : node) bytes += receive_[rank].bytes();
      if (bytes > 0)
        arriving_.push_back({shift, far_.receive(bytes, node[nodes_.place() % node.size()], second_hop_tag)});
    }
  }

  void send_first_hop(const std::vector<Target>& targets, int rank) {
    std::int64_t bytes = 0;
    for (const auto& to : targets) bytes += send_[to.rank].bytes();
    if (bytes == 0) return;
    auto* const message = near_.prepare(bytes);
    auto* at = message;
    for (const auto& to : targets) at = packed(to.rank, at);
    near_.send(message, bytes, rank, first_hop_tag);
  }

  /// Writes the block for a rank, and returns where it ends.
  std::byte* packed(int rank, std::byte* at) const {
    const auto block = send_[rank];
    pack(block, 0, block.bytes(), at);
    return at + block.bytes();
  }

  /// Sends what the ranks of this node have for each target.
  bool pass_on() {
    for (auto e = target_; e < last_target_; ++e) {
      const auto& to = mine_[e];
      if (to.shift == 0) {
        take_from_own_node(e);
        continue;
      }
      std::int64_t bytes = 0;
      for (const auto* const sizes : sizes_) bytes += sizes[e];
      if (bytes == 0) continue;
      auto* const message = far_.prepare(bytes);
      auto* at = message;
      for (std::size_t place = 0; place < sizes_.size(); ++place) {
        if (place == nodes_.place()) at = packed(to.rank, at);
        else at = std::copy_n(next_from(place, e), sizes_[place][e], at);
      }
      far_.send(message, bytes, to.rank, second_hop_tag);
    }
    return enter(State::second_hop);
  }
  /// Returns the next block in the message from a place, whose size is that for target e.
  const std::byte* next_from(std::size_t place, std::size_t e) {
    return std::exchange(arrived_[place], arrived_[place] + sizes_[place][e]);
  }

  void take_from_own_node(std::size_t e) {
    for (std::size_t place = 0; place < sizes_.size(); ++place) {
      const auto rank = own_[place];
      const auto to = receive_[rank];
      if (rank == comm_.rank()) copy_block(send_[rank], to);
      else unpack(next_from(place, e), to, 0, to.bytes());
    }
  }

  bool end_batch() {
    for (auto [shift, data] : arriving_) {
      for (const int rank : nodes_.before(shift)) {
        const auto to = receive_[rank];
        unpack(data, to, 0, to.bytes());
        data += to.bytes();
      }
    }
    near_.free_memory();
    far_.free_memory();
    return last_ < nodes_.size() ? begin_batch(last_) : enter(State::ended);
  }

  Communicator comm_;
  Nodes nodes_;
  Nodes::Ranks own_;
  ByRank<ConstBlock> send_;
  ByRank<Block> receive_;
  Messages sizes_messages_, near_, far_;
  State state_ = State::begin;
  std::vector<Target> mine_;                  // of this rank, on all nodes
  std::vector<const Size*> sizes_;            // of the blocks for `mine_`, from each place of this node
  std::size_t each_, first_ = 0, last_ = 0;   // nodes of a batch; shifts of this one
  std::size_t target_ = 0, last_target_ = 0;  // in `mine_`
  std::vector<const std::byte*> arrived_;     // from each place
  std::vector<Arriving> arriving_;            // from other nodes
};

}  // namespace

bool worth_two_hops(const Communicator& comm, std::int64_t most) {
  const auto& machine = comm.impl().machine;
  if (!machine || machine->nodes == 1 || machine->largest_node == 1 || most >= max_count) return false;
  const auto nodes = static_cast<std::int64_t>(machine->nodes),
             largest = static_cast<std::int64_t>(machine->largest_node);
  const auto messages = nodes - 1 + (batches_for(nodes, most) + 1) * (largest - 1);
  const auto saved = comm.size() - 1 - messages;
  // Latency and bandwidth cost a message of small_bytes equally much, as choices of all-reduces assume.
  return saved > 0 && more_copies * most <= saved * small_bytes;
}

std::unique_ptr<Operation> two_hops(const Communicator& comm, Sends send, Receives receive, std::int64_t most,
                                    const char* call) {
  return std::make_unique<TwoHops>(comm, std::move(send), std::move(receive), most, call);
}

std::unique_ptr<Operation> alltoall_in_two_hops(const Communicator& comm, std::span<const std::int64_t> values,
                                                std::span<std::int64_t> received) {
  constexpr std::int64_t each = sizeof(std::int64_t);
  Sends send;
  Receives receive;
  for (int rank = 0; rank < comm.size(); ++rank) {
    const auto i = static_cast<std::size_t>(rank);
    send.push_back({rank, {reinterpret_cast<const std::byte*>(&values[i]), 1, each, each}});
    receive.push_back({rank, {reinterpret_cast<std::byte*>(&received[i]), 1, each, each}});
  }
  return two_hops(comm, std::move(send), std::move(receive), comm.size() * each, "alltoall");
}

}  // namespace heatpp::detail
