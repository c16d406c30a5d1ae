#pragma once

#include <heatpp_nn/training/detail/pieces.hpp>

namespace heatpp::nn::detail {

/// A running mean of a replica's weights (Polyak, Juditsky 1992), and of its floating-point buffers. The mean of a
/// frozen weight is the weight itself.
class WeightMean {
 public:
  /// Begins with the current weights; `kept` is the share of the mean that stays at each update.
  WeightMean(const Replica& replica, double kept);

  /// Adds the current weights, which the ranks of `alike` have in common. Local.
  void update(Alike alike);
  /// Averages the means of buffers over all ranks, and those of weights if ranks trained independently. Collective.
  void agree(bool apart);
  /// Replaces the weights by the mean, if there is one, while this object exists. Local, except if the ranks of a node
  /// share the weights: then collective.
  class InPlace {
   public:
    explicit InPlace(WeightMean* mean) : mean_(mean && !mean->is_shown() ? mean : nullptr) {
      if (mean_) mean_->swap();
    }
    ~InPlace() {
      if (mean_) mean_->swap();
    }
    InPlace(const InPlace&) = delete;
    InPlace& operator=(const InPlace&) = delete;

   private:
    WeightMean* mean_;
  };

  /// Replaces the weights by the mean and stores the weights. Collective as InPlace.
  void show();
  [[nodiscard]] bool is_shown() const { return shown_.has_value(); }
  /// Restores the weights. If the module got other weights meanwhile on any rank, keeps these instead.
  /// Collective.
  void hide();
  /// Returns the weight of this parameter or buffer of the module, or the argument if it has no mean. Local.
  [[nodiscard]] const at::Tensor& raw(const at::Tensor& tensor) const;

  /// Returns the means of trained parameters, from the last to the first, and of buffers, for reading and writing.
  [[nodiscard]] const std::vector<at::Tensor>& of_parameters() const { return of_parameters_; }
  [[nodiscard]] const std::vector<at::Tensor>& of_buffers() const { return of_buffers_; }
  /// Returns which ranks have equal means.
  [[nodiscard]] Alike alike() const { return alike_; }
  void set_alike(Alike alike) { alike_ = alike; }

 private:
  void swap();

  const Replica& replica_;
  double kept_;
  Alike alike_ = Alike::all;
  std::vector<at::Tensor> weights_, mean_, of_parameters_, of_buffers_;
  std::optional<std::uint32_t> shown_ = {};  // the replica's checksum while it has the mean
  std::vector<char> infinite_;  // infinite at first, e.g. an attention mask: elements equal to their mean stay
};

}  // namespace heatpp::nn::detail
