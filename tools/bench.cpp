#include "detail/options.hpp"
#include "detail/text.hpp"
#include "tool.hpp"

#include <heatpp/comm/detail/calibrate.hpp>
#include <heatpp/comm/topology.hpp>

#include <array>
#include <limits>

namespace tools {
namespace {

using Json = nlohmann::ordered_json;

struct Options {
  std::string algorithm;
  std::uint64_t most = std::uint64_t{16} << 20;
  int turns = 5;
  bool json = false;
};

/// Returns turns without a time limit: every call is timed as often as the user asks.
ht::detail::Turns turns_of(const Options& o) { return {o.turns, 1000, std::numeric_limits<double>::max()}; }

/// Sends a message and receives one between the first two ranks of every group.
void ping_pong(const ht::Communicator& group, std::vector<std::byte>& data) {
  const ht::Buffer buffer(data.data(), std::ssize(data), ht::uint8);
  if (group.rank() == 0 && group.size() > 1) {
    group.send(buffer, 1);
    group.receive(buffer, 1);
  } else if (group.rank() == 1) {
    group.receive(buffer, 0);
    group.send(buffer, 0);
  }
}

Json level_of(const ht::Level& level, const Options& o) {
  std::array<std::int64_t, 1> members{level.group.size()};
  ht::world().allreduce(members, ht::ReduceOp::max);
  Json row{{"level", level.name}, {"ranks", members[0]}};
  if (members[0] == 1) return row;
  constexpr std::size_t large = std::size_t{4} << 20;
  std::vector<std::byte> few(8), many(large), in(large);
  const auto seconds = [&](const std::function<void()>& call) {
    return ht::detail::seconds_of(ht::world(), call, turns_of(o));
  };
  row["latency_seconds"] = seconds([&] { ping_pong(level.group, few); }) / 2;
  row["pair_bytes_per_second"] = large / (seconds([&] { ping_pong(level.group, many); }) / 2);
  row["all_bytes_per_second"] = large / ht::detail::seconds_of_round(ht::world(), level.group, many, in, turns_of(o));
  return row;
}

Json allreduce_of(const ht::Topology& topology, std::int64_t bytes, const Options& o) {
  std::vector<float> data(static_cast<std::size_t>(bytes) / sizeof(float), 0);
  const auto seconds = ht::detail::seconds_of(
      ht::world(), [&] { topology.allreduce(data, ht::ReduceOp::sum, o.algorithm); }, turns_of(o));
  const auto p = static_cast<double>(ht::world().size());
  return {{"bytes", bytes},
          {"seconds", seconds},
          {"bytes_per_second", 2 * (p - 1) / p * static_cast<double>(bytes) / seconds}};
}

/// Formats a size in whole units.
std::string size_text(std::int64_t bytes) {
  if (bytes < 1024) return fmt::format("{} B", bytes);
  return bytes < (1 << 20) ? fmt::format("{} KiB", bytes >> 10) : fmt::format("{} MiB", bytes >> 20);
}

std::string text_of(const Json& levels, const Json& sums) {
  const auto rate = [](const Json& row, const char* name) { return bytes_text(row[name].get<double>()) + "/s"; };
  auto text = fmt::format("{:<12} {:>6} {:>12} {:>14} {:>14}\n", "level", "ranks", "latency", "a pair", "all at once");
  for (const auto& row : levels) {
    text += fmt::format("{:<12} {:>6}", row["level"].get<std::string>(), row["ranks"].get<int>());
    text += row.contains("latency_seconds")
                ? fmt::format(" {:>9.2f} us {:>14} {:>14}\n", row["latency_seconds"].get<double>() * 1e6,
                              rate(row, "pair_bytes_per_second"), rate(row, "all_bytes_per_second"))
                : std::string("   no other rank\n");
  }
  text += fmt::format("\n{:<12} {:>14} {:>14}\n", "all-reduce", "time", "a rank moves");
  for (const auto& row : sums)
    text += fmt::format("{:<12} {:>11.2f} us {:>14}\n", size_text(row["bytes"].get<std::int64_t>()),
                        row["seconds"].get<double>() * 1e6, rate(row, "bytes_per_second"));
  return text;
}

void bench(const Options& o) {
  const ht::Topology topology(ht::world());
  Json levels = Json::array(), sums = Json::array();
  for (const auto& level : topology.levels()) levels.push_back(level_of(level, o));
  const auto most = std::max<std::int64_t>(8, static_cast<std::int64_t>(o.most) / 8 * 8);
  for (std::int64_t bytes = 8; bytes < most; bytes *= 8) sums.push_back(allreduce_of(topology, bytes, o));
  sums.push_back(allreduce_of(topology, most, o));
  print(o.json ? json_text(Json{{"levels", levels}, {"all_reduce", sums}}) : text_of(levels, sums));
}

}  // namespace

Run add_bench(CLI::App& command) {
  const auto o = std::make_shared<Options>();
  command.add_option("--algorithm", o->algorithm,
                     "algorithm of the all-reduce, e.g. blueconnect; else heatpp chooses it");
  add_size_option(command, "--most", o->most, "size of the largest all-reduce, as in 64MiB");
  command.add_option("--turns", o->turns, "number of turns; the fastest one counts")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  command.add_flag("--json", o->json, "print JSON");
  command.footer(
      "Latencies are half the time of a message there and back. `all at once`: every rank sends 4 MiB to the next and "
      "receives as much.\nExample: mpirun -n 8 heatpp bench");
  return [o] { bench(*o); };
}

}  // namespace tools
