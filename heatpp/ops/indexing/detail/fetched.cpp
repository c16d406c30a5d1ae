#include <heatpp/ops/indexing/detail/fetched.hpp>

#include <heatpp/core/detail/peers/row_lists.hpp>
#include <heatpp/core/detail/plain_type.hpp>
#include <heatpp/ops/indexing/detail/gathered.hpp>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

namespace heatpp::detail {
namespace {

/// The owners of positions, which are visited in lanes. Each lane writes to places of its own for each owner, and four
/// lanes take turns, because the next place of an owner is known only some cycles after its last one.
class Lanes {
 public:
  Lanes(const at::Tensor& positions, const Cut& cut)
      : ranks_(static_cast<std::size_t>(cut.ranks())),
        owners_(at::empty({positions.numel()}, ranks_ <= 256 ? at::kByte : at::kInt)) {
    constexpr std::int64_t worth_a_thread = 1 << 15;
    parts_ = std::clamp<std::int64_t>(positions.numel() / worth_a_thread, 1, at::get_num_threads());
    const auto* const at = positions.const_data_ptr<std::int64_t>();
    with_owners([&](auto* owners) {
      in_parts([&](std::size_t, std::int64_t first, std::int64_t last) { find(at, first, last, cut, owners); });
    });
  }
  [[nodiscard]] std::size_t count() const { return each * static_cast<std::size_t>(parts_); }

  /// Calls visit(cell, i) for each position i, where the cell counts lanes, and owners in each.
  template <class F>
  void visit(F visit) const {
    with_owners([&](const auto* owners) {
      in_parts([&](std::size_t part, std::int64_t first, std::int64_t last) {
        const auto cell = each * part * ranks_, quarter = static_cast<std::size_t>(last - first) / each;
        const auto* const owner = owners + first;
        const auto begin = static_cast<std::size_t>(first);
        for (std::size_t i = 0; i < quarter; ++i)
#pragma GCC unroll 4
          for (std::size_t lane = 0; lane < each; ++lane) {
            const auto at = lane * quarter + i;
            visit(cell + lane * ranks_ + static_cast<std::size_t>(owner[at]), begin + at);
          }
        for (auto at = each * quarter; at < static_cast<std::size_t>(last - first); ++at)  // the last lane goes on
          visit(cell + (each - 1) * ranks_ + static_cast<std::size_t>(owner[at]), begin + at);
      });
    });
  }

 private:
  static constexpr std::size_t each = 4;  // lanes of a part

  template <class F>
  void with_owners(F f) const {
    if (owners_.scalar_type() == at::kByte) f(owners_.mutable_data_ptr<std::uint8_t>());
    else f(owners_.mutable_data_ptr<std::int32_t>());
  }
  /// Calls f(part, first, last) for the positions of each thread.
  template <class F>
  void in_parts(F f) const {
    const auto n = owners_.numel();
    at::parallel_for(0, parts_, 1, [&](std::int64_t begin, std::int64_t end) {
      for (auto part = begin; part < end; ++part)
        f(static_cast<std::size_t>(part), n * part / parts_, n * (part + 1) / parts_);
    });
  }
  template <class Owner>
  static void find(const std::int64_t* at, std::int64_t first, std::int64_t last, const Cut& cut, Owner* owners) {
    constexpr std::int64_t piece = 1024;  // stays in the first-level cache
    std::array<std::int64_t, piece> found;
    for (auto i = first; i < last; i += piece) {
      const auto n = std::min(piece, last - i);
      cut.owners({at + i, static_cast<std::size_t>(n)}, found.data());
      std::transform(found.begin(), found.begin() + n, owners + i,
                     [](auto owner) { return static_cast<Owner>(owner); });
    }
  }

