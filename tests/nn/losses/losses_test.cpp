#include "../training.hpp"
#include "../../support.hpp"

#include <heatpp/core/factories.hpp>
#include <heatpp_nn/parallel/online.hpp>
#include <heatpp_nn/parallel/sync_batch_norm.hpp>
#include <heatpp_nn/training/trainer.hpp>

using namespace heatpp::nn;

namespace {

constexpr std::int64_t sentences = 12, length = 8, classes = 4;
constexpr double rate = 0.5;
constexpr int steps = 10;

/// Scores of four classes for each place of a sequence, (sentences, classes, places).
struct Tagger : torch::nn::Module {
  torch::nn::Linear scores = register_module("scores", torch::nn::Linear(5, classes));
  Tagger() {
    const at::NoGradGuard no_grad;
    for (auto& parameter : parameters()) parameter.copy_(torch::linspace(-1, 1, parameter.numel()).view_as(parameter));
    to(torch::kDouble);
  }
  at::Tensor forward(const at::Tensor& x) { return scores(x).transpose(1, 2); }
};

at::Tensor sequences() {
  return torch::sin(torch::arange(sentences * length * 5, torch::kDouble) * 0.7).view({sentences, length, 5});
}

/// Returns classes of sequences of 1 to 8 places, padded with `padding`. The first `empty` sequences have none.
at::Tensor tags(std::int64_t padding = -100, std::int64_t empty = 0) {
  const auto tags = (torch::arange(sentences * length) * 7 % classes).view({sentences, length});
  for (std::int64_t row = 0; row < sentences; ++row)
    tags[row].narrow(0, row * 5 % length + 1, length - row * 5 % length - 1).fill_(padding);
  tags.narrow(0, 0, empty).fill_(padding);
  return tags;
}

/// Returns this rank's rows.
at::Tensor mine(const at::Tensor& whole) {
  const auto ranks = ht::world().size(), rank = ht::world().rank();
  const auto first = sentences * rank / ranks;
  return whole.narrow(0, first, sentences * (rank + 1) / ranks - first).contiguous();
}
Dataset dataset(const at::Tensor& x, const at::Tensor& y) {
  return {ht::from_local(mine(x), {.split = 0}), ht::from_local(mine(y), {.split = 0})};
}

using Function = std::function<at::Tensor(const at::Tensor&, const at::Tensor&)>;

/// A training in one process: its weights, and the loss before each step.
struct Reference {
  Reference(std::shared_ptr<torch::nn::Module> module, const std::function<at::Tensor()>& loss) {
    torch::optim::SGD sgd(module->parameters(), rate);
    for (int step = 0; step < steps; ++step) {
      sgd.zero_grad();
      const auto value = loss();
      losses.push_back(value.item<double>());
      value.backward();
      sgd.step();
    }
    end = weights(*module);
  }
  std::vector<double> losses;
  std::vector<at::Tensor> end;
};

Reference in_one_process(const at::Tensor& y, const Function& loss) {
  const auto net = std::make_shared<Tagger>();
  return {net, [&] { return loss(net->forward(sequences()), y); }};
}

TrainerOptions whole_batches() {
  return {.epochs = steps, .batch_size = sentences * ht::world().size(), .shuffle = Shuffle::none, .progress = false};
}

/// Compares a training with the reference; losses of a Trainer are means over rows.
void check_equal(const Reference& expected, const at::Tensor& y, const Loss& loss, const ReplicaOptions& replica = {},
                 double per_row = 1) {
  DataParallel model(std::make_shared<Tagger>(), ht::Topology(ht::world()), replica);
  torch::optim::SGD sgd(model.parameters(), rate);
  Trainer trainer(model, sgd, loss, whole_batches());
  const auto result = trainer.fit(dataset(sequences(), y));
  CHECK(distance(weights(model.module()), expected.end) < 1e-12);
  REQUIRE(result.epochs.size() == expected.losses.size());
  for (std::size_t i = 0; i < expected.losses.size(); ++i)
    CHECK(result.epochs[i].loss == Approx(expected.losses[i] / per_row).epsilon(1e-12));
}

template <class Norm>
struct Normed : Tagger {
  Norm norm = register_module("norm", Norm(classes));
  Normed() { to(torch::kDouble); }
  at::Tensor forward(const at::Tensor& x) { return norm(Tagger::forward(x)); }
};

at::Tensor class_weights() { return torch::tensor({1.0, 20.0, 0.0, 3.0}, torch::kDouble); }

/// Returns the mean over the places that a mask keeps, and their number.
std::pair<at::Tensor, at::Tensor> masked(const at::Tensor& scores, const at::Tensor& y) {
  const auto mask = y.ge(0).to(torch::kDouble);
  const auto squares = scores.square().sum(1) * mask;
  return {squares.sum() / mask.sum(), mask.sum()};
}

}  // namespace

