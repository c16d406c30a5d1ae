#pragma once

#include "agreement.hpp"
#include <heatpp/comm/environment.hpp>
#include <heatpp/core/redistribute.hpp>
#include <heatpp/interop/torch.hpp>

namespace ht = heatpp;

/// Returns the layouts for an array of this shape on the world: replicated, and for each axis cut evenly, unevenly,
/// with all on the last rank, and with empty blocks in between.
std::vector<ht::Layout> every_layout(const ht::Shape& shape);

/// Returns `global`, which every rank holds, stored under `layout`.
ht::DNDarray distribute(const at::Tensor& global, const ht::Layout& layout);
/// Returns the layout for the shape of `x`, cut evenly along `split`.
ht::Layout layout_of(const at::Tensor& x, std::optional<int> split);
/// Returns `x`, which every rank holds, cut evenly along its rows.
ht::DNDarray even(const at::Tensor& x);
/// Returns `x`, which every rank holds, as an array without a split.
ht::DNDarray on_all(const at::Tensor& x);

/// Returns all of `x` on every rank.
at::Tensor gathered(const ht::DNDarray& x);

/// Whether x holds exactly these elements and this dtype, NaN equal to NaN, and a block that fits its layout.
Agreement same(const ht::DNDarray& x, const at::Tensor& expected);
/// Whether x holds these elements up to a relative and absolute tolerance, this dtype, and a block that fits its
/// layout.
Agreement close(const ht::DNDarray& x, const at::Tensor& expected, double tolerance = 1e-12);

/// Do equals and near_to for all of `x`, and check that the block of this rank fits the layout. A difference also names
/// the rank and the layout.
Agreement equals(const ht::DNDarray& x, const at::Tensor& expected);
Agreement near_to(const ht::DNDarray& x, const at::Tensor& expected, double relative = 1e-5, double absolute = 1e-8);

/// Returns the message of the error that `f` throws; empty if it throws none.
template <class E, class F>
std::string message_of(F f) {
  try {
    f();
  } catch (const E& error) {
    return error.what();
  }
  return {};
}
