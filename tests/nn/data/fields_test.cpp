#include "../training.hpp"
#include "../../io/files.hpp"

#include <heatpp_io/hdf5/load_hdf5.hpp>
#include <heatpp_io/hdf5/save_hdf5.hpp>
#include <heatpp_nn/data/torch_data.hpp>
#include <heatpp_nn/training/trainer.hpp>
#include <torch/data/dataloader.h>
#include <torch/data/samplers/random.h>

using namespace heatpp::nn;

namespace {

constexpr std::int64_t field_rows = 61;

/// Fields of all rows: row i of each field is a function of i.
at::Tensor velocity() { return torch::arange(2 * field_rows, torch::kDouble).view({field_rows, 2}) / field_rows; }
at::Tensor forcing() { return torch::cos(torch::arange(3 * field_rows, torch::kDouble)).view({field_rows, 3}); }
at::Tensor pressure() { return velocity().sum(1, true) * forcing().narrow(1, 0, 1); }
at::Tensor number() { return torch::arange(field_rows, torch::kLong); }

/// Returns this rank's rows; rank 0 has some more.
ht::DNDarray array(const at::Tensor& all) {
  const ht::Layout even({field_rows}, 0, ht::world().size());
  const auto more = [](int r) { return r > 0 && r < ht::world().size() ? 5 : 0; };
  const auto rank = ht::world().rank();
  const auto first = even.offset(rank) + more(rank), end = even.offset(rank + 1) + more(rank + 1);
  return ht::from_local(all.narrow(0, first, end - first).clone(), {.split = 0});
}

Dataset in_memory(std::int64_t window_bytes = std::int64_t{64} << 20) {
  return {{{"velocity", array(velocity())}, {"forcing", array(forcing())}},
          {{"pressure", array(pressure())}, {"number", array(number())}},
          {.window_bytes = window_bytes}};
}

void write(const std::string& path) {
  bool append = false;
  for (const auto& [name, all] :
       {std::pair{"velocity", velocity()}, {"forcing", forcing()}, {"pressure", pressure()}, {"number", number()}}) {
    ht::io::save_hdf5(array(all), path, name, {.append = append});
    append = true;
  }
}

Dataset stored(const std::string& path, std::int64_t window_bytes) {
  return Dataset::from_hdf5(
      path, {.inputs = {"velocity", "forcing"}, .targets = {"pressure", "number"}, .window_bytes = window_bytes});
}

/// Takes two inputs, and returns two outputs.
struct TwoFields : torch::nn::Module {
  SmallNet& net;
  explicit TwoFields(std::shared_ptr<SmallNet> of) : net(*register_module("net", of)) {}
  std::tuple<at::Tensor, at::Tensor> forward(const at::Tensor& u, const at::Tensor& f) {
    const auto y = net.forward(torch::cat({u, f}, 1));
    return {y.narrow(1, 0, 1), y.narrow(1, 1, 2)};
  }
};

/// Takes one tensor with both inputs, and returns one with both outputs.
struct OneField : torch::nn::Module {
  SmallNet& net;
  explicit OneField(std::shared_ptr<SmallNet> of) : net(*register_module("net", of)) {}
  at::Tensor forward(const at::Tensor& x) { return net.forward(x); }
};

at::Tensor loss_of(const at::Tensor& pressure, const at::Tensor& rest, const at::Tensor& wanted,
                   const at::Tensor& row) {
  return torch::mse_loss(pressure, wanted) + torch::mse_loss(rest.sum(1), row.to(torch::kDouble) / field_rows);
}

}  // namespace

TEST_CASE("A loader gives several fields by name and by position", "[nn][fields]") {
  const TempDir dir;
  const auto path = dir.path("fields.h5");
  write(path);
  for (const auto shuffle : {Shuffle::none, Shuffle::local, Shuffle::blocks, Shuffle::global})
    for (const auto& dataset : {in_memory(), in_memory(300), stored(path, 1 << 20), stored(path, 300)}) {
      DataLoader loader(dataset, {.batch_size = 4, .shuffle = shuffle, .remainder = Remainder::join});
      std::int64_t seen = 0;
      for (const auto& batch : loader.epoch(1)) {
        const auto& rows = batch["number"];
        CHECK(equals(batch["velocity"], velocity().index_select(0, rows)));
        CHECK(equals(batch["forcing"], forcing().index_select(0, rows)));
        CHECK(equals(batch.all_targets()[0], pressure().index_select(0, rows)));
        CHECK(batch.all_inputs()[1].is_same(batch["forcing"]));
        const auto& [inputs, targets] = batch;
        CHECK(inputs.is_same(batch["velocity"]));
        CHECK(targets.is_same(batch["pressure"]));
        seen += rows.numel();
      }
      CHECK(ht::world().allgather(seen).size() == static_cast<std::size_t>(ht::world().size()));
      std::array<std::int64_t, 1> all{seen};
      ht::world().allreduce(all);
      CHECK(all[0] == field_rows);
      CHECK(dataset.names().inputs == std::vector<std::string>{"velocity", "forcing"});
    }
}

