#include <heatpp_nn/losses/detail/loss_sums.hpp>

#include <utility>

namespace heatpp::nn::detail {

void LossSums::add(double value, double weight) {
  sums_.push_back(value * weight);
  weights_.push_back(weight);
  mine_.sum += value * weight;
  mine_.weight += weight;
}

EpochLoss LossSums::epoch(const Communicator& comm) const {
  std::array<double, 2> all{mine_.sum, mine_.weight};
  comm.allreduce(all);
  return {all[0], all[1]};
}

std::vector<double> LossSums::take_batches(const Communicator& comm) {
  auto all = std::exchange(sums_, {});
  const auto count = all.size();
  all.insert(all.end(), weights_.begin(), weights_.end());
  weights_.clear();
  comm.allreduce(all);
  for (std::size_t i = 0; i < count; ++i)
    if (all[count + i] > 0) all[i] /= all[count + i];
  all.resize(count);
  return all;
}

}  // namespace heatpp::nn::detail
