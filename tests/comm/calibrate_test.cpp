#include "../scratch_path.hpp"
#include "../catch.hpp"

#include <heatpp/comm/detail/calibrate.hpp>
#include <heatpp/comm/detail/impl.hpp>
#include <heatpp/comm/detail/kept/choice.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>

namespace ht = heatpp;

namespace {

bool same_on_all(const ht::Communicator& comm, std::string text) {
  const auto mine = text;
  std::array<std::int64_t, 1> length{std::ssize(text)};
  comm.broadcast(length, 0);
  text.resize(static_cast<std::size_t>(length[0]));
  comm.broadcast({text.data(), length[0], ht::int8}, 0);
  std::array<std::int64_t, 1> same{text == mine};
  comm.allreduce(same, ht::ReduceOp::min);
  return same[0] != 0;
}

}  // namespace

TEST_CASE("a calibration covers all sizes and is the same on all ranks", "[comm][calibrate]") {
  const auto& world = ht::world();
  if (world.size() == 1 || world.size() > 4) return;
  for (const auto& options : {ht::TopologyOptions{}, {.node_of = [](int rank) { return rank == 0 ? 0 : 1; }}}) {
    ht::Topology topology(world, options);
    const ht::Topology copy = topology;
    const auto& calibration = topology.calibrate();

    CHECK_FALSE(calibration.choices.empty());
    CHECK(calibration.choices.back().up_to_bytes == std::numeric_limits<std::int64_t>::max());
    for (const auto& cost : calibration.costs) CHECK((cost.latency > 0 && cost.bandwidth > 0));
    CHECK(same_on_all(world, ht::detail::to_text(calibration, "")));
    CHECK(&copy.calibration() == &calibration);
    for (const std::size_t count : {1, 5000, 500000}) {
      std::vector<std::int64_t> data(count, 1);
      copy.allreduce(data);
      CHECK(data == std::vector<std::int64_t>(count, world.size()));
    }
  }
}

TEST_CASE("a calibration is written once and found again", "[comm][calibrate]") {
  const auto& world = ht::world();
  if (world.size() == 1 || world.size() > 3) return;
  const std::filesystem::path file = scratch_path("heatpp_calibration");
  if (world.rank() == 0) std::filesystem::remove(file);
  world.barrier();
  ::setenv("HEATPP_CALIBRATION", file.c_str(), 1);
  const ht::Topology first(world), second(world);
  ::unsetenv("HEATPP_CALIBRATION");
  world.barrier();
  if (world.rank() == 0) std::filesystem::remove(file);

  CHECK(ht::detail::to_text(first.calibration(), "k") == ht::detail::to_text(second.calibration(), "k"));
}

TEST_CASE("a broken calibration, or one of another machine, counts as none", "[comm][calibrate]") {
  const auto any = std::numeric_limits<std::int64_t>::max();
  const ht::Calibration written{{{"node", 1e-6, 1e9}},
                                {{4096, "tree", 0}, {any, "blueconnect", 65536, 8192, {1, 0}, true, true}}};
  const auto text = ht::detail::to_text(written, "key");
  CHECK(ht::detail::to_text(ht::detail::parse_calibration("other choice 1 0 0 0 0 tree\n" + text, "key"), "key") ==
        text);
  CHECK(ht::detail::parse_calibration(text, "other").choices.empty());
  CHECK(ht::detail::parse_calibration(text + "key choice 7\n", "key").choices.empty());
  CHECK(ht::detail::parse_calibration(text + "key choice 7 0 0 0 0 magic\n", "key").choices.empty());
  CHECK(
      ht::detail::parse_calibration(text + "key choice 7 0 0 0 0 tree\n", "key").choices.empty());  // sizes that shrink
  CHECK(ht::detail::parse_calibration("key choice 4096 0 0 0 0 tree\n", "key").choices.empty());    // none is for more
  for (const auto* cost : {"1e-6 1e15", "-1e-6 1e9", "1e-6 0", "60 1e9", "1e-6 nan"})
    CHECK(ht::detail::parse_calibration(text + "key cost " + cost + " node\n", "key").choices.empty());
}

TEST_CASE("a transfer that took no longer than a short message has a bandwidth all the same", "[comm][calibrate]") {
  CHECK(ht::detail::cost_of("node", 1e-6, 1e-3, 1 << 20).bandwidth == Approx((1 << 20) / 0.999e-3));
  for (const double passed : {1e-3, 0.5e-3, 1.5e-3})
    CHECK(ht::detail::cost_of("node", 1e-3, passed, 1 << 20).bandwidth == Approx((1 << 20) / passed));
}

