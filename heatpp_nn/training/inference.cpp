#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/factories.hpp>
#include <heatpp/core/redistribute.hpp>
#include <heatpp_io/hdf5/save_hdf5.hpp>
#include <heatpp_io/hdf5/stored_rows.hpp>
#include <heatpp_nn/data/data_loader.hpp>
#include <heatpp_nn/training/inference.hpp>
#include <heatpp_nn/training/metrics.hpp>

#include <ATen/ATen.h>
#include <torch/nn/module.h>

#include <algorithm>
#include <numeric>

namespace heatpp::nn {
namespace {

/// Puts a module into eval mode as long as it lives.
class Eval {
 public:
  explicit Eval(const Network& network) : module_(*network.replica().shared_module()), was_(module_.is_training()) {
    module_.eval();
  }
  ~Eval() { module_.train(was_); }
  Eval(const Eval&) = delete;
  Eval& operator=(const Eval&) = delete;

 private:
  torch::nn::Module& module_;
  bool was_;
  at::NoGradGuard no_grad_;
};

/// Hands over `count` rows, so many at once.
void in_batches(std::int64_t count, std::int64_t at_once, const std::function<void(std::int64_t, std::int64_t)>& call) {
  for (std::int64_t first = 0; first < count; first += at_once) call(first, std::min(at_once, count - first));
}

void check(const InferenceOptions& options) {
  if (options.batch_size < 1)
    heatpp::detail::raise<ValueError>("predict", "got batches of {} rows; expected at least 1", options.batch_size);
}

/// The outputs of some rows, one batch after the other.
class Outputs {
 public:
  Outputs(const Network& network, std::int64_t at_once) : network_(network), at_once_(at_once) {}

  void add(const at::Tensor& rows) {
    in_batches(rows.size(0), at_once_,
               [&](auto first, auto count) { parts_.push_back(network_(rows.narrow(0, first, count)).cpu()); });
  }
  /// All of them; where there are none, of the shape that a row of zeros like those of `rows` would have.
  [[nodiscard]] at::Tensor joined(const at::Tensor& rows) const {
    if (!parts_.empty()) return at::cat(parts_);
    auto sizes = rows.sizes().vec();
    sizes.front() = 1;
    return network_(at::zeros(sizes, rows.options())).cpu().narrow(0, 0, 0);
  }

 private:
  const Network& network_;
  std::int64_t at_once_;
  std::vector<at::Tensor> parts_;
};

}  // namespace

at::Device Network::device() const {
  const auto& parameters = replica_->parameters();
  return parameters.empty() ? at::Device(at::kCPU) : parameters.front().device();
}

Evaluation evaluate(const Network& network, const Dataset& dataset, const Loss& loss, const Metrics& metrics,
                    const InferenceOptions& options) {
  check(options);
  const Eval eval(network);
  DataLoader loader(dataset,
                    {.batch_size = options.batch_size, .shuffle = Shuffle::none, .remainder = Remainder::join});
  Average mean;
  std::map<std::string, Average> means;
  for (const auto& [inputs, targets] : loader.epoch(0)) {
    const auto rows = static_cast<double>(inputs.size(0));
    if (rows == 0) continue;
    const auto outputs = network(inputs);
    const auto wanted = targets.to(network.device());
    mean.add(loss(outputs, wanted).item<double>(), rows);
    for (const auto& [name, metric] : metrics) means[name].add(metric(outputs, wanted), rows);
  }
  Evaluation found{.rows = dataset.size(), .loss = mean.value(dataset.comm())};
  for (const auto& [name, metric] : metrics) found.metrics[name] = means[name].value(dataset.comm());
  return found;
}

DNDarray predict(const Network& network, const DNDarray& x, const InferenceOptions& options) {
  check(options);
  if (x.ndim() < 1) heatpp::detail::raise<ValueError>("predict", "got an array without axes; expected rows");
  const auto rows = x.split().value_or(0) == 0 ? x : resplit(x, 0);
  const Eval eval(network);
  Outputs outputs(network, options.batch_size);
  at::Tensor block;
  all_or_none(rows.comm(), [&] {
    outputs.add(rows.larray());
    block = outputs.joined(rows.larray());
  });
  return from_local(block, {.split = rows.split(), .comm = rows.comm()});
}

void predict_hdf5(const Network& network, const io::Source& from, const std::filesystem::path& to,
                  const PredictHdf5Options& options) {
  check(options.inference);
  const auto& comm = network.replica().topology().comm();
  const io::StoredRows stored(from, options.inputs, {.comm = comm});
  const Layout cut(stored.shape(), 0, comm.size());
  const auto row_bytes = std::accumulate(stored.shape().begin() + 1, stored.shape().end(), itemsize(stored.dtype()),
                                         [](std::int64_t bytes, std::int64_t extent) { return bytes * extent; });
  const auto at_once = std::max<std::int64_t>(1, (std::int64_t{64} << 20) / std::max<std::int64_t>(1, row_bytes));
  const Eval eval(network);
  Outputs outputs(network, options.inference.batch_size);
  at::Tensor block;
  all_or_none(comm, [&] {
    in_batches(cut.count(comm.rank()), at_once, [&](auto first, auto count) {
      std::vector<std::int64_t> numbers(static_cast<std::size_t>(count));
      std::iota(numbers.begin(), numbers.end(), cut.offset(comm.rank()) + first);
      outputs.add(stored.read(numbers));
    });
    block = outputs.joined(stored.read({}));
  });
  io::save_hdf5(from_local(block, {.split = 0, .comm = comm}), to, options.outputs);
}

}  // namespace heatpp::nn
