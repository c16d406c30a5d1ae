#include "../training.hpp"
#include "../../support.hpp"

#include <heatpp_nn/parallel/mixed_precision.hpp>

using namespace heatpp::nn;

namespace {

struct Way {
  std::string_view name;
  void (*set)(DasoOptions& options);
};

GradScaler& scaler() {
  static GradScaler one;
  return one;
}

/// One choice for each option that changes how nodes work together.
const std::vector<Way>& choices() {
  static const std::vector<Way> all{{"local skips", [](auto& o) { o.interval.local_skips = true; }},
                                    {"measured", [](auto& o) { o.interval.measured = true; }},
                                    {"rotating", [](auto& o) { o.carriers = Carriers::rotating; }},
                                    {"pairs", [](auto& o) { o.partners = Partners::pairs; }},
                                    {"fragments", [](auto& o) { o.fragments = 2; }},
                                    {"int4", [](auto& o) { o.wire = ht::Wire::int4; }},
                                    {"outer", [](auto& o) { o.merge.policy = MergePolicy::outer; }},
                                    {"patience", [](auto& o) { o.patience = 1.0; }},
                                    {"counted alike", [](auto& o) { o.nodes_count_alike = true; }},
                                    {"clipping", [](auto& o) { o.max_norm = 1.0; }},
                                    {"tuning", [](auto& o) { o.tuning = TuningOptions(); }},
                                    {"scaler", [](auto& o) { o.scaler = &scaler(); }},
                                    {"float4", [](auto& o) { o.wire = ht::Wire::float4; }},
                                    {"shared", [](auto&) {}},  // options of the replica
                                    {"shared weights", [](auto&) {}},
                                    {"narrow gradients", [](auto&) {}},
                                    {"reproducible", [](auto&) {}}};
  return all;
}

/// The pairs that exclude each other.
const std::set<std::pair<std::string_view, std::string_view>> excluded{{"local skips", "fragments"},
                                                                       {"local skips", "tuning"},
                                                                       {"local skips", "scaler"},
                                                                       {"local skips", "shared"},
                                                                       {"measured", "pairs"},
                                                                       {"rotating", "fragments"},
                                                                       {"rotating", "int4"},
                                                                       {"rotating", "outer"},
                                                                       {"rotating", "tuning"},
                                                                       {"rotating", "shared"},
                                                                       {"pairs", "int4"},
                                                                       {"pairs", "outer"},
                                                                       {"pairs", "tuning"},
                                                                       {"local skips", "patience"},
                                                                       {"measured", "patience"},
                                                                       {"rotating", "patience"},
                                                                       {"pairs", "patience"},
                                                                       {"fragments", "patience"},
                                                                       {"patience", "tuning"},
                                                                       {"rotating", "float4"},
                                                                       {"pairs", "float4"},
                                                                       {"local skips", "shared weights"},
                                                                       {"rotating", "shared weights"},
                                                                       {"narrow gradients", "reproducible"}};

/// Trains some batches. Returns the error of the options, if there is one.
std::string trained(const ht::Topology& topology, const Way& one, const Way& other) {
  DasoOptions options{.phases = {.warmup = 1}, .interval = {.first = {2, 1}}};
  one.set(options);
  other.set(options);
  const auto has = [&](std::string_view name) { return one.name == name || other.name == name; };
  const bool weights = has("shared weights");
  const ReplicaOptions replica{.gradients = {.wire = has("narrow gradients") ? ht::Wire::int4 : ht::Wire::float32,
                                             .reproducible = has("reproducible")},
                               .shard = has("shared") || weights ? std::optional(Scope::node) : std::nullopt,
                               .shard_weights = weights};
  std::optional<DataParallelMultiGPU<SmallNet>> made;
  std::optional<torch::optim::SGD> optimizer;
  std::optional<DASO> daso;
  const auto error = message_of<ht::ValueError>([&] {
    made.emplace(std::make_shared<SmallNet>(torch::kFloat), topology, replica);
    optimizer.emplace(made->parameters(), 0.1);
    daso.emplace(*made, *optimizer, options);
  });
  if (!daso) return error;
  auto& model = *made;
  for (std::int64_t b = 0; b < 7; ++b) {
    daso->zero_grad();
    const auto [x, y] = my_batch(b, 4);
    const auto loss = torch::mse_loss(model(x.to(torch::kFloat)), y.to(torch::kFloat));
    (options.scaler ? options.scaler->scale(loss) : loss).backward();
    daso->step(loss);
  }
  daso->drain();
  CHECK(model.equal_on_all_ranks());
  return {};
}

}  // namespace

TEST_CASE("Every two options of DASO train together or are refused with their names", "[nn][daso][options]") {
  const auto& all = choices();
  for (const auto& topology : topologies())
    for (std::size_t i = 0; i < all.size(); ++i)
      for (std::size_t j = i; j < all.size(); ++j) {
        INFO(all[i].name << " and " << all[j].name);
        const bool refused = excluded.contains({all[i].name, all[j].name});
        const auto error = trained(topology, all[i], all[j]);
        CHECK(error.empty() != refused);
        if (refused) CHECK_THAT(error, Catch::Contains("expected"));
      }
}

TEST_CASE("Other fragments, wires or partners on one rank are an error on all", "[nn][daso][options]") {
  if (ht::world().size() == 1) return;
  DataParallelMultiGPU model(std::make_shared<SmallNet>(), ht::Topology(ht::world()));
  torch::optim::SGD sgd(model.parameters(), 0.1);
  const auto refusal = [&](const DasoOptions& other) {
    const auto options = ht::world().rank() == ht::world().size() - 1 ? other : DasoOptions();
    return message_of<ht::ValueError>([&] { DASO(model, sgd, options); });
  };
  CHECK_THAT(refusal({.fragments = 3}), Catch::Contains("fragments 1 on rank 0 and 3"));
  CHECK_THAT(refusal({.wire = ht::Wire::float4}), Catch::Contains("wire float32 on rank 0 and float4"));
  CHECK_THAT(refusal({.partners = Partners::pairs}), Catch::Contains("partners all on rank 0 and pairs"));
  CHECK_THAT(refusal({.fragments = 0}), Catch::Contains("0 fragments"));
}
