#include <heatpp_nn/training/inference.hpp>

#include <heatpp/comm/detail/failure.hpp>
#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/factories.hpp>
#include <heatpp/core/redistribute.hpp>
#include <heatpp_io/hdf5/save_hdf5.hpp>
#include <heatpp_io/hdf5/stored_rows.hpp>
#include <heatpp_nn/data/data_loader.hpp>
#include <heatpp_nn/data/detail/samples.hpp>
#include <heatpp_nn/training/detail/agreement.hpp>
#include <heatpp_nn/training/detail/explained.hpp>
#include <heatpp_nn/losses/detail/weighed_loss.hpp>
#include <heatpp_nn/training/metrics.hpp>

#include <ATen/ATen.h>
#include <torch/nn/module.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace heatpp::nn {
namespace {

/// Puts a module and all its parts into eval mode while it exists, and disables gradients of its parameters. The module
/// may still compute gradients of inputs, as physics-informed networks do.
class Eval {
 public:
  explicit Eval(const Network& network) : modules_(network.replica().shared_module()->modules()) {
    for (const auto& module : modules_) trained_.push_back(module->is_training());
    modules_.front()->eval();
    for (auto& parameter : modules_.front()->parameters())
      if (parameter.requires_grad()) differentiated_.push_back(parameter.requires_grad_(false));
  }
  /// Setting a module's mode also sets that of its parts, so parts come after it.
  ~Eval() {
    for (auto& parameter : differentiated_) parameter.requires_grad_();
    for (std::size_t i = 0; i < modules_.size(); ++i) modules_[i]->train(trained_[i]);
  }
  Eval(const Eval&) = delete;
  Eval& operator=(const Eval&) = delete;

 private:
  std::vector<std::shared_ptr<torch::nn::Module>> modules_;
  std::vector<bool> trained_;
  Tensors differentiated_;
  at::AutoGradMode gradients_{true};
};

Tensors detached(Tensors tensors) {
  for (auto& tensor : tensors) tensor = tensor.detach();
  return tensors;
}

/// Calls `call` for `count` rows, with `at_once` rows per call.
void in_batches(std::int64_t count, std::int64_t at_once, const std::function<void(std::int64_t, std::int64_t)>& call) {
  for (std::int64_t first = 0; first < count; first += at_once) call(first, std::min(at_once, count - first));
}

void check(const InferenceOptions& options) {
  if (options.batch_size < 1)
    heatpp::detail::raise<ValueError>("predict", "got batches of {} rows; expected at least 1", options.batch_size);
}

void check_of_predict(const InferenceOptions& options) {
  check(options);
  if (!options.transforms.empty())
    heatpp::detail::raise<ValueError>("predict", "got {} transforms; expected rows as the network takes them",
                                      options.transforms.size());
}

Tensors narrowed(const Tensors& tensors, std::int64_t first, std::int64_t count) {
  Tensors parts;
  for (const auto& tensor : tensors) parts.push_back(tensor.narrow(0, first, count));
  return parts;
}

/// Computes the outputs of some rows, one batch after the other.
class Outputs {
 public:
  Outputs(const Network& network, std::int64_t at_once) : network_(network), at_once_(at_once) {}

  void add(const Tensors& rows) {
    in_batches(rows.front().size(0), at_once_, [&](auto first, auto count) { keep(narrowed(rows, first, count)); });
  }
  /// Returns all outputs. Without rows, it returns empty ones with the shape that a row of zeros like `rows` gives.
  [[nodiscard]] Tensors joined(Tensors rows) {
    const bool none = parts_.empty();
    for (auto& tensor : rows) {
      auto sizes = tensor.sizes().vec();
      sizes.front() = 1;
      tensor = at::zeros(sizes, tensor.options());
    }
    if (none) keep(rows);
    Tensors all;
    for (const auto& parts : parts_) all.push_back(at::cat(parts));
    return none ? narrowed(all, 0, 0) : all;
  }

 private:
  void keep(const Tensors& rows) {
    const auto outputs = detached(network_(rows));
    parts_.resize(outputs.size());
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      if (outputs[i].dim() == 0)
        heatpp::detail::raise<ValueError>("predict", "got a single number as output {}; expected rows", i);
      parts_[i].push_back(outputs[i].cpu());
    }
  }

  const Network& network_;
  std::int64_t at_once_;
  std::vector<Tensors> parts_;  // for each output
};

