#include "../saved_run.hpp"
#include "../scratch_file.hpp"

#include <heatpp_nn/training/checkpoint.hpp>

#include <zlib.h>

#include <fstream>

using namespace heatpp::nn;

namespace {

/// Unpacks a checkpoint that an older build wrote: 4 ranks in two nodes, after 5 of 24 batches of SavedRun with
/// `first = {4, 3}`, while nodes were being averaged.
std::string unpacked(const std::string& path) {
  const auto packed = std::string(HEATPP_STORED_TRAININGS) + "/daso_of_4_ranks.gz";
  const gzFile file = gzopen(packed.c_str(), "rb");
  std::string bytes(1 << 20, '\0');
  const auto count = gzread(file, bytes.data(), static_cast<unsigned>(bytes.size()));
  gzclose(file);
  std::ofstream(path, std::ios::binary).write(bytes.data(), std::max(count, 0));
  return path;
}

}  // namespace

TEST_CASE("a checkpoint of DASO whose numbers have no names is read", "[nn][checkpoint][stored]") {
  const ScratchFile scratch{scratch_path("nn_stored")};
  if (ht::world().rank() == 0) unpacked(scratch.path);
  ht::world().barrier();
  const DasoOptions options{.interval = {.first = {4, 3}}};
  const ht::Topology topology(ht::world(), {.node_of = [](int rank) { return rank / 2; }});
  SavedRun run(topology, options), fresh(topology, options);
  fresh.train(0, 24);

  CHECK(load_checkpoint(scratch.path, *run.daso).position == Position{.batch = 5});

  CHECK(run.daso->batch() == 5);
  CHECK(run.daso->interval() == Interval{4, 3, 1});
  CHECK(run.daso->phase() == Phase::cycle);
  const auto events = run.daso->events();
  for (const auto& event : events) CHECK(event.batch <= 5);
  CHECK(events.size() >= 2);
  if (events.size() >= 2) {
    CHECK(events[0] == DasoEvent{.interval = {4, 3, 1}});
    CHECK(events[1].batch == 3);
    CHECK(events[1].kind == DasoEvent::Kind::phase);
    CHECK(events[1].phase == Phase::cycle);
    CHECK(events[1].interval == Interval{4, 3, 1});
  }
  if (ht::world().size() == 4) {  // goes on where it was, the average under way included
    run.train(5, 24);
    CHECK(run.daso->counters().merges == fresh.daso->counters().merges);
    const auto found = weights(*run.net), expected = weights(*fresh.net);
    for (std::size_t i = 0; i < found.size(); ++i) CHECK(near_to(found[i], expected[i], 1e-4, 1e-5));
  }
}

TEST_CASE("checkpoints store the numbers of DASO by name", "[nn][checkpoint][stored]") {
  const ScratchFile scratch{scratch_path("nn_named")};
  const ht::Topology topology(ht::world(), {.node_of = [](int rank) { return rank / 2; }});
  SavedRun run(topology, {.interval = {.first = {4, 3}}});
  run.train(0, 5);
  save_checkpoint(scratch.path, *run.daso);

  std::ifstream file(scratch.path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  for (const auto* line :
       {"position.seed 0\n", "daso.batch 5\n", "daso.sync.interval.wait 3\n", "daso.asked.total 24\n",
        "daso.tuning.wire float32\n", "daso.scaler none\n", "batch kind phase interval.batches "})
    CHECK_THAT(bytes, Catch::Contains(line));
}
