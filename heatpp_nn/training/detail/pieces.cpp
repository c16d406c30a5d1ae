#include <heatpp_nn/training/detail/pieces.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/torch.hpp>
#include <heatpp_nn/parallel/detail/optimizer_state.hpp>

#include <ATen/ATen.h>

#include <torch/optim/optimizer.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <map>
#include <utility>

namespace heatpp::nn::detail {

using heatpp::detail::raise;

namespace {

/// The place of a tensor of the optimizer among the parameters.
struct Place {
  std::size_t parameter;
  std::int64_t first, count;
};

std::vector<Place> places_of(const Replica& replica, const torch::optim::Optimizer& optimizer) {
  std::map<const void*, Place> known;
  const auto& parameters = replica.flat().parameters();
  for (std::size_t i = 0; i < parameters.size(); ++i)
    known[parameters[i].unsafeGetTensorImpl()] = {i, 0, count_of_reals(parameters[i])};
  for (const auto* pieces : {&std::as_const(replica.ownership().pieces), &replica.flat().complex()})
    for (const auto& piece : *pieces)
      known[piece.values.unsafeGetTensorImpl()] = {piece.parameter, piece.first, piece.count};
  std::vector<Place> places;
  for (const auto& tensor : tensors_of(optimizer)) {
    const auto found = known.find(tensor.unsafeGetTensorImpl());
    if (found == known.end())
      raise<ValueError>("checkpoint",
                        "got an optimizer of tensors that are not the replica's; expected its parameters");
    places.push_back(found->second);
  }
  return places;
}

/// Returns the parts that this rank writes. Ranks with equal weights together cover each element once.
std::vector<Place> shared_out(const Replica& replica, Alike alike) {
  const auto& flat = replica.flat();
  const auto& owned = replica.ownership();
  std::vector<Place> places;
  if (alike == Alike::none)
    for (std::size_t i = 0; i < flat.parameters().size(); ++i)
      places.push_back({i, 0, count_of_reals(flat.parameters()[i])});
  else
    for (const auto& piece : owned.all ? owned.pieces : pieces_of(flat, owned.in_node))
      places.push_back({piece.parameter, piece.first, piece.count});
  if (alike != Alike::all || owned.all) return places;
  const std::int64_t nodes = replica.topology().across().size(), node = replica.topology().across().rank();
  for (auto& place : places) {
    const auto first = place.count * node / nodes;
    place.count = place.count * (node + 1) / nodes - first;
    place.first += first;
  }
  return places;
}

at::Tensor on_cpu(const at::Tensor& tensor, std::int64_t first, std::int64_t count) {
  return reals_of(tensor.detach()).reshape({-1}).narrow(0, first, count).cpu();
}

/// Returns the place of the gradient of a parameter, as real numbers.
at::Tensor flat_gradient(const Replica& replica, std::size_t parameter) {
  return reals_of(replica.flat().gradient(parameter)).view({-1});
}

/// Returns the bits of memory as integers. Their sums with zeros are exact for any meaning of the bits.
at::Tensor bits_of(const at::Tensor& memory) {
  switch (memory.element_size()) {
    case 1: return memory.view(at::kByte);
    case 2: return memory.view(at::kShort);
    case 4: return memory.view(at::kInt);
    default: return memory.view(at::kLong);
  }
}

bool is_kept(const PieceRow& row, std::size_t column) { return column == 0 || (row.kept >> (column - 1) & 1) != 0; }

}  // namespace

void add_up_bits(const Replica& replica, const std::vector<at::Tensor>& tensors, Alike alike) {
  if (alike == Alike::none) return;
  std::vector<at::Tensor> bits;
  for (const auto& tensor : tensors) bits.push_back(bits_of(tensor));
  add_up(alike == Alike::all ? replica.topology() : replica.ownership().node, bits);
}

WrittenPieces written_pieces(const Replica& replica, torch::optim::Optimizer& optimizer,
                             std::span<const at::Tensor> mean, Alike alike) {
  const auto slots = slots_of(optimizer);
  const auto columns = slot_columns(optimizer);
  const auto theirs = places_of(replica, optimizer);
  WrittenPieces written;
  for (const auto& place : shared_out(replica, alike)) {
    if (place.count == 0) continue;
    PieceRow row{static_cast<std::int64_t>(place.parameter), place.first, place.count};
    written.tensors.push_back(on_cpu(replica.flat().parameters()[place.parameter], place.first, place.count));
    for (std::size_t i = 0; i < theirs.size(); ++i) {
      const auto first = place.first - theirs[i].first;
      if (theirs[i].parameter != place.parameter || first < 0 || first + place.count > theirs[i].count) continue;
      row.steps = slots.steps[i];
      for (std::size_t column = 0; column < columns; ++column) {
        const auto& kept = slots.tensors[i * columns + column];
        if (!kept.defined()) continue;
        row.kept |= std::int64_t{1} << column;
        written.tensors.push_back(on_cpu(kept, first, place.count));
      }
    }
    if (!mean.empty()) {
      row.kept |= std::int64_t{1} << columns;
      written.tensors.push_back(on_cpu(mean[place.parameter], place.first, place.count));
    }
    written.rows.push_back(row);
  }
  return written;
}

Assembly::Assembly(const Replica& replica, torch::optim::Optimizer& optimizer, std::span<const at::Tensor> mean)
    : replica_(replica),
      optimizer_(optimizer),
      mean_(mean),
      columns_(slot_columns(optimizer)),
      told_(replica.flat().parameters().size() * (2 + columns_)) {}

void Assembly::check(const PieceRow& row) const {
  const auto& parameters = replica_.flat().parameters();
  if (row.parameter < 0 || row.parameter >= std::ssize(parameters) || row.kept < 0 || row.kept >> (columns_ + 1) != 0)
    throw std::runtime_error("a piece of an unknown parameter");
  const auto size = count_of_reals(parameters[static_cast<std::size_t>(row.parameter)]);
  if (row.count < 0 || row.first < 0 || row.count > size || row.first > size - row.count)
    throw std::runtime_error("a piece beyond its parameter");
}

std::size_t Assembly::bytes_of(const std::vector<PieceRow>& rows) const {
  std::size_t bytes = 0;
  for (const auto& row : rows) {
    check(row);
    const auto kept = 1 + std::popcount(static_cast<std::uint64_t>(row.kept));
    const auto& parameter = replica_.flat().parameters()[static_cast<std::size_t>(row.parameter)];
    bytes +=
        static_cast<std::size_t>(kept * row.count) * c10::elementSize(c10::toRealValueType(parameter.scalar_type()));
  }
  return bytes;
}

std::size_t Assembly::bring(const std::vector<PieceRow>& rows, std::string_view bytes, double share) {
  const auto whole = bytes.size();
  for (const auto& row : rows) {
    check(row);
    const auto i = static_cast<std::size_t>(row.parameter);
    for (std::size_t column = 0; column <= columns_ + 1; ++column) {
      if (!is_kept(row, column)) continue;
      const auto dtype = c10::toRealValueType(replica_.flat().parameters()[i].scalar_type());
      auto values = at::empty({row.count}, at::TensorOptions(dtype));
      if (bytes.size() < values.nbytes()) throw std::runtime_error("fewer bytes than its pieces have");
      if (row.count > 0) std::memcpy(values.mutable_data_ptr(), bytes.data(), values.nbytes());
      bytes.remove_prefix(values.nbytes());
      if (column > columns_ && mean_.empty()) continue;
      parts_.push_back({column, i, row.first, row.steps, std::move(values), share});
    }
  }
  return whole - bytes.size();
}

void Assembly::bring(const WrittenPieces& pieces, double share) {
  auto tensor = pieces.tensors.begin();
  for (const auto& row : pieces.rows)
    for (std::size_t column = 0; column <= columns_ + 1; ++column)
      if (is_kept(row, column))
        parts_.push_back({column, static_cast<std::size_t>(row.parameter), row.first, row.steps, *tensor++, share});
}

void Assembly::put(Alike alike, bool exact) {
  const at::NoGradGuard no_grad;
  const FlatParameters::Room room(replica_.flat());
  agree(alike);
  sum_up(0, alike, exact);
  for (const auto& bucket : replica_.flat().buckets()) at::Tensor(bucket.values).copy_(bucket.gradients);
  const auto tensors = tensors_of(optimizer_);
  const auto places = places_of(replica_, optimizer_);
  OptimizerSlots slots{std::vector<at::Tensor>(tensors.size() * columns_), std::vector<std::int64_t>(tensors.size())};
  for (std::size_t i = 0; i < places.size(); ++i) slots.steps[i] = told(places[i].parameter, 0);
  for (std::size_t column = 1; column <= columns_; ++column) {
    sum_up(column, alike, exact);
    for (std::size_t i = 0; i < places.size(); ++i) {
      const auto& [parameter, first, count] = places[i];
      if (told(parameter, column) == 0) continue;
      const auto found = flat_gradient(replica_, parameter).narrow(0, first, count);
      slots.tensors[i * columns_ + column - 1] = found.reshape(tensors[i].sizes()).clone();
    }
  }
  optimizer_.state().clear();
  set_slots(optimizer_, slots);
  put_mean(alike, exact);
}

void Assembly::put_mean(Alike alike, bool exact) {
  if (mean_.empty()) return;
  sum_up(columns_ + 1, alike, exact);
  for (std::size_t i = 0; i < mean_.size(); ++i)
    at::Tensor(mean_[i]).copy_(told(i, columns_ + 1) ? replica_.flat().gradient(i) : replica_.flat().parameters()[i]);
}

void Assembly::agree(Alike alike) {
  for (const auto& part : parts_) told(part.parameter, part.column) = part.column == 0 ? part.steps : 1;
  if (alike == Alike::all) replica_.topology().comm().allreduce(told_, ReduceOp::max);
  if (alike == Alike::node) replica_.topology().node().allreduce(told_, ReduceOp::max);
}

/// Sums one column of all parameters over the ranks, in the memory of the gradients.
void Assembly::sum_up(std::size_t column, Alike alike, bool exact) const {
  for (const auto& bucket : replica_.flat().buckets()) at::Tensor(bucket.gradients).zero_();
  for (const auto& part : parts_) {
    if (part.column != column) continue;
    const auto to = flat_gradient(replica_, part.parameter).narrow(0, part.first, part.values.numel());
    if (exact) to.copy_(part.values);
    else to.add_(part.values.to(to.device()), part.share);
  }
  std::vector<at::Tensor> memory;
  for (const auto& bucket : replica_.flat().buckets()) memory.push_back(bucket.gradients);
  if (exact) add_up_bits(replica_, memory, alike);
  else add_up(replica_.topology(), memory);
}

}  // namespace heatpp::nn::detail
