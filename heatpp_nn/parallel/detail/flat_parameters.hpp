#pragma once

#include <heatpp_nn/parallel/detail/flat.hpp>

namespace heatpp::nn::detail {

/// Elements of a parameter, as real numbers, for an optimizer: a tensor of one axis, or a complex parameter as a whole.
struct Piece {
  std::size_t parameter;      // as FlatParameters has them
  std::int64_t first, count;  // of its real numbers
  at::Tensor values, gradient;
};

/// The memory of trained parameters and of their gradients: a buffer of each for every dtype and device, in which the
/// parameters lie from the last to the first, since backward ends with the first layer. A bucket is a stretch of them
/// that is worth a message.
class FlatParameters {
 public:
  struct Bucket {
    std::size_t begin = 0, end = 0;          // its parameters
    at::Tensor values = {}, gradients = {};  // real numbers
  };

  /// Moves the parameters there. Throws ValueError where two of them are not apart in memory.
  FlatParameters(const std::vector<at::Tensor>& parameters, std::int64_t bucket_bytes);

  /// Moves back, with their values, parameters that were given other memory since (`torch::load`). Throws ValueError
  /// where one has another dtype, device or shape by now. Local.
  void adopt();

  /// From the last to the first.
  [[nodiscard]] const std::vector<at::Tensor>& parameters() const { return parameters_; }
  [[nodiscard]] const std::vector<Bucket>& buckets() const { return buckets_; }
  /// Where the gradient of parameter `i` lies.
  [[nodiscard]] const at::Tensor& gradient(std::size_t i) const { return gradients_.view(i); }
  /// The complex parameters as real numbers, which optimizers step in their place: LibTorch's take a complex number for
  /// one in its squares, where PyTorch's take its parts for two.
  [[nodiscard]] const std::vector<Piece>& complex() const { return complex_; }
  /// Of the parameters, without their gradients.
  [[nodiscard]] std::int64_t bytes() const { return values_.bytes(); }

 private:
  std::vector<at::Tensor> parameters_;
  FlatBuffers values_, gradients_;
  std::vector<Bucket> buckets_;
  std::vector<Piece> complex_;
};

/// Which part of every bucket each rank of a group cares for: parts lie in rank order.
class Shares {
 public:
  /// Even parts for the first `owners` ranks of the group.
  Shares(const FlatParameters& flat, const Topology& group, int owners);
  /// Everything for one of them.
  void give_all_to(int owner);

  [[nodiscard]] const Communicator& comm() const { return group_.comm(); }
  [[nodiscard]] int owners() const { return owners_; }
  [[nodiscard]] const std::vector<std::int64_t>& counts(std::size_t bucket) const { return counts_[bucket]; }
  /// This rank's part of memory that is laid out as a bucket.
  [[nodiscard]] at::Tensor part(std::size_t bucket, const at::Tensor& memory) const;
  /// Where it begins.
  [[nodiscard]] std::int64_t first(std::size_t bucket) const;
  /// Gives all ranks the parts of memory that is laid out as the buckets, one after another. Collective over the group.
  void gather(const std::vector<at::Tensor>& memory) const;
  /// The same for the parameters.
  void gather() const;
  /// The sum of `memory` over the group, of which each rank has its part afterwards. Collective.
  void reduce_scatter(const std::vector<at::Tensor>& memory) const;

 private:
  const FlatParameters& flat_;
  Topology group_;
  int owners_;
  std::vector<std::vector<std::int64_t>> counts_;
};

/// What of parameters lies in this rank's part of each bucket.
[[nodiscard]] std::vector<Piece> pieces_of(const FlatParameters& flat, const Shares& shares);

/// Who cares for what.
struct Ownership {
  Topology node;              // this rank's alone
  Shares in_node;             // of its ranks, as many as all nodes have
  std::optional<Shares> all;  // where all ranks share the optimizer's work
  std::vector<Piece> pieces;  // that this rank's optimizer has, where ranks share its work

  [[nodiscard]] const Shares& shares() const { return all ? *all : in_node; }
};

}  // namespace heatpp::nn::detail
