#pragma once

#include <heatpp_nn/parallel/replica.hpp>

namespace heatpp::nn::detail {

/// A running mean of a replica's weights (Polyak, Juditsky 1992), and of its floating buffers.
class WeightMean {
 public:
  /// Begins with the weights as they are; `kept` is the share of it that stays at each update.
  WeightMean(const Replica& replica, double kept);

  /// Takes the weights of this moment. Local.
  void update();
  /// Puts the mean in the place of the weights for as long as it lives. Where ranks have trained apart it is that of
  /// all of them from then on: collective.
  class InPlace {
   public:
    InPlace(WeightMean& mean, bool apart);
    ~InPlace() { mean_.swap(); }
    InPlace(const InPlace&) = delete;
    InPlace& operator=(const InPlace&) = delete;

   private:
    WeightMean& mean_;
  };

  [[nodiscard]] const std::vector<at::Tensor>& tensors() const { return mean_; }
  /// Takes what `tensors` gave; throws ValueError for other sizes.
  void set(const std::vector<at::Tensor>& tensors);

 private:
  void swap();

  const Replica& replica_;
  double kept_;
  std::vector<at::Tensor> weights_, mean_;
};

}  // namespace heatpp::nn::detail