TEST_CASE("Parts of datasets of several fields have all of them", "[nn][fields]") {
  const TempDir dir;
  const auto path = dir.path("fields.h5");
  write(path);
  for (const auto& dataset : {in_memory(), stored(path, 400)}) {
    const auto [training, validation] = train_validation_split(dataset, {.validation = 0.3, .seed = 2});
    CHECK(training.size() + validation.size() == field_rows);
    DataLoader loader(validation, {.batch_size = 3, .remainder = Remainder::join});
    for (const auto& batch : loader.epoch(0))
      CHECK(equals(batch["forcing"], forcing().index_select(0, batch["number"])));
  }
  const auto first = in_memory().layout().offset(ht::world().rank());
  const auto batch = in_memory().rows(torch::tensor({first}));
  CHECK(equals(batch["forcing"], forcing().narrow(0, first, 1)));
}

TEST_CASE("Fields on the same grid move together, others stay", "[nn][fields]") {
  const auto names =
      std::make_shared<const FieldNames>(FieldNames{{"image", "elevation", "parameters"}, {"mask", "label", "coarse"}});
  const auto x = torch::rand({40, 2, 6, 6}), parameters = torch::rand({40, 6}), coarse = torch::rand({40, 2, 3, 3});
  const auto fresh = [&] {
    return Batch{x.clone(),
                 x.select(1, 1).clone(),
                 {x.narrow(1, 1, 1).clone(), parameters.clone()},
                 {torch::arange(40), coarse.clone()},
                 names};
  };
  const BatchContext context{3, 1, torch::arange(40)};
  for (const auto& transform : {random_flip(), random_flip({.axis = 2, .field = "elevation"}),
                                random_shift({.most = 2}), random_shift({.most = 1, .field = "mask"})}) {
    auto batch = fresh();
    transform(batch, context);

    CHECK_FALSE(batch["image"].equal(x));
    CHECK(equals(batch["elevation"], batch["image"].narrow(1, 1, 1)));
    CHECK(equals(batch["mask"], batch["image"].select(1, 1)));
    CHECK(equals(batch["parameters"], parameters));
    CHECK(equals(batch["label"], torch::arange(40)));
    CHECK(equals(batch["coarse"], coarse));
  }
  auto batch = fresh();
  random_flip({.targets = Targets::stay})(batch, context);
  CHECK(equals(batch["elevation"], batch["image"].narrow(1, 1, 1)));
  CHECK(equals(batch["mask"], x.select(1, 1)));
  normalise(1.0, 2.0, {.field = "label"})(batch, context);
  CHECK(equals(batch["label"], (torch::arange(40).to(torch::kFloat) - 1) / 2));
  CHECK_THAT(message_of<ht::IndexError>([&] { (void)batch["height"]; }),
             Catch::Contains("height") && Catch::Contains("elevation"));
  CHECK_THROWS_AS(random_flip({.field = "height"})(batch, context), ht::IndexError);
}

TEST_CASE("A trainer trains networks of several inputs and outputs as it does those of one", "[nn][fields]") {
  const TempDir dir;
  const TrainerOptions options{.epochs = 4, .batch_size = 12, .progress = false};
  const auto topology = ht::Topology(ht::world());
  DataParallel two(std::make_shared<TwoFields>(std::make_shared<SmallNet>()), topology);
  torch::optim::Adam adam(two.parameters(), torch::optim::AdamOptions(0.01));
  auto measured = options;
  measured.metrics = {{"distance", [](const Tensors& outputs, const Tensors& targets) {
                         return (outputs[0] - targets[0]).abs().mean().item<double>();
                       }}};
  Trainer trainer(
      two, adam, [](const Tensors& y, const Tensors& wanted) { return loss_of(y[0], y[1], wanted[0], wanted[1]); },
      measured);
  const auto result = trainer.fit(in_memory(), in_memory());

  DataParallel one(std::make_shared<OneField>(std::make_shared<SmallNet>()), topology);
  torch::optim::Adam other(one.parameters(), torch::optim::AdamOptions(0.01));
  const auto both = torch::cat({pressure(), number().to(torch::kDouble).view({field_rows, 1})}, 1);
  const Dataset joined(array(torch::cat({velocity(), forcing()}, 1)), array(both));
  Trainer plain(
      one, other,
      [](const at::Tensor& y, const at::Tensor& wanted) {
        return loss_of(y.narrow(1, 0, 1), y.narrow(1, 1, 2), wanted.narrow(1, 0, 1), wanted.select(1, 1));
      },
      options);
  const auto expected = plain.fit(joined, joined);

  CHECK(result.epochs.back().loss < result.epochs.front().loss);
  CHECK(distance(weights(two.module()), weights(one.module())) < 1e-12);
  CHECK(result.epochs.back().validation->loss == Approx(expected.epochs.back().validation->loss).epsilon(1e-9));
  CHECK(result.epochs.back().validation->metrics.at("distance") > 0);

  const auto outputs = trainer.predict({array(velocity()), array(forcing())});
  const auto wanted = plain.predict(joined.inputs());
  CHECK(outputs.size() == 2);
  CHECK(outputs[1].shape() == ht::Shape{field_rows, 2});
  CHECK(near_to(outputs[0].larray(), wanted.larray().narrow(1, 0, 1), 0, 1e-12));
  CHECK(near_to(outputs[1].larray(), wanted.larray().narrow(1, 1, 2), 0, 1e-12));

  write(dir.path("fields.h5"));
  predict_hdf5(Network(two), dir.path("fields.h5"), dir.path("outputs.h5"),
               {.inputs = {"velocity", "forcing"}, .outputs = {"pressure", "rest"}, .inference = {.batch_size = 5}});
  const auto rest = ht::io::load_hdf5(dir.path("outputs.h5"), "rest", {.split = std::nullopt});
  CHECK(near_to(rest.larray(), ht::resplit(outputs[1], std::nullopt).larray(), 0, 1e-12));
}