/// Returns the inputs split by rows. If none of them is split, each rank has all rows, also of the outputs.
std::vector<DNDarray> cut_alike(const std::vector<DNDarray>& inputs) {
  if (inputs.empty()) heatpp::detail::raise<ValueError>("predict", "got no arrays; expected the network's inputs");
  const auto whole = [](const DNDarray& x) { return !x.split() && x.ndim() > 0; };
  const auto alike = [&](const DNDarray& x) { return whole(x) && x.shape()[0] == inputs.front().shape()[0]; };
  return std::ranges::all_of(inputs, alike) ? inputs : detail::rows_alike("predict", inputs);
}

}  // namespace

const at::Tensor& detail::only(std::string_view what, const Tensors& tensors) {
  if (tensors.size() != 1)
    heatpp::detail::raise<ValueError>("Trainer", "got {} {} for a function of one; expected a function of Tensors",
                                      tensors.size(), what);
  return tensors.front();
}

void detail::check_differentiable(const char* op, const at::Tensor& loss, const char* arguments) {
  if (loss.defined() && loss.requires_grad()) return;
  heatpp::detail::raise<ValueError>(op,
                                    "got a loss without a gradient of a function that is called with {}; expected one "
                                    "that follows from weights that are trained",
                                    arguments);
}

void detail::throw_not_taken(std::size_t inputs) {
  heatpp::detail::raise<ValueError>("Network", "got {} inputs; expected as many as the module's forward takes", inputs);
}

at::Device detail::device_of(const torch::nn::Module& module) {
  auto tensors = module.parameters();
  if (tensors.empty()) tensors = module.buffers();
  return tensors.empty() ? at::Device(at::kCPU) : tensors.front().device();
}

Tensors Network::operator()(const Tensors& inputs) const {
  try {
    return forward_(on_device(inputs));
  } catch (const std::exception& error) {
    detail::explain_dtypes(error, *replica_->shared_module(), inputs);
    throw;
  }
}

at::Tensor Network::operator()(const at::Tensor& inputs) const {
  return detail::only("outputs", (*this)(Tensors{inputs}));
}

Tensors Network::on_device(Tensors tensors) const {
  const auto where = device();
  for (auto& tensor : tensors) tensor = tensor.to(where);
  return tensors;
}

at::Device Network::device() const { return detail::device_of(*replica_->shared_module()); }

Evaluation evaluate(const Network& network, const Dataset& dataset, const Loss& loss, const Metrics& metrics,
                    const InferenceOptions& options) {
  detail::check_same_ranks("evaluate", "a dataset", dataset.comm(), network.replica().topology().comm());
  detail::check_agreed(
      "evaluate", dataset.comm(),
      {{"batch_size", heatpp::detail::formatted("{}", options.batch_size)}, {"metrics", detail::names_of(metrics)}},
      [&] {
        check(options);
        if (dataset.size() == 0)
          heatpp::detail::raise<ValueError>("evaluate", "got a dataset of 0 rows; expected some");
      });
  const Eval eval(network);
  DataLoader loader(dataset,
                    {.batch_size = options.batch_size, .shuffle = Shuffle::none, .remainder = Remainder::join});
  Average mean;
  std::map<std::string, Average> means;
  const auto add = [&](Batch batch, double rows) {
    const auto number = loader.position().batch - 1;
    const BatchContext context{.rows = loader.sampler().rows(0, number, number + 1)};
    for (const auto& transform : options.transforms) transform(batch, context);
    const auto inputs = network.on_device(batch.all_inputs());
    const auto outputs = network(inputs);
    const auto wanted = network.on_device(batch.all_targets());
    const auto found = detail::weighed("evaluate", loss(outputs, wanted, inputs), rows);
    mean.add(found.value, found.weight);
    const auto shown = detached(outputs);
    for (const auto& [name, metric] : metrics) {
      const auto looked_at = metric(shown, wanted, inputs);
      means[name].add(looked_at.value, looked_at.weight.value_or(rows));
    }
  };
  std::optional<Communicator::Failure> failure;  // on this rank, which continues because the loader may communicate
  for (const auto& batch : loader.epoch(0)) {
    const auto rows = static_cast<double>(batch.inputs.size(0));
    if (rows > 0 && !failure) failure = heatpp::detail::failure_of([&] { add(batch, rows); });
  }
  dataset.comm().agree(failure);
  Evaluation found{.rows = dataset.size(), .loss = mean.value(dataset.comm())};
  if (std::isnan(found.loss) && mean.count(dataset.comm()) == 0) detail::throw_nothing_counts("evaluate");
  for (const auto& [name, metric] : metrics) found.metrics[name] = means[name].value(dataset.comm());
  return found;
}

