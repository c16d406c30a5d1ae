#include <heatpp_nn/parallel/detail/flat_parameters.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/torch.hpp>

#include <ATen/ATen.h>

#include <algorithm>
#include <numeric>

namespace heatpp::nn::detail {

using heatpp::detail::buffer_of;
using heatpp::detail::raise;

namespace {

/// Throws for tensors that share elements, because a move would separate them.
void check_apart(const std::vector<at::Tensor>& parameters) {
  std::vector<std::pair<const std::byte*, const std::byte*>> extents;
  for (const auto& parameter : parameters) {
    if (parameter.numel() == 0) continue;
    const auto* const begin = static_cast<const std::byte*>(parameter.const_data_ptr());
    std::int64_t last = 0;
    for (std::int64_t axis = 0; axis < parameter.dim(); ++axis)
      last += (parameter.size(axis) - 1) * parameter.stride(axis);
    extents.emplace_back(begin, begin + (last + 1) * static_cast<std::int64_t>(parameter.element_size()));
  }
  std::ranges::sort(extents);
  for (std::size_t i = 1; i < extents.size(); ++i)
    if (extents[i].first < extents[i - 1].second)
      raise<ValueError>("Replica",
                        "got two parameters that share memory; expected one parameter under both names, as "
                        "register_parameter gives it");
}

/// Returns a tensor that shares its memory with another, but is independent for autograd.
at::Tensor apart(const at::Tensor& view) {
  return at::empty({0}, view.options()).set_(view.storage(), view.storage_offset(), view.sizes(), view.strides());
}

/// Gives a tensor's storage this many bytes of undefined values. Other tensors in it see them, too.
void set_bytes(const at::Tensor& tensor, std::size_t bytes) {
  auto* const storage = tensor.storage().unsafeGetStorageImpl();
  if (storage->nbytes() == bytes) return;
  storage->set_data_ptr_noswap({});  // before the new memory is taken
  storage->set_data_ptr_noswap(storage->allocator()->allocate(bytes));
  storage->set_nbytes(bytes);
}

FlatBuffers values_for(const std::vector<at::Tensor>& parameters, const Communicator* node) {
  if (!node) return FlatBuffers(parameters);
  expect_on_cpu(parameters);
  return {parameters, *node};
}

/// Returns a range of a buffer.
at::Tensor stretch_of(const at::Tensor& memory, std::int64_t first, std::int64_t count) {
  return apart(memory.narrow(0, first, count));
}

}  // namespace

void expect_on_cpu(const std::vector<at::Tensor>& weights) {
  for (const auto& tensor : weights)
    if (!tensor.is_cpu())
      raise<ValueError>("Replica",
                        "got shard_weights with weights on {}; expected them on the CPU, where ranks of a "
                        "node share memory",
                        tensor.device().str());
}

FlatParameters::FlatParameters(const std::vector<at::Tensor>& parameters, std::int64_t bucket_bytes,
                               const Communicator* node)
    : parameters_(parameters.rbegin(), parameters.rend()),
      in_common_(node != nullptr),
      values_(values_for(parameters_, node)) {
  check_apart(parameters_);
  if (bucket_bytes < 1) raise<ValueError>("Replica", "got buckets of {} bytes; expected at least 1", bucket_bytes);
  cut_buckets(bucket_bytes);
  adopt();
  for (std::size_t i = 0; i < parameters_.size(); ++i)
    if (parameters_[i].is_complex())
      complex_.push_back({i, 0, count_of_reals(parameters_[i]), apart(reals_of(values_.view(i))).requires_grad_(),
                          apart(reals_of(gradients_[i]))});
  for (std::size_t b = 0; b < buckets_.size(); ++b) leave_room(b);
  accept_writes();
}

void FlatParameters::cut_buckets(std::int64_t bucket_bytes) {
  std::int64_t bytes = 0;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const auto& parameter = parameters_[i];
    const bool fits = !buckets_.empty() && bytes < bucket_bytes &&
                      parameters_[i - 1].scalar_type() == parameter.scalar_type() &&
                      parameters_[i - 1].device() == parameter.device();
    if (!fits) {
      buckets_.push_back({.begin = i});
      bytes = 0;
    }
    buckets_.back().end = i + 1;
    bytes += static_cast<std::int64_t>(parameter.nbytes());
  }
  for (auto& bucket : buckets_) {
    bucket.values = values_.stretch(bucket.begin, bucket.end);
    const FlatBuffers gradients({parameters_.begin() + static_cast<std::ptrdiff_t>(bucket.begin),
                                 parameters_.begin() + static_cast<std::ptrdiff_t>(bucket.end)});
    bucket.gradients = gradients.stretch(0, bucket.end - bucket.begin);
    for (auto i = bucket.begin; i < bucket.end; ++i) gradients_.push_back(gradients.view(i - bucket.begin));
  }
}