TEST_CASE("A loss may take one output and several targets", "[nn][fields]") {
  DataParallel model(std::make_shared<SmallNet>(), ht::Topology(ht::world()));
  const auto whole = array(torch::cat({velocity(), forcing()}, 1));
  const Dataset weighed({{"x", whole}}, {{"pressure", array(pressure())}, {"weight", array(forcing().square())}});
  const auto of_both = [](const at::Tensor& y, const Tensors& wanted) {
    return ((y - wanted[0]).square() * wanted[1]).mean();
  };
  const auto found = evaluate(Network(model), weighed, of_both);
  const auto outputs = ht::resplit(predict(Network(model), whole), std::nullopt).larray();
  CHECK(found.loss == Approx(of_both(outputs, {pressure(), forcing().square()}).item<double>()).epsilon(1e-12));
  const auto of_one = [](const at::Tensor& y, const at::Tensor& wanted) { return torch::mse_loss(y, wanted); };
  CHECK_THAT(message_of<ht::ValueError>([&] { (void)evaluate(Network(model), weighed, of_one); }),
             Catch::Contains("2 targets"));
}

TEST_CASE("Fields that do not belong together are refused", "[nn][fields]") {
  const TempDir dir;
  write(dir.path("fields.h5"));
  const auto x = array(velocity());
  const auto other = ht::zeros({field_rows + 1}, {.split = 0});
  CHECK_THROWS_AS(Dataset({{"x", x}, {"z", other}}, {{"y", x}}), ht::ValueError);
  CHECK_THROWS_AS(Dataset({{"x", x}}, {}), ht::ValueError);
  CHECK_THROWS_AS(Dataset::from_hdf5(dir.path("fields.h5"), {.inputs = {"velocity", "none"}, .targets = "pressure"}),
                  ht::Error);

  DataParallel one(std::make_shared<SmallNet>(), ht::Topology(ht::world()));
  DataParallel two(std::make_shared<TwoFields>(std::make_shared<SmallNet>()), ht::Topology(ht::world()));
  CHECK_THAT(message_of<ht::ValueError>([&] { (void)predict(Network(one), {x, x}); }), Catch::Contains("2 inputs"));
  CHECK_THROWS_AS(predict(Network(two), {x, other}), ht::ValueError);
  CHECK_THROWS_AS(predict_hdf5(Network(two), dir.path("fields.h5"), dir.path("y.h5"),
                               {.inputs = {"velocity", "forcing"}, .outputs = "one"}),
                  ht::ValueError);
}

TEST_CASE("LibTorch's own loaders take samples of several fields", "[nn][fields]") {
  const TempDir dir;
  const auto path = dir.path("fields.h5");
  write(path);
  for (const auto& dataset : {in_memory(), stored(path, 300)}) {
    const TorchDataset<Batch> source(dataset);
    const auto size = static_cast<std::int64_t>(*source.size());
    auto loader = torch::data::make_data_loader(source, torch::data::samplers::RandomSampler(size),
                                                torch::data::DataLoaderOptions().batch_size(7).workers(2));
    std::multiset<std::int64_t> seen;
    for (auto& batch : *loader) {
      const auto rows = batch["number"];
      CHECK(equals(batch["velocity"], velocity().index_select(0, rows)));
      CHECK(equals(batch.all_inputs().at(1), forcing().index_select(0, rows)));
      CHECK(equals(batch.targets, pressure().index_select(0, rows)));
      for (std::int64_t i = 0; i < rows.numel(); ++i) seen.insert(rows[i].item<std::int64_t>());
    }
    const auto first = dataset.is_stored() ? 0 : dataset.layout().offset(ht::world().rank());
    std::multiset<std::int64_t> expected;
    for (std::int64_t i = 0; i < size; ++i) expected.insert(first + i);
    CHECK(seen == expected);
    CHECK_THROWS_AS(TorchDataset(dataset), ht::ValueError);
  }
}
