#pragma once

#include <heatpp_nn/parallel/detail/flat.hpp>

namespace heatpp::nn::detail {

/// Elements of a parameter, as real numbers, for an optimizer: a tensor with one axis, or a whole complex parameter.
struct Piece {
  std::size_t parameter;      // number of the parameter in FlatParameters
  std::int64_t first, count;  // range of its real numbers
  at::Tensor values, gradient;
};

/// The memory of trained parameters, one buffer for every dtype and device, and of their gradients. The parameters lie
/// in it from the last to the first, because backward ends with the first layer. A bucket is a range of parameters that
/// is large enough for a message; its gradients lie in one buffer.
///
/// If the ranks of a node hold the weights in common, the buffers of parameters are memory that all of them read, and a
/// bucket's gradients have memory only while they are needed.
class FlatParameters {
 public:
  struct Bucket {
    std::size_t begin = 0, end = 0;          // range of its parameters
    at::Tensor values = {}, gradients = {};  // real numbers
  };

  /// Moves the parameters to this memory. The ranks of `node`, unless it is nullptr, hold the weights, which must be
  /// equal, in common: then it is collective. Throws ValueError if two parameters overlap in memory, and for weights in
  /// common on a GPU or if the ranks share too little memory.
  FlatParameters(const std::vector<at::Tensor>& parameters, std::int64_t bucket_bytes, const Communicator* node);

  /// Moves parameters back, with their values, if they got other memory since (`torch::load`). Throws ValueError if one
  /// has another dtype, device or shape now. Local.
  void adopt();

  /// Returns the parameters from the last to the first.
  [[nodiscard]] const std::vector<at::Tensor>& parameters() const { return parameters_; }
  [[nodiscard]] const std::vector<Bucket>& buckets() const { return buckets_; }
  /// Returns the place of the gradient of parameter `i`.
  [[nodiscard]] const at::Tensor& gradient(std::size_t i) const { return gradients_[i]; }
  /// Whether the ranks of a node hold the weights in common.
  [[nodiscard]] bool in_common() const { return in_common_; }
  /// Gives a bucket's gradients memory, of undefined values, unless they have it. For weights in common.
  void make_room(std::size_t bucket) const;
  /// Takes their memory back. For weights in common; otherwise does nothing.
  void leave_room(std::size_t bucket) const;
  /// Gives all gradients memory while it exists.
  class Room {
   public:
    explicit Room(const FlatParameters& flat) : flat_(flat) {
      for (std::size_t b = 0; b < flat_.buckets().size(); ++b) flat_.make_room(b);
    }
    ~Room() {
      for (std::size_t b = 0; b < flat_.buckets().size(); ++b) flat_.leave_room(b);
    }
    Room(const Room&) = delete;
    Room& operator=(const Room&) = delete;

   private:
    const FlatParameters& flat_;
  };
  /// Accepts changes of the weights in place, which `is_written` reports otherwise.
  void accept_writes();
  /// Whether operations have written parameters in place. Local.
  [[nodiscard]] bool is_written() const;
  /// Returns the complex parameters as real numbers, which optimizers step instead: LibTorch's optimizers square a
  /// complex number as one number, but PyTorch's square its two parts.
  [[nodiscard]] const std::vector<Piece>& complex() const { return complex_; }
  /// Returns the bytes of the parameters, without their gradients.
  [[nodiscard]] std::int64_t bytes() const { return values_.bytes(); }

 private:
  void cut_buckets(std::int64_t bucket_bytes);

  std::vector<at::Tensor> parameters_;
  bool in_common_;
  FlatBuffers values_;
  std::vector<at::Tensor> gradients_;
  std::vector<Bucket> buckets_;
  std::vector<std::int64_t> versions_;  // how often operations had written the parameters
  std::vector<Piece> complex_;
};

/// Throws ValueError if ranks cannot share these weights because they are on a GPU.
void expect_on_cpu(const std::vector<at::Tensor>& weights);

/// A fragment of a range: its `index`-th part of `of` parts of almost equal size.
struct Fragment {
  std::int64_t index = 0, of = 1;
  [[nodiscard]] std::int64_t first(std::int64_t count) const { return count / of * index + count % of * index / of; }
  [[nodiscard]] std::int64_t count(std::int64_t count) const {
    return Fragment{index + 1, of}.first(count) - first(count);
  }
  friend bool operator==(const Fragment&, const Fragment&) = default;
};

/// The part of every bucket that each rank of a group owns. Parts lie in rank order.
class Shares {
 public:
  /// Gives even parts to the first `owners` ranks of the group. If ranks of a node hold the weights in common and the
  /// group has several nodes, it is collective, and throws ValueError if these are unequal.
  Shares(const FlatParameters& flat, const Topology& group, int owners);
  /// Gives everything to one of them.
  void give_all_to(int owner);

  [[nodiscard]] const Communicator& comm() const { return group_.comm(); }
  [[nodiscard]] int owners() const { return owners_; }
  [[nodiscard]] const std::vector<std::int64_t>& counts(std::size_t bucket) const { return counts_[bucket]; }
  /// Returns this rank's part of memory with the layout of a bucket.
  [[nodiscard]] at::Tensor part(std::size_t bucket, const at::Tensor& memory) const;
  /// Gives this rank's gradients memory of their own, apart from that of the buckets.
  void keep_gradients();
  /// Returns the gradients of this rank's part of a bucket.
  [[nodiscard]] at::Tensor gradients(std::size_t bucket) const;
  /// Returns the offset of this part.
  [[nodiscard]] std::int64_t first(std::size_t bucket) const;
  /// All-gathers the parts of memory with the layout of the buckets, one after another. Collective over the group.
  void gather(const std::vector<at::Tensor>& memory) const;
  /// All-gathers a fragment of each part of the parameters, by default the whole parts. If ranks hold the weights in
  /// common, each brings the parts of the ranks with its number in the other nodes, and those of a node wait for each
  /// other.
  void gather(const Fragment& fragment = {}) const;
  /// Sums `memory` over the group. Each rank then has its part of the sum. Collective.
  void reduce_scatter(const std::vector<at::Tensor>& memory) const;

 private:
  void gather_in_common() const;
  [[nodiscard]] at::Tensor part_of(int rank, std::size_t bucket, const at::Tensor& memory) const;
  [[nodiscard]] Request start_gather(std::size_t bucket, const Fragment& fragment, const at::Tensor& room) const;
  void spread(std::size_t bucket, const Fragment& fragment, const at::Tensor& room) const;

  const FlatParameters& flat_;
  Topology group_;
  int owners_;
  std::vector<std::vector<std::int64_t>> counts_;
  std::vector<std::int64_t> across_;   // weights in common on several nodes: ranks with this rank's number
  std::vector<at::Tensor> gradients_;  // of this rank's parts, if they have memory of their own
};

/// Returns the elements of parameters that lie in this rank's part of each bucket.
[[nodiscard]] std::vector<Piece> pieces_of(const FlatParameters& flat, const Shares& shares);

/// The ranks that own the parts of the parameters.
struct Ownership {
  Topology node;              // this rank's node
  Shares in_node;             // shares over the node's ranks; every node has the same number of owners
  std::optional<Shares> all;  // shares over all ranks, if they share the optimizer's work
  std::vector<Piece> pieces;  // the pieces of this rank's optimizer, if ranks share its work

  [[nodiscard]] const Shares& shares() const { return all ? *all : in_node; }
};

}  // namespace heatpp::nn::detail