TEST_CASE("the choice in a file is used if it fits, and otherwise measured again", "[comm][calibrate]") {
  const auto& world = ht::world();
  if (world.size() != 2 && world.size() != 3) return;
  const auto file = std::filesystem::path(scratch_path("heatpp_fits"));
  // This resembles a machine whose ranks share memory but have another order.
  const ht::Topology topology(*world.split(0), {.node_of = [](int rank) { return rank; }});
  const auto any = std::numeric_limits<std::int64_t>::max();
  const ht::Calibration shared{{}, {{any, "shared", 0}}}, ordered{{}, {{any, "blueconnect", 0, 0, {0, 1, 2, 3}}}};
  CHECK(ht::detail::fits(shared, topology) == (topology.comm().impl().segment != nullptr));
  CHECK_FALSE(ht::detail::fits(ordered, topology));
  topology.comm().impl().segment.reset();
  CHECK_FALSE(ht::detail::fits(shared, topology));

  const auto key = ht::detail::calibration_key(topology);
  if (world.rank() == 0)
    std::ofstream(file) << "other choice 7 0 0 0 0 tree\n" << ht::detail::to_text(shared, key) << std::flush;
  world.barrier();
  auto again = topology;
  ht::detail::calibrate_by_file(again, file);
  std::vector<float> data(100, 1);
  CHECK_NOTHROW(again.allreduce(data));
  world.barrier();
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  CHECK_THAT(text.str(), Catch::StartsWith("other choice 7 0 0 0 0 tree\n"));
  CHECK(ht::detail::to_text(ht::detail::parse_calibration(text.str(), key), key) ==
        ht::detail::to_text(again.calibration(), key));
  ::setenv("UCX_TLS", "of another kind", 1);
  CHECK(ht::detail::calibration_key(topology) != key);
  ::unsetenv("UCX_TLS");
  world.barrier();
  if (world.rank() == 0) {
    std::filesystem::remove(file);
    for (const auto& entry : std::filesystem::directory_iterator(file.parent_path()))
      CHECK(entry.path().string().find(file.string() + ".") == std::string::npos);
  }
}

TEST_CASE("the order of levels puts the widest one first, and chunks pay for long messages", "[comm][calibrate]") {
  using Cost = ht::Calibration::Cost;
  const std::vector<std::size_t> extents{4, 8};
  const Cost fast{"node", 1e-6, 40e9}, slow{"cluster", 1e-6, 1e9};
  const std::int64_t large = 64 << 20, small = 256;

  CHECK(ht::detail::best_stages(extents, std::vector{fast, slow}, large).order == std::vector{0, 1});
  CHECK(ht::detail::best_stages(extents, std::vector{slow, fast}, large).order == std::vector{1, 0});
  CHECK(ht::detail::best_stages(extents, std::vector{fast, slow}, large).chunk_bytes < large / 8);
  CHECK(ht::detail::best_stages(extents, std::vector{fast, slow}, small).chunk_bytes == small);
}

TEST_CASE("a choice is measured on rank 0 once, and kept in the file of calibrations", "[comm][calibrate]") {
  const auto& world = ht::world();
  if (world.size() > 4) return;
  const auto file = scratch_path("heatpp_choice"), copied = file + "_copied";
  const auto with_file = [&](const std::string& path) {
    auto comm = *world.split(0);
    auto settings = std::make_shared<ht::detail::Settings>();
    settings->calibration = path;
    comm.impl().settings = settings;
    return comm;
  };
  int measured = 0;
  const auto choose = [&](const ht::Communicator& comm, const std::string& word) {
    return ht::detail::kept_choice(comm, "test of choices", [&] { return ++measured, word; });
  };
  if (world.rank() == 0) std::ofstream(file) << "other choice 7 0 0 tree\n";

  CHECK(choose(with_file(file), "first") == "first");
  CHECK(choose(with_file(file), "second") == "first");
  if (world.rank() == 0) std::filesystem::copy_file(file, copied, std::filesystem::copy_options::overwrite_existing);
  CHECK(choose(with_file(copied), "third") == "first");
  CHECK(measured == (world.rank() == 0 ? 1 : 0));
  CHECK(choose(with_file(""), "fourth") == "fourth");
  const auto failing = [&]() -> std::string { throw std::runtime_error("none"); };
  CHECK(ht::detail::kept_choice(world, "test of failures", failing).empty());

  world.barrier();
  if (world.rank() > 0) return;
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  CHECK_THAT(text.str(), Catch::StartsWith("other choice 7 0 0 tree\n"));
  std::filesystem::remove(file);
  std::filesystem::remove(copied);
}
