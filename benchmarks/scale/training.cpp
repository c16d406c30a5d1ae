#include "training.hpp"
#include "network.hpp"

#include <heatpp/comm/request.hpp>

#include <mpi.h>
#include <simgrid/s4u/Actor.hpp>
#include <smpi/smpi.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>

namespace ht = heatpp;

namespace {

constexpr double forward = 1.0 / 3;  // part of the time: backward computes the gradients of inputs and of weights

/// Gradients that travel together, last layers first.
struct Bucket {
  std::size_t layers = 0;  ///< layers from the network's end after which all gradients are there
  std::int64_t count = 0;
  float* data = nullptr;  ///< the same pages on all ranks: the contents do not matter
  ht::Request request = {};

  [[nodiscard]] ht::Buffer buffer() const { return {data, count, ht::float32}; }
};

std::vector<Bucket> buckets_of(const std::vector<Layer>& layers, std::int64_t bytes) {
  std::vector<Bucket> buckets;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const auto& parameters = layers[layers.size() - 1 - i].parameters;
    for (auto count = parameters.rbegin(); count != parameters.rend(); ++count) {
      if (buckets.empty() || buckets.back().count * 4 >= bytes) buckets.emplace_back();
      buckets.back().count += *count;
      buckets.back().layers = i + 1;
    }
  }
  for (auto& bucket : buckets)
    bucket.data = static_cast<float*>(SMPI_SHARED_MALLOC(static_cast<std::size_t>(bucket.count) * sizeof(float)));
  return buckets;
}

int itself(int rank) { return rank; }

/// Returns each of `ranks` ranks' share of `count` numbers.
std::vector<std::int64_t> cut(std::int64_t count, int ranks) {
  std::vector<std::int64_t> shares;
  for (int rank = 0; rank < ranks; ++rank) shares.push_back(count / ranks + (rank < count % ranks));
  return shares;
}

class Rank {
 public:
  Rank(const ht::Topology& topology, const TrainingOptions& options)
      : topology_(topology),
        // These are heatpp's rings: in a node they are MPI's or NCCL's, and SimGrid's Iallreduce sends all to all.
        node_(topology.node(), {.node_of = itself}),
        across_(topology.across(), {.node_of = itself}),
        options_(options),
        layers_(resnet50()),
        buckets_(buckets_of(layers_, options.bucket)) {
    double products = 0;
    for (const auto& layer : layers_) products += layer.products;
    seconds_ = options.images / options.rate / products;
    for (const auto& bucket : buckets_) share_ += cut(bucket.count, node_.comm().size()).front();
    values_ = static_cast<float*>(SMPI_SHARED_MALLOC(static_cast<std::size_t>(share_) * sizeof(float)));
    for (const auto& layer : layers_) told_.resize(told_.size() + layer.parameters.size());
  }
  ~Rank() {
    SMPI_SHARED_FREE(values_);
    for (const auto& bucket : buckets_) SMPI_SHARED_FREE(bucket.data);
  }
  Rank(const Rank&) = delete;
  Rank& operator=(const Rank&) = delete;

  void batch(std::int64_t number) {
    for (const auto& layer : layers_) compute(forward * layer.products);
    std::size_t set_out = 0;
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      compute((1 - forward) * layers_[layers_.size() - 1 - i].products);
      for (; set_out < buckets_.size() && buckets_[set_out].layers <= i + 1; ++set_out) send(buckets_[set_out]);
    }
    auto told = gradients_over().iallreduce(told_);
    wait();
    wait(told);
    if (options_.method == "zero") gather(topology_);
    if (options_.method == "daso") synchronise(number);
  }

 private:
  static void pass(double seconds) { simgrid::s4u::this_actor::sleep_for(seconds); }

  void compute(double products) const {
    for (auto left = products * seconds_; left > 0; left -= options_.slice)
      if (ht::progress()) return pass(left);
      else pass(std::min(left, options_.slice));
  }

  // Request::wait would loop without end, because no time passes in it.
  void wait(ht::Request& request) const {
    while (!request.test()) pass(options_.slice);
  }
  void wait() {
    for (auto& bucket : buckets_) wait(bucket.request);
  }

  [[nodiscard]] const ht::Topology& gradients_over() const { return options_.method == "daso" ? node_ : topology_; }

  void send(Bucket& bucket) const {
    if (options_.method == "daso") bucket.request = node_.iallreduce(bucket.buffer(), ht::ReduceOp::sum, "ring");
    else if (options_.method == "zero")
      bucket.request = topology_.ireduce_scatter(bucket.buffer(), cut(bucket.count, topology_.comm().size()));
    else bucket.request = topology_.iallreduce(bucket.buffer(), ht::ReduceOp::sum, options_.method);
  }

  /// Gathers the weights from the shares that their owners have updated or merged.
  void gather(const ht::Topology& owners) {
    const auto rank = owners.comm().rank();
    for (auto& bucket : buckets_) {
      const auto shares = cut(bucket.count, owners.comm().size());
      const auto first = std::accumulate(shares.begin(), shares.begin() + rank, std::int64_t{0});
      const ht::ConstBuffer mine{bucket.data + first, shares[static_cast<std::size_t>(rank)], ht::float32};
      bucket.request = owners.iallgather(mine, bucket.buffer(), shares);
    }
    wait();
  }

  /// Averages this rank's share of the weights over the nodes.
  void synchronise(std::int64_t number) {
    if (flight_ && number % options_.interval == options_.wait % options_.interval) {
      wait(*flight_);
      flight_.reset();
      gather(node_);
    }
    if (number % options_.interval == 0) flight_ = across_.iallreduce({values_, share_, ht::float32});
  }

  const ht::Topology& topology_;
  ht::Topology node_, across_;
  const TrainingOptions& options_;
  std::vector<Layer> layers_;
  std::vector<Bucket> buckets_;
  double seconds_ = 0;  // seconds of a product
  std::int64_t share_ = 0;
  float* values_ = nullptr;
  std::vector<double> told_;  // whether each parameter has a gradient
  std::optional<ht::Request> flight_;
};

}  // namespace

BatchTime train(const ht::Topology& topology, const TrainingOptions& options) {
  Rank rank(topology, options);
  const std::int64_t batches = options.method == "daso" ? options.interval : 1;
  topology.comm().barrier();
  std::array<double, 2> times{MPI_Wtime(), 0};
  for (std::int64_t number = 0; number < batches; ++number) rank.batch(number);
  times[1] = MPI_Wtime();
  topology.comm().allreduce(times, ht::ReduceOp::max);
  const auto computed = options.images / options.rate;
  return {computed, (times[1] - times[0]) / static_cast<double>(batches) - computed};
}