TEST_CASE("Losses by name train as in one process, whichever targets count", "[nn][loss]") {
  struct Case {
    LossOptions options;
    at::Tensor y;
  };
  const std::vector<Case> cases{{{}, tags()},
                                {{}, tags(-100, 6)},  // ranks without a target that counts
                                {{.ignore_index = 2}, tags(2)},
                                {{.class_weights = class_weights()}, tags(-100, 3)},
                                {{.class_weights = class_weights(), .label_smoothing = 0.2}, tags()},
                                {{.label_smoothing = 0.2}, tags(-100, 6)},
                                {{.reduction = Reduction::sum, .ignore_index = 1}, tags(1)}};
  for (const auto& [options, y] : cases) {
    const bool sum = options.reduction == Reduction::sum;
    const auto cross_entropy = [&, options = options](const at::Tensor& scores, const at::Tensor& wanted) {
      const auto of_classes =
          options.class_weights.defined() ? std::optional(options.class_weights) : std::optional<at::Tensor>();
      return at::cross_entropy_loss(scores, wanted, of_classes, sum ? at::Reduction::Sum : at::Reduction::Mean,
                                    options.ignore_index.value_or(-100), options.label_smoothing);
    };
    const auto expected = in_one_process(y, cross_entropy);
    check_equal(expected, y, named_loss("cross_entropy", options), {}, sum ? sentences : 1);
    check_equal(expected, y, named_loss("cross_entropy", options), {.shard = Scope::all}, sum ? sentences : 1);
    if (options.label_smoothing > 0) continue;
    const auto nll = named_loss("nll", options);
    check_equal(
        expected, y, [&](const at::Tensor& s, const Tensors& t) { return nll({at::log_softmax(s, 1)}, t); }, {},
        sum ? sentences : 1);
  }
}

TEST_CASE("A loss that gives its weight, or a sum, trains as in one process", "[nn][loss]") {
  for (const std::int64_t empty : {0, 6}) {
    const auto y = tags(-100, empty);
    const auto expected = in_one_process(y, [](const auto& s, const auto& t) { return masked(s, t).first; });
    check_equal(expected, y, masked);
    check_equal(expected, y, [](const at::Tensor& s, const at::Tensor& t) {
      const auto [value, weight] = masked(s, t);
      return std::tuple(value, weight * 1e-30);  // another unit of the weight
    });
  }
  const auto sum = [](const at::Tensor& s, const at::Tensor& t) { return 0.01 * (s.square().sum(1) * t.ge(0)).sum(); };
  const auto as_sum = [&](const at::Tensor& s, const at::Tensor& t) { return LossValue::sum(sum(s, t)); };
  check_equal(in_one_process(tags(), sum), tags(), as_sum, {}, sentences);
}

TEST_CASE("Gradients of several backwards with weights are those of all their rows", "[nn][loss]") {
  const auto x = mine(sequences()), y = mine(tags(-100, 3));
  for (const bool as_sum : {false, true}) {
    DataParallel model(std::make_shared<Tagger>(), ht::Topology(ht::world()));
    const auto backward = [&](std::int64_t place) {
      const auto [value, weight] = masked(model(x.narrow(1, place, 2)), y.narrow(1, place, 2));
      const auto count = weight.item<double>();
      if (as_sum) model.backward_sum(count > 0 ? value * weight : at::Tensor(), count);
      else model.backward(count > 0 ? value : at::Tensor(), count);
    };
    {
      const auto guard = model.no_sync();
      for (const std::int64_t place : {0, 2, 4}) backward(place);
    }
    backward(6);
    model.average_gradients();

    const auto net = std::make_shared<Tagger>();
    const auto [value, weight] = masked(net->forward(sequences()), tags(-100, 3));
    (as_sum ? value * weight : value).backward();
    for (std::size_t i = 0; i < net->parameters().size(); ++i)
      CHECK(near_to(model.module().parameters()[i].grad(), net->parameters()[i].grad(), 1e-12, 1e-13));
  }
}