std::vector<DNDarray> predict(const Network& network, const std::vector<DNDarray>& inputs,
                              const InferenceOptions& options) {
  check_of_predict(options);
  const auto rows = cut_alike(inputs);
  const auto& comm = rows.front().comm();
  const Eval eval(network);
  Tensors blocks;
  all_or_none(comm, [&] {
    Tensors mine;
    for (const auto& x : rows) mine.push_back(x.larray());
    Outputs outputs(network, options.batch_size);
    outputs.add(mine);
    blocks = outputs.joined(mine);
  });
  std::vector<DNDarray> outputs;
  for (const auto& block : blocks) outputs.push_back(from_local(block, {.split = rows.front().split(), .comm = comm}));
  return outputs;
}

DNDarray predict(const Network& network, const DNDarray& x, const InferenceOptions& options) {
  auto outputs = predict(network, std::vector<DNDarray>{x}, options);
  if (outputs.size() != 1)
    heatpp::detail::raise<ValueError>("predict", "got a network of {} outputs; expected one, or inputs in braces",
                                      outputs.size());
  return std::move(outputs.front());
}

namespace {

std::vector<io::StoredRows> stored_arrays(const io::Source& from, const Names& names, const Communicator& comm) {
  std::vector<io::StoredRows> arrays;
  for (const auto& name : names.list()) {
    arrays.emplace_back(from, name, io::StoredRowsOptions{.comm = comm});
    if (arrays.front().shape()[0] != arrays.back().shape()[0])
      heatpp::detail::raise<ValueError>("predict_hdf5", "got \"{}\" of {} rows and \"{}\" of {}; expected as many",
                                        names.list().front(), arrays.front().shape()[0], name,
                                        arrays.back().shape()[0]);
  }
  if (arrays.empty()) heatpp::detail::raise<ValueError>("predict_hdf5", "got no names of inputs; expected some");
  return arrays;
}

std::int64_t row_bytes_of(const std::vector<io::StoredRows>& arrays) {
  std::int64_t sum = 0;
  for (const auto& stored : arrays)
    sum += std::accumulate(stored.shape().begin() + 1, stored.shape().end(),
                           static_cast<std::int64_t>(itemsize(stored.dtype())), std::multiplies<>());
  return sum;
}

Tensors read_all(const std::vector<io::StoredRows>& arrays, std::int64_t first, std::int64_t count) {
  std::vector<std::int64_t> numbers(static_cast<std::size_t>(count));
  std::iota(numbers.begin(), numbers.end(), first);
  Tensors rows;
  for (const auto& array : arrays) rows.push_back(array.read(numbers));
  return rows;
}

}  // namespace

void predict_hdf5(const Network& network, const io::Source& from, const std::filesystem::path& to,
                  const PredictHdf5Options& options) {
  check_of_predict(options.inference);
  const auto& comm = network.replica().topology().comm();
  const auto stored = stored_arrays(from, options.inputs, comm);
  const Layout cut({stored.front().shape()[0]}, 0, comm.size());
  const auto at_once =
      std::max<std::int64_t>(1, (std::int64_t{64} << 20) / std::max<std::int64_t>(1, row_bytes_of(stored)));
  const Eval eval(network);
  Tensors blocks;
  all_or_none(comm, [&] {
    Outputs outputs(network, options.inference.batch_size);
    const auto offset = cut.offset(comm.rank());
    in_batches(cut.count(comm.rank()), at_once,
               [&](auto first, auto count) { outputs.add(read_all(stored, offset + first, count)); });
    blocks = outputs.joined(read_all(stored, 0, 0));
  });
  const auto& names = options.outputs.list();
  if (names.size() != blocks.size())
    heatpp::detail::raise<ValueError>("predict_hdf5", "got {} names for {} outputs; expected one for each",
                                      names.size(), blocks.size());
  for (std::size_t i = 0; i < blocks.size(); ++i)
    io::save_hdf5(from_local(blocks[i], {.split = 0, .comm = comm}), to, names[i], {.append = i > 0});
}

}  // namespace heatpp::nn
