#include <heatpp/core/detail/cuts/relayout_boxes.hpp>

#include <heatpp/comm/detail/progress/fingerprint.hpp>
#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/blocks/detail/parts.hpp>
#include <heatpp/core/detail/alike.hpp>
#include <heatpp/core/detail/allocated.hpp>
#include <heatpp/core/detail/cuts/boxes.hpp>

namespace heatpp::detail {
namespace {

/// Returns the parts of this rank's block under `here` that meet blocks under `there` and for which keep(rank) holds.
Parts parts_meeting(const at::Tensor& block, const Layout& here, const Layout& there, int me,
                    const std::function<bool(int)>& keep) {
  const auto mine = box_of(here, me);
  Parts parts;
  for_each_owner(there, mine, [&](int rank) {
    const auto both = common(mine, box_of(there, rank));
    if (!both.empty() && keep(rank)) parts.push_back({rank, {part_in_box(block, mine.first, both)}});
  });
  return parts;
}

}  // namespace

at::Tensor relayout_boxes(const DNDarray& x, const Layout& target) {
  const auto& from = x.layout();
  const auto me = x.comm().rank();
  if (!from.is_cut()) return part_in_box(x.larray(), Shape(x.shape().size(), 0), box_of(target, me));
  // A block that goes to all ranks as it is should not be packed for each.
  const auto block = target.is_cut() ? x.larray().cpu() : x.larray().cpu().contiguous();
  const auto result = allocated("regrid", target, block.options(), x.comm(),
                                [&] { return at::empty(target.local_shape(me), block.options()); });
  expect_alike(x.comm(), "regrid",
               [&] { return formatted("{} {} to {}", name(x.dtype()), layout_text(from), layout_text(target)); });
  exchange_parts(
      parts_meeting(block, from, target, me, [&](int taker) { return giver_of(from, me, taker) == me; }),
      parts_meeting(result, target, from, me, [&](int holder) { return giver_of(from, holder, me) == holder; }),
      x.comm());
  return result.to(x.larray().device());
}

}  // namespace heatpp::detail
