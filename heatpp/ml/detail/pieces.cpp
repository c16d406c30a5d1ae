#include <heatpp/ml/detail/pieces.hpp>

#include <ATen/Parallel.h>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/relayout.hpp>
#include <heatpp/core/detail/simd.hpp>
#include <heatpp/core/promotion.hpp>

#include <bit>
#include <exception>
#include <limits>

namespace heatpp::ml::detail {
namespace {

using heatpp::detail::raise;

constexpr std::int64_t piece_bytes = 1 << 18, most_rows = 4096;  // a part of the second-level cache

std::int64_t rows_of_piece(const Rows& rows) {
  const auto row_bytes = rows.features() * static_cast<std::int64_t>(itemsize(working_dtype(rows)));
  return std::clamp<std::int64_t>(piece_bytes / std::max<std::int64_t>(1, row_bytes), 32, most_rows);
}

#define HEATPP_FINITE(T, Bits, exponent)                                                    \
  HEATPP_SIMD bool all_finite(const T* data, std::int64_t n) {                              \
    Bits bad = 0;                                                                           \
    for (std::int64_t i = 0; i < n; ++i)                                                    \
      bad |= (std::bit_cast<Bits>(data[i]) & (exponent)) == (exponent) ? Bits{1} : Bits{0}; \
    return bad == 0;                                                                        \
  }
HEATPP_FINITE(float, std::uint32_t, 0x7F800000U)
HEATPP_FINITE(double, std::uint64_t, 0x7FF0000000000000U)
#undef HEATPP_FINITE

}  // namespace

void in_order(std::int64_t count, const std::function<void(std::int64_t i, int thread)>& f) {
  std::vector<std::exception_ptr> errors(threads());
  at::parallel_for(0, count, 1, [&](std::int64_t begin, std::int64_t end) {
    const auto thread = at::get_thread_num();
    try {
      for (auto i = begin; i < end; ++i) f(i, thread);
    } catch (...) {
      errors[static_cast<std::size_t>(thread)] = std::current_exception();
    }
  });
  for (const auto& error : errors)
    if (error) std::rethrow_exception(error);
}

std::size_t threads() { return static_cast<std::size_t>(at::get_num_threads()); }

Dtype working_dtype(const Rows& rows) { return inexact_type(rows.dtype()) == float64 ? float64 : float32; }

void for_blocks(const Rows& rows, const VisitBlock& f) {
  const auto type = heatpp::detail::to_torch(working_dtype(rows));
  const auto height = rows_of_piece(rows);
  rows.pass([&](std::int64_t first, const at::Tensor& block) {
    const auto n = block.size(0);
    in_order((n + height - 1) / height, [&](std::int64_t i, int thread) {
      const auto piece = block.slice(0, i * height, std::min(n, (i + 1) * height));
      f(piece.to(at::kCPU, type).contiguous(), first + i * height, thread);
    });
  });
}

Totals::Totals(std::size_t numbers, ReduceOp op) : numbers_(numbers), stride_(numbers + 8), op_(op) {
  values_.assign(threads() * stride_, op == ReduceOp::max ? -std::numeric_limits<double>::infinity() : 0.0);
}

std::vector<double> Totals::over_ranks(const Rows& rows, const std::optional<Communicator::Failure>& failure) {
  std::vector<double> total(values_.begin(), values_.begin() + static_cast<std::ptrdiff_t>(numbers_));
  for (std::size_t t = 1; t < threads(); ++t)
    for (std::size_t i = 0; i < numbers_; ++i) {
      const auto value = values_[t * stride_ + i];
      total[i] = op_ == ReduceOp::max ? std::max(total[i], value) : total[i] + value;
    }
  total.push_back(failure ? 1 : 0);
  if (rows.distributed()) rows.comm().allreduce(total, op_);
  if (total.back() > 0) rows.comm().agree(failure);
  total.pop_back();
  return total;
}

template <class T>
void check_finite(const char* op, const Rows& rows, const Piece<T>& piece, Missing missing) {
  if (all_finite(piece.data, piece.rows * piece.features)) return;
  for (std::int64_t i = 0; i < piece.rows; ++i)
    for (std::int64_t j = 0; j < piece.features; ++j)
      if (const auto x = piece.row(i)[j]; std::isinf(x) || (std::isnan(x) && missing == Missing::refused))
        raise<ValueError>(op, "got {} in row {}, column {}; expected finite numbers{}", x,
                          rows.first() + piece.first + i, j, missing == Missing::refused ? "" : " or NaN");
}
template void check_finite(const char*, const Rows&, const Piece<float>&, Missing);
template void check_finite(const char*, const Rows&, const Piece<double>&, Missing);

at::Tensor beside_rows(const char* op, const char* what, const Rows& rows, const DNDarray& x) {
  if (x.shape() != Shape{rows.size()})
    raise<ValueError>(op, "got {} of shape {} for {} rows; expected one number for each", what, to_string(x.shape()),
                      rows.size());
  const auto target = rows.layout().with({rows.size()}, rows.layout().split());
  return heatpp::detail::relayout_operand(op, x, target, rows.comm()).to(at::kCPU, at::kDouble).contiguous();
}

std::optional<at::Tensor> weights_beside(const char* op, const Rows& rows, const std::optional<DNDarray>& weights) {
  if (!weights) return std::nullopt;
  auto mine = beside_rows(op, "weights", rows, *weights);
  Totals sums(2);
  auto own = sums.of(0);
  const auto* w = mine.const_data_ptr<double>();
  for (std::int64_t i = 0; i < mine.numel(); ++i) {
    own[0] += w[i];
    if (!(w[i] >= 0) || !std::isfinite(w[i])) own[1] += 1;
  }
  const auto total = sums.over_ranks(rows);
  if (total[1] > 0 || !(total[0] > 0))
    raise<ValueError>(op,
                      "got {} weights that are negative or not finite, and a sum of {}; expected none, and more than 0",
                      total[1], total[0]);
  return mine;
}

at::Tensor fetch_rows(const Rows& rows, std::span<const std::int64_t> positions) {
  auto found = at::zeros({std::ssize(positions), rows.features()}, at::kDouble);
  const auto failure = heatpp::detail::failure_of([&] {
    for (std::size_t i = 0; i < positions.size(); ++i) {
      const auto local = positions[i] - rows.first();
      if (local >= 0 && local < rows.count()) found[static_cast<std::int64_t>(i)].copy_(rows.read(local, 1)[0]);
    }
  });
  sum_over_ranks(rows, found, failure);
  return found;
}

void sum_over_ranks(const Rows& rows, at::Tensor& sum, const std::optional<Communicator::Failure>& failure) {
  auto packed = at::cat({sum.flatten(), at::full({1}, failure ? 1.0 : 0.0, at::kDouble)});
  if (rows.distributed()) rows.comm().allreduce(heatpp::detail::buffer_of(packed));
  if (packed[-1].item<double>() > 0) rows.comm().agree(failure);
  sum.copy_(packed.slice(0, 0, -1).reshape(sum.sizes()));
}

DNDarray mapped(const Rows& rows, std::int64_t columns, const std::function<at::Tensor(const at::Tensor& block)>& f) {
  auto result = at::empty({rows.count(), columns}, heatpp::detail::to_torch(working_dtype(rows)));
  const auto work = [&] {
    for_blocks(rows, [&](const at::Tensor& block, std::int64_t first, int) {
      result.slice(0, first, first + block.size(0)).copy_(f(block));
    });
  };
  if (rows.in_memory()) work();
  else all_or_none(rows.comm(), work);
  return as_rows(rows, result);
}

DNDarray as_rows(const Rows& rows, const at::Tensor& block) {
  Shape shape(block.sizes().begin(), block.sizes().end());
  shape[0] = rows.size();
  return heatpp::detail::wrap(block, rows.layout().with(shape, rows.layout().split()), rows.comm());
}

DNDarray replicated(const at::Tensor& value, Dtype dtype, const Communicator& comm) {
  const Shape shape(value.sizes().begin(), value.sizes().end());
  return heatpp::detail::wrap(value.to(heatpp::detail::to_torch(dtype)).contiguous(),
                              Layout(shape, std::nullopt, comm.size()), comm);
}

void check_features(const char* op, const Rows& rows, std::int64_t expected) {
  if (rows.features() != expected)
    raise<ValueError>(op, "got {} features; expected the {} of the fit", rows.features(), expected);
}

void check_not_empty(const char* op, const Rows& rows) {
  if (rows.size() < 1 || rows.features() < 1)
    raise<ValueError>(op, "got {} rows of {} features; expected at least one of each", rows.size(), rows.features());
}

}  // namespace heatpp::ml::detail