void FlatParameters::make_room(std::size_t bucket) const {
  if (in_common_) set_bytes(buckets_[bucket].gradients, buckets_[bucket].gradients.nbytes());
}

void FlatParameters::leave_room(std::size_t bucket) const {
  if (in_common_) set_bytes(buckets_[bucket].gradients, 0);
}

void FlatParameters::accept_writes() {
  versions_.clear();
  for (const auto& parameter : parameters_) versions_.push_back(parameter._version());
}

bool FlatParameters::is_written() const {
  return !std::ranges::equal(parameters_, versions_, {}, [](const auto& parameter) { return parameter._version(); });
}

void FlatParameters::adopt() {
  const at::NoGradGuard no_grad;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    auto& parameter = parameters_[i];
    const auto& place = values_.view(i);
    if (parameter.const_data_ptr() == place.const_data_ptr() && parameter.strides() == place.strides()) continue;
    if (parameter.scalar_type() != place.scalar_type() || parameter.device() != place.device() ||
        parameter.sizes() != place.sizes())
      raise<ValueError>("Replica",
                        "got a parameter of {} {} on {} that was {} {} on {}; expected the module to be wrapped after "
                        "it was changed",
                        at::toString(parameter.scalar_type()), heatpp::detail::tuple_text(parameter.sizes()),
                        parameter.device().str(), at::toString(place.scalar_type()),
                        heatpp::detail::tuple_text(place.sizes()), place.device().str());
    place.copy_(parameter);
    parameter.set_data(place);
  }
}

Shares::Shares(const FlatParameters& flat, const Topology& group, int owners)
    : flat_(flat), group_(group), owners_(owners) {
  for (const auto& bucket : flat.buckets()) {
    auto& counts = counts_.emplace_back(static_cast<std::size_t>(group.comm().size()), 0);
    const auto count = bucket.values.numel();
    for (int rank = 0; rank < owners; ++rank)
      counts[static_cast<std::size_t>(rank)] = count / owners + (rank < count % owners);
  }
  if (!flat.in_common()) return;
  if (!group.uniform())
    raise<ValueError>(
        "Replica",
        "got shard_weights with an optimizer that all ranks of unequal nodes share; expected equal nodes, "
        "or shard by node");
  across_ = group.across().allgather(std::int64_t{group.comm().rank()});
}

void Shares::give_all_to(int owner) {
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    std::ranges::fill(counts_[i], 0);
    counts_[i][static_cast<std::size_t>(owner)] = flat_.buckets()[i].values.numel();
  }
}

std::int64_t Shares::first(std::size_t bucket) const {
  const auto& counts = counts_[bucket];
  return std::reduce(counts.begin(), counts.begin() + group_.comm().rank());
}

at::Tensor Shares::part_of(int rank, std::size_t bucket, const at::Tensor& memory) const {
  const auto& counts = counts_[bucket];
  return stretch_of(memory, std::reduce(counts.begin(), counts.begin() + rank), counts[static_cast<std::size_t>(rank)]);
}

at::Tensor Shares::part(std::size_t bucket, const at::Tensor& memory) const {
  return part_of(group_.comm().rank(), bucket, memory);
}

void Shares::keep_gradients() {
  for (std::size_t b = 0; b < flat_.buckets().size(); ++b)
    gradients_.push_back(
        at::zeros({counts_[b][static_cast<std::size_t>(group_.comm().rank())]}, flat_.buckets()[b].values.options()));
}

at::Tensor Shares::gradients(std::size_t bucket) const {
  return gradients_.empty() ? part(bucket, flat_.buckets()[bucket].gradients) : gradients_[bucket];
}

void Shares::gather(const std::vector<at::Tensor>& memory) const {
  if (group_.comm().size() == 1) return;
  std::vector<Request> requests;
  for (std::size_t i = 0; i < memory.size(); ++i)
    requests.push_back(group_.iallgather(buffer_of(part(i, memory[i])), buffer_of(memory[i]), counts_[i]));
  wait_all(requests);
}

