#pragma once

#include <heatpp_nn/training/detail/pieces.hpp>

namespace heatpp::nn::detail {

/// A running mean of a replica's weights (Polyak, Juditsky 1992), and of its floating buffers. That of frozen weights
/// is what they are.
class WeightMean {
 public:
  /// Begins with the weights as they are; `kept` is the share of it that stays at each update.
  WeightMean(const Replica& replica, double kept);

  /// Takes the weights of this moment, which so many ranks have. Local.
  void update(Alike alike);
  /// Makes it that of all ranks: of their buffers, and of their weights where they have trained apart. Collective.
  void agree(bool apart);
  /// Puts the mean, if there is one, in the place of the weights for as long as it lives. Local.
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

  /// Puts the mean in the place of the weights, which are kept. Local.
  void show();
  [[nodiscard]] bool is_shown() const { return shown_.has_value(); }
  /// Puts the weights back, or leaves those that the module was given meanwhile, on any rank, as its weights.
  /// Collective.
  void hide();
  /// The weight that belongs to this parameter or buffer of the module; what has no mean is returned as it is. Local.
  [[nodiscard]] const at::Tensor& raw(const at::Tensor& tensor) const;

  /// Of the trained parameters, from the last to the first, and of buffers: to be written and set.
  [[nodiscard]] const std::vector<at::Tensor>& of_parameters() const { return of_parameters_; }
  [[nodiscard]] const std::vector<at::Tensor>& of_buffers() const { return of_buffers_; }
  /// Which ranks have the same.
  [[nodiscard]] Alike alike() const { return alike_; }
  void set_alike(Alike alike) { alike_ = alike; }

 private:
  void swap();

  const Replica& replica_;
  double kept_;
  Alike alike_ = Alike::all;
  std::vector<at::Tensor> weights_, mean_, of_parameters_, of_buffers_;
  std::optional<std::uint32_t> shown_ = {};  // the replica's checksum with the mean in place
  std::vector<char> infinite_;  // at the beginning, as masks of attention are: what is equal to its mean stays
};

}  // namespace heatpp::nn::detail
