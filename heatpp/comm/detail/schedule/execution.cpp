#include <heatpp/comm/detail/schedule/execution.hpp>

#include <heatpp/comm/detail/schedule/combine.hpp>
#include <heatpp/comm/recovery/detail/lost_messages.hpp>

#include <algorithm>

namespace heatpp::detail {
namespace {

// Lower tags belong to other messages. A collective has one tag for each lane that may be under way.
constexpr int first_free_tag = first_user_tag + user_tags;
constexpr int tags_each = 16;

int highest_tag() {
  static const int highest = [] {
    int* value = nullptr;
    int found = 0;
    check_mpi(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, static_cast<void*>(&value), &found), "tags");
    return found ? std::min(*value, 1 << 28) : 32767;
  }();
  return highest;
}

std::int64_t scratch_bytes(const Step& step, std::int64_t item) {
  std::int64_t bytes = 0;
  for (const auto& sum : step.sums) bytes += static_cast<std::int64_t>(sum.peers.size()) * sum.range.count * item;
  return bytes;
}

}  // namespace

int next_tag(Communicator::Impl& comm) {
  const auto sets = static_cast<std::uint32_t>((highest_tag() - first_free_tag) / tags_each);
  return first_free_tag + static_cast<int>(comm.started.fetch_add(1) % sets) * tags_each;
}

Execution::Execution(const Communicator& comm, std::shared_ptr<const Schedule> schedule, Buffer data, ReduceOp op,
                     Coding coding, const char* call, std::shared_ptr<Channels> channels, std::optional<int> first_tag)
    : comm_(comm),
      schedule_(std::move(schedule)),
      data_(data),
      op_(op),
      coding_(coding),
      call_(call),
      channels_(schedule_->in_memory ? std::move(channels) : nullptr),
      window_(std::clamp<std::size_t>(static_cast<std::size_t>(schedule_->window), 1, tags_each)) {
  if (channels_) window_ = std::min(window_, Channels::count);
  const auto under_way = std::min(schedule_->lanes.size(), window_);
  active_.reserve(under_way);
  for (std::size_t lane = 0; lane < under_way; ++lane) active_.push_back({lane});
  begin(first_tag ? *first_tag : next_tag(comm_.impl()));
}

void Execution::begin(int first_tag) {
  first_tag_ = first_tag;
  if (channels_) first_lane_ = channels_->take(schedule_->lanes.size());
}

bool Execution::restart() {
  for (std::size_t i = 0; i < active_.size(); ++i) {
    active_[i].lane = i;
    active_[i].step = 0;
  }
  begin(next_tag(comm_.impl()));
  return true;
}

bool Execution::in_flight() const {
  return std::ranges::any_of(active_, [](const Active& active) {
    return std::ranges::any_of(active.requests, [](auto request) { return request != MPI_REQUEST_NULL; });
  });
}

void Execution::end_messages() noexcept {
  for (auto& active : active_) end_lost_messages(active.requests);
}

/// Messages that were given up may still be written, so their memory is not freed.
Execution::~Execution() {
  const bool all_ended = std::ranges::all_of(active_, [this](const Active& active) { return ended(active); });
  if (begun_ && !all_ended) comm_.impl().failed = true;
  if (!in_flight()) return;
  for (auto& active : active_) active.scratch.leak();
}

std::byte* Execution::address(const Active& active, Range range) const {
  const auto first = schedule_->lanes[active.lane].offset + range.first;
  return static_cast<std::byte*>(data_.data) + first * static_cast<std::int64_t>(itemsize(data_.dtype));
}

std::int64_t Execution::longest_message(const Active& active) const {
  const bool limited = schedule_->message_bytes > 0 && steps_of(active)[active.step].level > 0;
  return limited ? std::min(schedule_->message_bytes, max_count) : max_count;
}