void Shares::gather(const Fragment& fragment) const {
  if (flat_.in_common()) return gather_in_common();
  std::vector<at::Tensor> values;
  for (const auto& bucket : flat_.buckets()) values.push_back(bucket.values);
  if (fragment == Fragment()) return gather(values);
  if (group_.comm().size() == 1) return;
  std::vector<at::Tensor> rooms;
  std::vector<Request> requests;
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::int64_t size = 0;
    for (const auto count : counts_[i]) size += fragment.count(count);
    rooms.push_back(at::empty({size}, values[i].options()));
    requests.push_back(start_gather(i, fragment, rooms.back()));
  }
  wait_all(requests);
  for (std::size_t i = 0; i < values.size(); ++i) spread(i, fragment, rooms[i]);
}

/// Ranks of one node have written their parts in place already.
void Shares::gather_in_common() const {
  std::vector<at::Tensor> rooms;
  std::vector<Request> requests;
  std::vector<std::int64_t> counts(across_.size());
  for (std::size_t b = 0; across_.size() > 1 && b < counts_.size(); ++b) {
    const auto& values = flat_.buckets()[b].values;
    for (std::size_t i = 0; i < across_.size(); ++i) counts[i] = counts_[b][static_cast<std::size_t>(across_[i])];
    rooms.push_back(at::empty({std::reduce(counts.begin(), counts.end())}, values.options()));
    requests.push_back(group_.across().iallgather(buffer_of(part(b, values)), buffer_of(rooms.back()), counts));
  }
  wait_all(requests);
  for (std::size_t b = 0; b < rooms.size(); ++b) {
    std::int64_t from = 0;
    for (const auto rank : across_) {
      auto place = part_of(static_cast<int>(rank), b, flat_.buckets()[b].values);
      if (rank != group_.comm().rank()) place.copy_(rooms[b].narrow(0, from, place.numel()));
      from += place.numel();
    }
  }
  group_.node().barrier();
}

/// Gathers the fragments of a bucket's parts end to end.
Request Shares::start_gather(std::size_t bucket, const Fragment& fragment, const at::Tensor& room) const {
  std::vector<std::int64_t> counts;
  for (const auto count : counts_[bucket]) counts.push_back(fragment.count(count));
  const auto rank = static_cast<std::size_t>(group_.comm().rank());
  const auto mine = part(bucket, flat_.buckets()[bucket].values);
  const auto before = std::reduce(counts.begin(), counts.begin() + static_cast<std::ptrdiff_t>(rank));
  auto place = stretch_of(room, before, counts[rank]);
  place.copy_(mine.narrow(0, fragment.first(mine.numel()), counts[rank]));
  return group_.iallgather(buffer_of(place), buffer_of(room), counts);
}

/// Copies the gathered fragments to their places in the bucket.
void Shares::spread(std::size_t bucket, const Fragment& fragment, const at::Tensor& room) const {
  const auto& values = flat_.buckets()[bucket].values;
  std::int64_t from = 0, to = 0;
  for (std::size_t rank = 0; rank < counts_[bucket].size(); ++rank) {
    const auto whole = counts_[bucket][rank], count = fragment.count(whole);
    if (static_cast<int>(rank) != group_.comm().rank())
      values.narrow(0, to + fragment.first(whole), count).copy_(room.narrow(0, from, count));
    from += count, to += whole;
  }
}

void Shares::reduce_scatter(const std::vector<at::Tensor>& memory) const {
  std::vector<Request> requests;
  for (std::size_t i = 0; i < memory.size(); ++i)
    requests.push_back(group_.ireduce_scatter(buffer_of(memory[i]), counts_[i]));
  wait_all(requests);
}

std::vector<Piece> pieces_of(const FlatParameters& flat, const Shares& shares) {
  std::vector<Piece> pieces;
  for (std::size_t b = 0; b < flat.buckets().size(); ++b) {
    const auto& bucket = flat.buckets()[b];
    const auto begin = shares.first(b), end = begin + shares.part(b, bucket.values).numel();
    std::int64_t at = 0;  // offset of the parameter in the bucket
    for (auto i = bucket.begin; i < bucket.end; ++i) {
      const auto count = count_of_reals(flat.parameters()[i]);
      const auto first = std::max(begin, at), last = std::min(end, at + count);
      if (first < last)
        pieces.push_back({i, first - at, last - first, stretch_of(bucket.values, first, last - first).requires_grad_(),
                          stretch_of(shares.gradients(b), first - begin, last - first)});
      at += count;
    }
  }
  return pieces;
}

}  // namespace heatpp::nn::detail
