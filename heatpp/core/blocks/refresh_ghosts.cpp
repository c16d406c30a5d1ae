#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/blocks/blocks.hpp>
#include <heatpp/core/blocks/detail/block_access.hpp>
#include <heatpp/core/blocks/detail/parts.hpp>
#include <heatpp/core/detail/alike.hpp>

#include <algorithm>

namespace heatpp {
namespace {

using detail::BlockAccess;

constexpr auto refreshing = "refresh_ghosts";

std::string periodic_text(const std::vector<bool>& periodic) {
  std::string text;
  for (const bool is : periodic) text += text.empty() ? (is ? "true" : "false") : (is ? ", true" : ", false");
  return "{" + text + "}";
}

/// Returns a bit for each axis.
std::uint64_t periodic_axes(const std::vector<bool>& periodic, std::size_t ndim) {
  if (periodic.size() > 1 && periodic.size() != ndim)
    detail::raise<ValueError>(refreshing, "got periodic {} for {} axes; expected one value or one for each",
                              periodic_text(periodic), ndim);
  std::uint64_t bits = 0;
  for (std::size_t axis = 0; axis < ndim && !periodic.empty(); ++axis)
    bits |= std::uint64_t{periodic[periodic.size() == 1 ? 0 : axis]} << axis;
  return bits;
}

/// Returns what moves, found by the first call for these axes.
const detail::GhostPieces& pieces_for(const BlockPlan& plan, std::uint64_t periodic) {
  auto& known = BlockAccess::ghosts(plan);
  if (const auto found = known.find(periodic); found != known.end()) return found->second;
  std::vector<detail::GhostedBrick> mine;
  for (const auto& brick : BlockAccess::bricks(plan)) mine.push_back({brick, BlockAccess::surroundings(plan, brick)});
  auto pieces = detail::ghost_pieces(refreshing, mine, BlockAccess::boxes(plan), plan.layout(), periodic, plan.comm());
  return known.emplace(periodic, std::move(pieces)).first->second;
}

void refresh_parts(const BlockPlan& plan, const GhostOptions& options,
                   const std::function<std::vector<at::Tensor>()>& make) {
  std::vector<at::Tensor> wholes;
  std::uint64_t periodic = 0;
  detail::check_agreed(refreshing, plan.comm(), {{"periodic", periodic_text(options.periodic)}}, [&] {
    periodic = periodic_axes(options.periodic, plan.layout().shape().size());
    wholes = make();
  });
  const auto& pieces = pieces_for(plan, periodic);
  const auto parts = [&](const std::vector<detail::PeerPieces>& peers) {
    detail::Parts all;
    for (const auto& [rank, of_peer] : peers) {
      all.push_back({rank, {}});
      for (const auto& piece : of_peer) all.back().tensors.push_back(BlockAccess::part(plan, wholes, piece));
    }
    return all;
  };
  detail::exchange_parts(parts(pieces.leaving), parts(pieces.arriving), plan.comm());
}

}  // namespace

void refresh_ghosts(std::span<void* const> memory, const BlockPlan& plan, const GhostOptions& options) {
  refresh_parts(plan, options, [&] { return BlockAccess::wholes(refreshing, plan, memory); });
}
void refresh_ghosts(std::span<const at::Tensor> blocks, const BlockPlan& plan, const GhostOptions& options) {
  refresh_parts(plan, options, [&] { return BlockAccess::wholes(refreshing, plan, blocks); });
}

}  // namespace heatpp
