#include <heatpp/comm/detail/schedule/execution.hpp>

#include <algorithm>
#include <bit>
#include <limits>

namespace heatpp::detail {
namespace {

/// Whether no earlier message sends the same range, to another peer.
bool is_first_of_range(const Step& step, const Message& message) {
  const auto before = std::span(step.sends.data(), &message);
  return std::ranges::find(before, message.range, &Message::range) == before.end();
}

/// Tests the bits, because compilers do not vectorize std::isfinite.
bool is_finite(float x) {
  constexpr auto infinity = std::bit_cast<std::int32_t>(std::numeric_limits<float>::infinity());
  return (std::bit_cast<std::int32_t>(x) & std::numeric_limits<std::int32_t>::max()) < infinity;
}

}  // namespace

std::int64_t Execution::coded_bytes(const Step& step) const {
  std::int64_t bytes = 0;
  for (const auto& sum : step.sums) bytes += std::ssize(sum.peers) * wire_bytes(coding_.wire, sum.range.count);
  for (const auto& message : step.receives) bytes += wire_bytes(coding_.wire, message.range.count);
  for (const auto& message : step.sends)
    if (is_first_of_range(step, message)) bytes += wire_bytes(coding_.wire, message.range.count);
  return bytes;
}

float* Execution::values(const Active& active, Range range) const {
  return reinterpret_cast<float*>(address(active, range));
}

float* Execution::residual(const Active& active, Range range) const {
  return coding_.residual + schedule_->lanes[active.lane].offset + range.first;
}

/// Rounds what leaves. The residual gets what rounding took away; for a mean, multiplied by the divisor. This rank also
/// keeps the rounded values of the result, because the others get these.
void Execution::encode_range(const Active& active, const Step& step, Range range, std::byte* code) const {
  auto* const x = values(active, range);
  auto* const lost = coding_.residual ? residual(active, range) : nullptr;
  if (lost && step.coded == Coded::partial)
    for (std::int64_t i = 0; i < range.count; ++i) x[i] += lost[i];
  encode(coding_.wire, x, range.count, code);
  if (lost) std::copy_n(x, range.count, lost);
  if (lost || step.coded == Coded::result) decode(coding_.wire, code, range.count, x);
  if (!lost) return;
  const bool mean = op_ == ReduceOp::mean && step.coded == Coded::result;
  const auto divisor = mean ? static_cast<float>(comm_.size()) : 1.f;
  for (std::int64_t i = 0; i < range.count; ++i) {
    const auto rest = (lost[i] - x[i]) * divisor;
    lost[i] = is_finite(rest) ? rest : 0;
  }
}

void Execution::post_coded(Active& active, const Step& step) {
  active.scratch = Scratch(coded_bytes(step));
  auto* code = active.scratch.data();
  const auto receive_next = [&](Range range, int peer) {
    receive(active, code, wire_bytes(coding_.wire, range.count), peer);
    code += wire_bytes(coding_.wire, range.count);
  };
  for (const auto& sum : step.sums) {
    // This rank's share is not sent. What its result lost the last time is added here.
    if (coding_.residual) {
      auto* const x = values(active, sum.range);
      const auto* const lost = residual(active, sum.range);
      for (std::int64_t i = 0; i < sum.range.count; ++i) x[i] += lost[i];
    }
    for (const auto peer : sum.peers) receive_next(sum.range, peer);
  }
  for (const auto& message : step.receives) receive_next(message.range, message.peer);
  for (const auto& first : step.sends) {
    if (!is_first_of_range(step, first)) continue;
    const auto range = first.range;
    encode_range(active, step, range, code);
    for (const auto& message : step.sends)
      if (message.range == range) send(active, code, wire_bytes(coding_.wire, range.count), message.peer);
    code += wire_bytes(coding_.wire, range.count);
  }
}

/// Puts the decoded operands of sums where those of plain steps arrive.
void Execution::finish_coded(Active& active, const Step& step) {
  std::int64_t decoded = 0;
  for (const auto& sum : step.sums) decoded += std::ssize(sum.peers) * sum.range.count;
  Scratch operands(decoded * static_cast<std::int64_t>(sizeof(float)));
  auto* to = reinterpret_cast<float*>(operands.data());
  const auto* code = active.scratch.data();
  for (const auto& sum : step.sums)
    for (std::size_t i = 0; i < sum.peers.size(); ++i, to += sum.range.count) {
      decode(coding_.wire, code, sum.range.count, to);
      code += wire_bytes(coding_.wire, sum.range.count);
    }
  for (const auto& message : step.receives) {
    decode(coding_.wire, code, message.range.count, values(active, message.range));
    code += wire_bytes(coding_.wire, message.range.count);
  }
  active.scratch = std::move(operands);
}

}  // namespace heatpp::detail