TEST_CASE("With DASO the nodes' gradients weigh as the loss says", "[nn][loss][daso]") {
  const auto y = tags(-100, 6);
  for (const auto& map : node_maps()) {
    const ht::Topology topology(ht::world(), {.node_of = map});
    DataParallelMultiGPU model(std::make_shared<Tagger>(), topology);
    torch::optim::SGD sgd(model.parameters(), rate);
    auto options = whole_batches();
    options.daso = DasoOptions{.interval = {.first = {4, 1}}};
    Trainer trainer(model, sgd, masked, options);
    trainer.fit(dataset(sequences(), y));  // weights are averaged after every batch, which is an epoch

    // With all nodes in one process, each takes a step with its own sentences, weighted by its ranks.
    const auto net = std::make_shared<Tagger>();
    const auto ranks = ht::world().size();
    for (int step = 0; step < steps; ++step) {
      std::map<int, std::vector<at::Tensor>> of_nodes;
      for (int rank = 0; rank < ranks; ++rank)
        of_nodes[map(rank)].push_back(torch::arange(sentences * rank / ranks, sentences * (rank + 1) / ranks));
      std::vector<at::Tensor> sums(2);
      for (const auto& [node, parts] : of_nodes) {
        const auto its = torch::cat(parts);
        net->zero_grad();
        const auto [value, weight] = masked(net->forward(sequences().index_select(0, its)), y.index_select(0, its));
        const auto nodes = nodes_of(map);
        if (weight.item<double>() > 0) (value * static_cast<double>(nodes == 1 ? ranks : std::ssize(parts))).backward();
        for (std::size_t i = 0; i < 2; ++i) {
          const auto gradient = net->parameters()[i].grad();
          if (gradient.defined()) sums[i] = sums[i].defined() ? sums[i] + gradient : gradient.clone();
        }
      }
      const at::NoGradGuard no_grad;
      for (std::size_t i = 0; i < 2; ++i) net->parameters()[i].sub_(sums[i], rate / ranks);
    }
    CHECK(distance(weights(model.module()), weights(*net)) < 1e-12);
  }
}

TEST_CASE("a rank whose rows do not count takes part in norms over all ranks", "[nn][loss]") {
  const auto y = tags(-100, 6);
  const auto net = std::make_shared<Normed<torch::nn::BatchNorm1d>>();
  const auto loss = [](const at::Tensor& s, const at::Tensor& t) { return at::cross_entropy_loss(s, t); };
  const Reference expected(net, [&] { return loss(net->forward(sequences()), y); });

  const ht::Topology topology(ht::world());
  const auto ours = std::make_shared<Normed<SyncBatchNorm>>();
  DataParallel model(ours, topology);
  synchronise_norms(model.module(), topology);
  torch::optim::SGD sgd(model.parameters(), rate);
  Trainer trainer(model, sgd, "cross_entropy", whole_batches());
  trainer.fit(dataset(sequences(), y));
  CHECK(distance(weights(model.module()), expected.end) < 1e-10);
}

TEST_CASE("Evaluation weighs as the loss and the metrics say", "[nn][loss]") {
  const auto y = tags(-100, 6);
  DataParallel model(std::make_shared<Tagger>(), ht::Topology(ht::world()));
  const Network network(model);
  const LossOptions options{.class_weights = class_weights()};
  const auto data = dataset(sequences(), y);
  const Metrics metrics{{"right", named_metric("accuracy", options)}, {"entropy", named_metric("cross_entropy")}};
  const auto found = evaluate(network, data, named_loss("cross_entropy", options), metrics, {.batch_size = 2});

  const auto scores = model(sequences()).detach();
  const auto counts = y.ge(0);
  CHECK(found.loss == Approx(at::cross_entropy_loss(scores, y, class_weights()).item<double>()).epsilon(1e-12));
  CHECK(found.metrics.at("entropy") == Approx(at::cross_entropy_loss(scores, y).item<double>()).epsilon(1e-12));
  const auto right = scores.argmax(1).eq(y).masked_select(counts).to(torch::kDouble).mean().item<double>();
  CHECK(found.metrics.at("right") == Approx(right).epsilon(1e-12));

  const auto nothing = dataset(sequences(), tags(-100, sentences));
  CHECK_THROWS_WITH(evaluate(network, nothing, named_loss("cross_entropy")),
                    Catch::Contains("[evaluate] got a loss whose weight is 0 for every row"));
  torch::optim::SGD sgd(model.parameters(), rate);
  Trainer trainer(model, sgd, "cross_entropy", whole_batches());
  CHECK_THROWS_WITH(trainer.fit(nothing), Catch::Contains("[fit] got a loss whose weight is 0"));
  CHECK(all_finite(model.module().scores->weight));
}

TEST_CASE("An online training weighs as its loss says", "[nn][loss][online]") {
  DataParallel model(std::make_shared<Tagger>(), ht::Topology(ht::world()));
  torch::optim::SGD sgd(model.parameters(), rate);
  OnlineTrainer online(model, sgd,
                       [&](const at::Tensor& x, const at::Tensor&) {
                         const auto scores = model(x);
                         return ht::world().rank() == 0 ? LossValue(scores.mean(), torch::ones({}))
                                                        : LossValue(scores.sum() / 0.0, torch::zeros({}));
                       },
                       {.batch_size = 3});
  online.train_step(mine(sequences()), mine(tags()));
  CHECK(all_finite(model.module().scores->weight));
  CHECK(model.equal_on_all_ranks());
}

