#pragma once

#include <heatpp/comm/detail/machine/channels.hpp>
#include <heatpp/comm/detail/machine/scratch.hpp>
#include <heatpp/comm/detail/message_parts.hpp>
#include <heatpp/comm/detail/mpi.hpp>
#include <heatpp/comm/detail/progress/operation.hpp>
#include <heatpp/comm/detail/schedule/schedule.hpp>
#include <heatpp/comm/detail/schedule/trace.hpp>
#include <heatpp/comm/detail/schedule/wire.hpp>

namespace heatpp::detail {

/// The wire format of the coded steps of a schedule.
struct Coding {
  Wire wire = Wire::float32;
  float* residual = nullptr;  ///< as long as the data; may be null
};

/// Returns the tags of a collective that consists of messages. Every rank takes them in the same order.
[[nodiscard]] int next_tag(Communicator::Impl& comm);

/// Carries out a schedule on a buffer. It posts the messages of a step; when all have arrived, it combines them and
/// goes on with the next step. Lanes follow each other at a distance of one step.
class Execution final : public Operation {
 public:
  /// `channels` are the node's, for steps through memory; `first_tag` was taken by next_tag().
  Execution(const Communicator& comm, std::shared_ptr<const Schedule> schedule, Buffer data, ReduceOp op,
            Coding coding = {}, const char* call = "allreduce", std::shared_ptr<Channels> channels = nullptr,
            std::optional<int> first_tag = std::nullopt);
  Execution(const Communicator& comm, Schedule schedule, Buffer data, ReduceOp op, Coding coding = {})
      : Execution(comm, std::make_shared<const Schedule>(std::move(schedule)), data, op, coding) {}
  ~Execution() override;

  bool advance() override;
  bool advance_or_sleep() override;
  bool restart() override;
  [[nodiscard]] bool in_flight() const override;
  void end_messages() noexcept override;

 private:
  /// A lane under way.
  struct Active {
    std::size_t lane;
    std::size_t step = 0;
    bool posted = false;
    std::vector<MPI_Request> requests = {};
    Scratch scratch = {};
    std::int64_t messages_sent = 0, bytes_sent = 0;  // in this step
    Clock::time_point begin = {};
  };

  [[nodiscard]] bool ended(const Active& active) const { return active.lane >= schedule_->lanes.size(); }
  [[nodiscard]] const Steps& steps_of(const Active& active) const { return *schedule_->lanes[active.lane].steps; }
  [[nodiscard]] std::byte* address(const Active& active, Range range) const;
  /// A lane begins a step when the lane before it has ended that step. Otherwise lanes that share a link evenly would
  /// all reach the next level at once, and leave this one idle.
  [[nodiscard]] bool may_post(const Active& active) const;
  /// Goes to the next lane at the end of a lane. Returns whether there is none.
  bool skip_to_next_lane(Active& active);
  void begin(int first_tag);
  bool post(Active& active);
  [[nodiscard]] std::int64_t longest_message(const Active& active) const;
  [[nodiscard]] int tag(const Active& active) const { return first_tag_ + static_cast<int>(active.lane % window_); }
  void send(Active& active, const std::byte* from, std::int64_t bytes, int to);
  void receive(Active& active, std::byte* to, std::int64_t bytes, int from);
  void send(Active& active, std::span<const Part> message);
  void receive(Active& active, std::span<const Part> message);
  void post_plain(Active& active, const Step& step);
  /// Calls post(message) for each message made of `parts_`, and empties them.
  template <class Post>
  void for_each_message(const Active& active, Post post);
  void count(const Active& active) const;
  /// Combines what has arrived.
  void finish(Active& active);
  /// `operands_` are the data of the others, in the order of the peers.
  void combine_operands(const Active& active, const Sum& sum);

  // These handle steps through memory; in in_memory.cpp.
  [[nodiscard]] std::uint64_t number(const Active& active) const { return first_lane_ + active.lane; }
  bool post_in_memory(Active& active, const Step& step);
  std::size_t lay_out(Active& active, const Step& step, std::size_t first, std::byte* slot, std::size_t at);
  [[nodiscard]] bool arrived_in_memory(const Active& active, const Step& step) const;
  void finish_in_memory(const Active& active, const Step& step);
  const std::byte* next_from(const Active& active, int peer, std::int64_t bytes);

  // These handle steps whose values travel coded; in coded.cpp.
  void post_coded(Active& active, const Step& step);
  void finish_coded(Active& active, const Step& step);
  [[nodiscard]] float* values(const Active& active, Range range) const;
  [[nodiscard]] float* residual(const Active& active, Range range) const;
  [[nodiscard]] std::int64_t coded_bytes(const Step& step) const;
  void encode_range(const Active& active, const Step& step, Range range, std::byte* code) const;
  /// Whether the step under way has ended.
  bool arrived(Active& active) const;
  [[nodiscard]] bool may_sleep() const;
  void sleep();

  Communicator comm_;
  std::shared_ptr<const Schedule> schedule_;
  Buffer data_;
  ReduceOp op_;
  Coding coding_;
  const char* call_;
  std::shared_ptr<Channels> channels_;
  std::size_t window_;
  bool begun_ = false;
  int first_tag_ = 0;
  std::uint64_t first_lane_ = 0;  // its number in the channels
  std::vector<Active> active_;    // entry i runs the lanes i, i + window, ... one after another
  // These stay allocated after they have grown.
  std::vector<Part> parts_;
  std::vector<const void*> operands_;
  std::vector<std::pair<int, std::int64_t>> read_;  // what came from each peer in the step in memory that ends
  std::vector<MPI_Request> pending_;
  std::vector<MPI_Request*> origin_;
};

}  // namespace heatpp::detail