void Execution::receive(Active& active, std::byte* to, std::int64_t bytes, int from) {
  for_each_piece(bytes, longest_message(active), [&](std::int64_t first, int n) {
    auto& request = active.requests.emplace_back(MPI_REQUEST_NULL);
    check_mpi(MPI_Irecv(to + first, n, MPI_BYTE, from, tag(active), comm_.impl().mpi, &request), call_);
  });
}

void Execution::send(Active& active, const std::byte* from, std::int64_t bytes, int to) {
  active.bytes_sent += bytes;
  for_each_piece(bytes, longest_message(active), [&](std::int64_t first, int n) {
    ++active.messages_sent;
    auto& request = active.requests.emplace_back(MPI_REQUEST_NULL);
    check_mpi(MPI_Isend(from + first, n, MPI_BYTE, to, tag(active), comm_.impl().mpi, &request), call_);
  });
}

void Execution::receive(Active& active, std::span<const Part> message) {
  const auto& first = message.front();
  if (message.size() == 1) return receive(active, first.at, first.bytes, first.peer);
  const ApartType type(message, call_);
  auto& request = active.requests.emplace_back(MPI_REQUEST_NULL);
  check_mpi(MPI_Irecv(first.at, 1, type.get(), first.peer, tag(active), comm_.impl().mpi, &request), call_);
}

void Execution::send(Active& active, std::span<const Part> message) {
  const auto& first = message.front();
  if (message.size() == 1) return send(active, first.at, first.bytes, first.peer);
  ++active.messages_sent;
  for (const auto& part : message) active.bytes_sent += part.bytes;
  const ApartType type(message, call_);
  auto& request = active.requests.emplace_back(MPI_REQUEST_NULL);
  check_mpi(MPI_Isend(first.at, 1, type.get(), first.peer, tag(active), comm_.impl().mpi, &request), call_);
}

template <class Post>
void Execution::for_each_message(const Active& active, Post post) {
  by_peer(parts_, comm_.rank(), comm_.size());
  for (std::span<const Part> rest(parts_); !rest.empty();) {
    const auto message = first_message(rest, longest_message(active));
    post(message);
    rest = rest.subspan(message.size());
  }
  parts_.clear();
}

bool Execution::may_post(const Active& active) const {
  if (active.posted || ended(active) || active.step == steps_of(active).size()) return false;
  if (channels_ && active.step == 0 && !channels_->open(number(active))) return false;
  if (active.lane == 0 || window_ == 1) return true;
  const auto& before = active_[(active.lane - 1) % window_];
  return before.lane >= active.lane || before.step > active.step;
}

/// Posts the messages of the step. Returns whether there was room.
bool Execution::post(Active& active) {
  const auto& step = steps_of(active)[active.step];
  active.begin = Clock::now();
  active.messages_sent = active.bytes_sent = 0;
  if (step.in_memory) return active.posted = post_in_memory(active, step);
  active.posted = true;
  if (step.coded == Coded::no) post_plain(active, step);
  else post_coded(active, step);
  return true;
}

void Execution::post_plain(Active& active, const Step& step) {
  const auto item = static_cast<std::int64_t>(itemsize(data_.dtype));
  active.scratch = Scratch(scratch_bytes(step, item));
  auto* to = active.scratch.data();
  for (const auto& sum : step.sums)
    for (const auto peer : sum.peers) {
      parts_.push_back({peer, to, sum.range.count * item});
      to += sum.range.count * item;
    }
  const auto add = [&](const Message& message) {
    parts_.push_back({message.peer, address(active, message.range), message.range.count * item});
  };
  std::ranges::for_each(step.receives, add);
  for_each_message(active, [&](auto message) { receive(active, message); });
  std::ranges::for_each(step.sends, add);
  for_each_message(active, [&](auto message) { send(active, message); });
}

void Execution::combine_operands(const Active& active, const Sum& sum) {
  auto* const mine = address(active, sum.range);
  operands_.insert(operands_.begin() + static_cast<std::ptrdiff_t>(sum.place), mine);
  combine(op_, data_.dtype, operands_, mine, sum.range.count);
  operands_.clear();
  if (sum.complete && op_ == ReduceOp::mean) divide(data_.dtype, mine, sum.range.count, comm_.size());
}

