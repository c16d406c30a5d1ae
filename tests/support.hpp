#pragma once

#include "agreement.hpp"
#include <heatpp/comm/environment.hpp>
#include <heatpp/core/redistribute.hpp>
#include <heatpp/interop/torch.hpp>

namespace ht = heatpp;

/// Every way to store an array of this shape on the world: replicated, and for each axis cut evenly, unevenly, all on
/// the last rank, and with empty blocks between.
std::vector<ht::Layout> every_layout(const ht::Shape& shape);

/// `global`, which every rank holds, stored under `layout`.
ht::DNDarray distribute(const at::Tensor& global, const ht::Layout& layout);
/// The layout of this shape, cut evenly along `split`.
ht::Layout layout_of(const at::Tensor& x, std::optional<int> split);
/// `x`, which every rank holds, cut evenly along its rows.
ht::DNDarray even(const at::Tensor& x);
/// `x`, which every rank holds, as an array without a split.
ht::DNDarray on_all(const at::Tensor& x);

/// All of `x` on every rank.
at::Tensor gathered(const ht::DNDarray& x);

/// Whether x holds exactly these elements and this dtype, NaN equal to NaN, and a block that fits its layout.
Agreement same(const ht::DNDarray& x, const at::Tensor& expected);
/// Whether x holds these elements up to a relative and absolute tolerance, this dtype, and a block that fits its
/// layout.
Agreement close(const ht::DNDarray& x, const at::Tensor& expected, double tolerance = 1e-12);

/// The message of the error that `f` throws; empty if it throws none.
template <class E, class F>
std::string message_of(F f) {
  try {
    f();
  } catch (const E& error) {
    return error.what();
  }
  return {};
}