  std::size_t ranks_;
  at::Tensor owners_;
  std::int64_t parts_ = 1;
};

/// Positions sorted by owner: those of other ranks first, then this rank's own ones.
struct Sorted {
  std::vector<RowsOfRank> others;
  std::vector<std::int64_t> places;  ///< the first place of each cell
  at::Tensor keys;                   ///< places among the owner's rows
  std::int64_t own;                  ///< how many this rank owns
};

/// Turns the number of positions in each cell into its first place. Returns how many each owner has.
std::vector<std::int64_t> into_places(std::vector<std::int64_t>& cells, std::size_t ranks, std::size_t self) {
  std::vector<std::int64_t> counts(ranks);
  std::int64_t next = 0;
  const auto place_all = [&](std::size_t rank) {
    const auto first = next;
    for (auto cell = rank; cell < cells.size(); cell += ranks) next += std::exchange(cells[cell], next);
    counts[rank] = next - first;
  };
  for (std::size_t rank = 0; rank < ranks; ++rank)
    if (rank != self) place_all(rank);
  place_all(self);
  return counts;
}

template <class Key>
void write_keys(const Lanes& lanes, const at::Tensor& positions, const Cut& cut, std::vector<std::int64_t> places,
                const at::Tensor& keys) {
  const auto* const at = positions.const_data_ptr<std::int64_t>();
  auto* const key = keys.mutable_data_ptr<Key>();
  std::vector<std::int64_t> firsts(places.size());
  for (std::size_t cell = 0; cell < firsts.size(); ++cell)
    firsts[cell] = cut.first(static_cast<int>(cell % static_cast<std::size_t>(cut.ranks())));
  lanes.visit([&, next = places.data(), first = firsts.data()](std::size_t cell, std::size_t i) {
    key[next[cell]++] = static_cast<Key>(at[i] - first[cell]);
  });
}

Sorted sorted_by_owner(const Lanes& lanes, const at::Tensor& positions, const Cut& cut, int self) {
  const auto ranks = static_cast<std::size_t>(cut.ranks());
  Sorted sorted{{}, std::vector<std::int64_t>(lanes.count() * ranks), {}, 0};
  lanes.visit([counts = sorted.places.data()](std::size_t cell, std::size_t) { ++counts[cell]; });
  auto counts = into_places(sorted.places, ranks, static_cast<std::size_t>(self));
  sorted.own = std::exchange(counts[static_cast<std::size_t>(self)], 0);
  sorted.others = rows_of_ranks(counts);
  const bool small = cut.extent() <= std::numeric_limits<std::int32_t>::max();
  sorted.keys = at::empty({positions.numel()}, small ? at::kInt : at::kLong);
  if (small) write_keys<std::int32_t>(lanes, positions, cut, sorted.places, sorted.keys);
  else write_keys<std::int64_t>(lanes, positions, cut, sorted.places, sorted.keys);
  return sorted;
}

/// Returns the answers in the order of the positions. `arrived` are those of others, then come this rank's `own`.
at::Tensor answers_in_order(const Lanes& lanes, std::span<const std::int64_t> places, const at::Tensor& arrived,
                            const at::Tensor& own) {
  auto shape = arrived.sizes().vec();
  shape[0] += own.size(0);
  const auto result = at::empty(shape, arrived.options());
  if (result.numel() == 0) return result;
  const auto row_bytes = result.nbytes() / static_cast<std::size_t>(shape[0]);
  const auto start = [&](std::int64_t place) {
    const auto others = arrived.size(0);
    const auto& rows = place < others ? arrived : own;
    return static_cast<const std::byte*>(rows.const_data_ptr()) +
           static_cast<std::size_t>(place < others ? place : place - others) * row_bytes;
  };
  std::vector<const std::byte*> next(places.size());
  std::ranges::transform(places, next.begin(), start);
  const auto place_rows = [&](auto bytes) {
    lanes.visit([=, from = next.data(), out = static_cast<std::byte*>(result.data_ptr())](std::size_t cell, auto i) {
      std::memcpy(out + i * bytes, from[cell], bytes);
      from[cell] += bytes;
    });
  };
  // The compiler should know small sizes of a row.
  const auto place_as = [&]<class T>() { place_rows(std::integral_constant<std::size_t, sizeof(T)>()); };
  if (!with_plain_type(static_cast<std::int64_t>(row_bytes), place_as)) place_rows(row_bytes);
  return result;
}

}  // namespace

at::Tensor fetched(const at::Tensor& block, const at::Tensor& positions, const Cut& cut, const Communicator& comm) {
  const auto at = positions.reshape({-1}).contiguous();
  if (comm.size() == 1) return gathered(block, at).cpu();
  const Lanes lanes(at, cut);
  const auto sorted = sorted_by_owner(lanes, at, cut, comm.rank());
  const auto others = at.numel() - sorted.own;
  const auto asking = told(sorted.others, comm);
  const auto asked = exchange_rows(sorted.keys.narrow(0, 0, others), sorted.others, asking, comm);
  const auto arrived = exchange_rows(gathered(block, asked).cpu(), asking, sorted.others, comm);
  const auto own = gathered(block, sorted.keys.narrow(0, others, sorted.own)).cpu();
  return answers_in_order(lanes, sorted.places, arrived, own);
}

}  // namespace heatpp::detail