void Execution::count(const Active& active) const {
  const auto& step = steps_of(active)[active.step];
  if (step.level < 0) return;
  auto& levels = *comm_.impl().traffic;
  auto& traffic = levels[std::min(static_cast<std::size_t>(step.level), levels.size() - 1)];
  traffic.messages += active.messages_sent;
  traffic.bytes += active.bytes_sent;
  traffic.nanoseconds += std::chrono::nanoseconds(Clock::now() - active.begin).count();
  if (tracing()) trace(step.level, active.lane % window_, active.bytes_sent, active.begin);
}

void Execution::finish(Active& active) {
  count(active);
  const auto& step = steps_of(active)[active.step];
  if (step.in_memory) finish_in_memory(active, step);
  if (step.coded != Coded::no) finish_coded(active, step);
  const auto* from = active.scratch.data();
  for (const auto& sum : step.in_memory ? std::span<const Sum>() : step.sums) {
    for (std::size_t i = 0; i < sum.peers.size(); ++i) {
      operands_.push_back(from);
      from += sum.range.count * static_cast<std::int64_t>(itemsize(data_.dtype));
    }
    combine_operands(active, sum);
  }
  active.scratch = {};
  active.requests.clear();
  active.posted = false;
  ++active.step;
}

bool Execution::skip_to_next_lane(Active& active) {
  while (!ended(active) && active.step == steps_of(active).size()) {
    if (channels_) {
      if (!channels_->open(number(active))) return false;
      channels_->close(number(active));
    }
    active.lane += window_;
    active.step = 0;
  }
  return ended(active);
}

bool Execution::arrived(Active& active) const {
  if (const auto& step = steps_of(active)[active.step]; step.in_memory) return arrived_in_memory(active, step);
  int all = 0;
  check_mpi(MPI_Testall(static_cast<int>(active.requests.size()), active.requests.data(), &all, MPI_STATUSES_IGNORE),
            call_);
  return all != 0;
}

bool Execution::advance() {
  begun_ = true;
  bool all_ended = false;
  // If a step ends, another lane may begin one.
  for (bool moved = true; moved;) {
    moved = false;
    all_ended = true;
    for (auto& active : active_) {
      if (active.posted && arrived(active)) {
        finish(active);
        moved = true;
      }
      if (!active.posted && !skip_to_next_lane(active) && may_post(active)) moved = post(active) || moved;
      all_ended = all_ended && ended(active);
    }
  }
  return all_ended;
}

bool Execution::advance_or_sleep() {
  if (advance()) return true;
  if (may_sleep()) sleep();
  return false;
}

/// Whether only messages are waited for.
bool Execution::may_sleep() const {
  return !channels_ || std::ranges::all_of(active_, [this](const Active& active) {
    if (ended(active)) return true;
    return active.posted ? !steps_of(active)[active.step].in_memory : !may_post(active);
  });
}

void Execution::sleep() {
  const auto under_way = [](const Active& active) { return active.posted; };
  if (std::ranges::count_if(active_, under_way) == 1) {
    auto& only = *std::ranges::find_if(active_, under_way);
    check_mpi(MPI_Waitall(static_cast<int>(only.requests.size()), only.requests.data(), MPI_STATUSES_IGNORE), call_);
    return;
  }
  pending_.clear();
  origin_.clear();
  for (auto& active : active_)
    for (auto& request : active.requests)
      if (request != MPI_REQUEST_NULL) {
        pending_.push_back(request);
        origin_.push_back(&request);
      }
  if (pending_.empty()) return;
  int index = 0;
  check_mpi(MPI_Waitany(static_cast<int>(pending_.size()), pending_.data(), &index, MPI_STATUS_IGNORE), call_);
  *origin_[static_cast<std::size_t>(index)] = MPI_REQUEST_NULL;
}

}  // namespace heatpp::detail