TEST_CASE("Losses of other values, weights and options are refused", "[nn][loss]") {
  DataParallel model(std::make_shared<Tagger>(), ht::Topology(ht::world()));
  const auto data = dataset(sequences(), tags());
  const auto refused = [&](const Loss& loss, TrainerOptions options, const char* text) {
    torch::optim::SGD sgd(model.parameters(), rate);
    options.progress = false;
    CHECK_THROWS_WITH(Trainer(model, sgd, loss, options).evaluate(data), Catch::Contains(text));
  };
  const auto mean = [](const at::Tensor& s, const at::Tensor&) { return s.mean(); };
  const auto by = [](double weight) {
    return [weight](const at::Tensor& s, const at::Tensor&) { return std::pair(s.mean(), torch::full({}, weight)); };
  };
  refused(by(-1), {}, "got a loss of the weight -1; expected a finite one of at least 0");
  refused(by(std::nan("")), {}, "got a loss of the weight nan");
  refused([](const at::Tensor& s, const at::Tensor&) { return s.mean(0); }, {}, "got a loss of shape (4, 8)");
  refused([](const at::Tensor& s, const at::Tensor&) { return std::pair(s.mean(), s); }, {}, "got a weight of shape");
  refused(mean, {.loss_returns_weight = true}, "got a loss without a weight");
  refused(mean, {.loss_options = LossOptions{}}, "got loss_options for a function");

  CHECK_THROWS_WITH(named_loss("squares"),
                    Catch::Contains("[loss] got \"squares\"; expected one of cross_entropy, nll"));
  CHECK_THROWS_WITH(named_loss("accuracy"), Catch::Contains("got \"accuracy\""));
  CHECK_THROWS_WITH(named_loss("mse", {.ignore_index = 1}), Catch::Contains("[mse] got ignore_index"));
  CHECK_THROWS_WITH(named_loss("nll", {.label_smoothing = 0.1}), Catch::Contains("expected it for cross_entropy only"));
  CHECK_THROWS_WITH(named_loss("mse", {.delta = 1.0}), Catch::Contains("expected it for huber and smooth_l1"));
  CHECK_THROWS_WITH(named_loss("huber", {.delta = 0.0}), Catch::Contains("got delta 0"));
  CHECK_THROWS_WITH(named_loss("cross_entropy", {.class_weights = -torch::ones({3})}),
                    Catch::Contains("got class_weights of shape (3,)"));
  if (ht::world().size() == 1) return;  // nothing differs on one rank
  torch::optim::SGD sgd(model.parameters(), rate);
  CHECK_THROWS_WITH(Trainer(model, sgd, "cross_entropy",
                            {.loss_options = LossOptions{.ignore_index = ht::world().rank() == 0 ? 1 : 2}}),
                    Catch::Contains("[Trainer] got ignore_index 1 on rank 0 and 2 on rank 1"));
}

TEST_CASE("Losses by name are LibTorch's, as means and as sums", "[nn][loss]") {
  const auto y = torch::linspace(-2, 2, 12, torch::kDouble).view({4, 3}), wanted = y.flip(0).sigmoid();
  const auto check = [&](const char* name, LossOptions options, const auto& function) {
    const auto mean = named_loss(name, options)({y}, {wanted});
    CHECK(mean.value.item<double>() == Approx(function(at::Reduction::Mean).template item<double>()));
    CHECK_FALSE(mean.is_sum);
    options.reduction = Reduction::sum;
    const auto sum = named_loss(name, options)({y}, {wanted});
    CHECK(sum.value.item<double>() == Approx(function(at::Reduction::Sum).template item<double>()));
    CHECK(sum.is_sum);
    CHECK(named_metric(name, options)({y}, {wanted}).value == Approx(sum.value.item<double>() / 4));
  };
  check("mse", {}, [&](auto r) { return at::mse_loss(y, wanted, r); });
  check("l1", {}, [&](auto r) { return at::l1_loss(y, wanted, r); });
  check("huber", {.delta = 0.3}, [&](auto r) { return at::huber_loss(y, wanted, r, 0.3); });
  check("smooth_l1", {.delta = 0.3}, [&](auto r) { return at::smooth_l1_loss(y, wanted, r, 0.3); });
  check("cross_entropy", {}, [&](auto r) { return at::cross_entropy_loss(y, wanted, {}, r); });
  const auto of_ones = torch::tensor({1.0, 2.0, 5.0}, torch::kDouble);
  check("binary_cross_entropy", {.pos_weight = of_ones},
        [&](auto r) { return at::binary_cross_entropy_with_logits(y, wanted, {}, of_ones, r); });
}
