#include <heatpp/linalg/products/detail/contract.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/alike.hpp>
#include <heatpp/core/detail/relayout.hpp>
#include <heatpp/core/promotion.hpp>
#include <heatpp/linalg/products/detail/gemm.hpp>

#include <ATen/TensorUtils.h>
#include <algorithm>
#include <functional>

namespace heatpp::detail {
namespace {

using Labels = std::vector<int>;
using Poll = std::function<void()>;  // empty if no message is under way

/// The labels of a product of matrices: (batch, rows, inner) by (batch, inner, columns) gives (batch, rows, columns).
struct Groups {
  Labels batch, rows, inner, columns;

  Groups(const Labelled& a, const Labelled& b, const Labels& out) {
    for (const auto label : out) (a.has(label) ? b.has(label) ? batch : rows : columns).push_back(label);
    for (const auto label : a.labels)
      if (std::ranges::find(out, label) == out.end()) inner.push_back(label);
  }
};

/// A block with its axes in the order of three groups of labels, and the shape that merges each group.
struct Grouped {
  at::Tensor block;
  std::array<std::int64_t, 3> shape;
};

Grouped group(const at::Tensor& block, const Labels& labels, std::initializer_list<const Labels*> groups) {
  std::vector<std::int64_t> order;
  Grouped grouped{{}, {1, 1, 1}};
  std::size_t i = 0;
  for (const auto* members : groups) {
    for (const auto label : *members) {
      order.push_back(std::ranges::find(labels, label) - labels.begin());
      grouped.shape[i] *= block.size(order.back());
    }
    ++i;
  }
  grouped.block = block.permute(order);
  return grouped;
}

at::Tensor matrices(const at::Tensor& block, const Labels& labels, std::initializer_list<const Labels*> groups) {
  const auto grouped = group(block, labels, groups);
  return grouped.block.reshape(grouped.shape);
}

/// How matrices are multiplied.
struct Multiplying {
  bool panels;
  const Poll& poll;
};

void multiply_piece(at::Tensor c, const at::Tensor& a, const at::Tensor& b, bool accumulate) {
  if (c.numel() == 1) {
    const auto product = at::dot(a.reshape(-1), b.reshape(-1));
    if (accumulate) c.add_(product);
    else c.fill_(product);
  } else if (accumulate) c.addmm_(a, b);
  else at::mm_out(c, a, b);
}

/// Multiplies in pieces, and looks at the messages under way after each. Pieces are cut along the summed axis as far as
/// possible, because a product rearranges its whole operands, which pieces of rows would repeat.
void multiply_matrix(const at::Tensor& c, const at::Tensor& a, const at::Tensor& b, bool accumulate, const Poll& poll) {
  if (!poll) return multiply_piece(c, a, b, accumulate);
  constexpr auto products = std::int64_t{1} << 31;  // tens of milliseconds
  constexpr std::int64_t least_depth = 512, least_rows = 2048;
  const auto at_once = [](std::int64_t least, std::int64_t one) {
    return std::max(least, products / std::max<std::int64_t>(1, one));
  };
  const auto depth = at_once(least_depth, c.numel()),
             rows = at_once(least_rows, std::min(depth, a.size(1)) * c.size(1));
  for (std::int64_t k = 0; k == 0 || k < a.size(1); k += depth)
    for (std::int64_t row = 0; row < c.size(0); row += rows) {
      multiply_piece(c.slice(0, row, row + rows), a.slice(0, row, row + rows).slice(1, k, k + depth),
                     b.slice(0, k, k + depth), accumulate || k > 0);
      poll();
    }
}

/// Computes c = a * b, or c += a * b, for stacks of matrices.
void multiply(at::Tensor c, const at::Tensor& a, const at::Tensor& b, bool accumulate, const Multiplying& by) {
  if (a.size(2) == 1) {  // no sum: infinite complex numbers are multiplied as elementwise
    if (accumulate) c.addcmul_(a, b);
    else at::mul_out(c, a, b);
    return;
  }
  if (c.size(0) != 1) {
    if (accumulate) c.baddbmm_(a, b);
    else at::bmm_out(c, a, b);
    return;
  }
  if (by.panels && fits_panels(c[0], a[0], b[0])) multiply_by_panels(c[0], a[0], b[0], accumulate, by.poll);
  else multiply_matrix(c[0], a[0], b[0], accumulate, by.poll);
}

struct Operands {
  Labelled a, b;  ///< labels and layouts
  at::Tensor left, right;
  bool panels;
};

/// Multiplies blocks of two labelled arrays into blocks of the result.
class Multiplier {
 public:
  Multiplier(const Operands& x, const Labels& out)
      : a_(x.a.labels), b_(x.b.labels), out_(out), groups_(x.a, x.b, out), panels_(x.panels) {}

  void operator()(const at::Tensor& c, const at::Tensor& a, const at::Tensor& b, bool accumulate,
                  const Poll& poll) const {
    const auto left = matrices(a, a_, {&groups_.batch, &groups_.rows, &groups_.inner});
    const auto right = matrices(b, b_, {&groups_.batch, &groups_.inner, &groups_.columns});
    const Multiplying by{panels_, poll};
    const auto target = group(c, out_, {&groups_.batch, &groups_.rows, &groups_.columns});
    if (at::detail::computeStride(target.block.sizes(), target.block.strides(), at::IntArrayRef(target.shape)))
      return multiply(target.block.view(target.shape), left, right, accumulate, by);
    const auto product = at::empty(target.shape, c.options());
    multiply(product, left, right, false, by);
    const auto unfolded = product.view(target.block.sizes());
    if (accumulate) target.block.add_(unfolded);
    else target.block.copy_(unfolded);
  }

 private:
  const Labels &a_, &b_, &out_;
  Groups groups_;
  bool panels_;
};

/// Returns indices [first, first + count) of a block along a label; the whole block if it has no such axis.
at::Tensor part(const at::Tensor& block, const Labels& labels, int label, const Layout& cut, int rank) {
  const auto axis = std::ranges::find(labels, label);
  return axis == labels.end() ? block : block.narrow(axis - labels.begin(), cut.offset(rank), cut.count(rank));
}

/// Calls use(rank, block, poll) for every rank's block of `mine`, while blocks go round the ring.
template <class Use>
void rotate(const at::Tensor& mine, const Layout& layout, const Communicator& comm, Use use) {
  const auto ranks = comm.size(), right = (comm.rank() + 1) % ranks, left = (comm.rank() + ranks - 1) % ranks;
  auto current = mine.cpu().contiguous();
  for (int step = 0; step < ranks; ++step) {
    const auto owner = (comm.rank() + step) % ranks;
    at::Tensor next;
    Request sending, receiving;
    Poll poll;
    if (step + 1 < ranks) {
      next = at::empty(layout.local_shape((owner + 1) % ranks), current.options());
      receiving = comm.ireceive(buffer_of(next), right);
      sending = comm.isend(buffer_of(current), left);
      poll = [&] { static_cast<void>(receiving.test() && sending.test()); };
    }
    use(owner, current.to(mine.device()), poll);
    receiving.wait();
    sending.wait();
    current = std::move(next);
  }
}

at::Tensor run_rotate(const Operands& x, const Labels& out, const Plan& plan, const Communicator& comm) {
  const Multiplier multiplier(x, out);
  const auto result = at::empty(plan.result.local_shape(comm.rank()), x.left.options());
  if (!plan.b.split()) {
    multiplier(result, x.left, x.right, false, {});
    return result;
  }
  const auto label = *x.b.split_label();
  const bool summed = std::ranges::find(out, label) == out.end();
  bool accumulate = false;
  rotate(x.right, plan.b, comm, [&](int owner, const at::Tensor& block, const Poll& poll) {
    if (plan.b.count(owner) == 0) return;
    multiplier(part(result, out, label, plan.b, owner), part(x.left, x.a.labels, label, plan.b, owner), block,
               accumulate, poll);
    accumulate = summed;
  });
  if (summed && !accumulate) result.zero_();
  return result;
}

/// Each block of the result collects the ranks' parts on its way round the ring and ends on its owner.
at::Tensor run_reduce_scatter(const Operands& x, const Labels& out, const Plan& plan, const Communicator& comm) {
  const Multiplier multiplier(x, out);
  const auto ranks = comm.size(), right = (comm.rank() + 1) % ranks, left = (comm.rank() + ranks - 1) % ranks;
  const auto label = out[static_cast<std::size_t>(*plan.result.split())];
  at::Tensor block, sent;
  Request sending;
  for (int step = 1; step <= ranks; ++step) {
    const auto target = (comm.rank() + ranks - step) % ranks;
    const auto shape = plan.result.local_shape(target);
    Request receiving;
    at::Tensor arriving;
    Poll poll;
    if (step > 1) {
      arriving = at::empty(shape, x.left.options().device(at::kCPU));
      receiving = comm.ireceive(buffer_of(arriving), left);
      poll = [&] { static_cast<void>(receiving.test() && sending.test()); };
    }
    block = at::empty(shape, x.left.options());
    multiplier(block, part(x.left, x.a.labels, label, plan.result, target), x.right, false, poll);
    receiving.wait();
    if (step > 1) block.add_(arriving.to(block.device()));
    sending.wait();
    if (step == ranks) break;
    sent = block.cpu();
    sending = comm.isend(buffer_of(sent), right);
  }
  return block;
}

at::Tensor run_local(const Operands& x, const Labels& out, const Plan& plan, const Communicator& comm) {
  auto result = at::empty(plan.result.local_shape(comm.rank()), x.left.options());
  Multiplier(x, out)(result, x.left, x.right, false, {});
  return result;
}

at::Tensor run_allreduce(const Operands& x, const Labels& out, const Plan& plan, const Communicator& comm) {
  const auto result = run_local(x, out, plan, comm).cpu();
  comm.allreduce(buffer_of(result));
  return result.to(x.left.device());
}

at::Tensor run(const Operands& x, const Labels& out, const Plan& plan, const Communicator& comm) {
  if (plan.way == Plan::Way::local) return run_local(x, out, plan, comm);
  if (plan.way == Plan::Way::rotate) return run_rotate(x, out, plan, comm);
  return plan.result.split() ? run_reduce_scatter(x, out, plan, comm) : run_allreduce(x, out, plan, comm);
}

/// Returns the number of multiplications of the product on all ranks.
double multiplications(const Labelled& a, const Labelled& b) {
  auto count = static_cast<double>(a.array.size());
  for (const auto label : b.labels)
    if (!a.has(label)) count *= static_cast<double>(b.extent(label));
  return count;
}

Dtype dtype_to_compute_in(Dtype dtype) {
  return dtype == bool_ || dtype == float16 || dtype == bfloat16 ? float32 : dtype;
}

}  // namespace

DNDarray contract(const char* op, const Labelled& a, const Labelled& b, const Labels& out,
                  const ContractOptions& options) {
  const auto& comm = a.array.comm();
  check_same_comm(op, comm, b.array.comm());
  check_same_device(op, a.array, b.array);
  for (const auto* operand : {&a, &b}) expect_alike(op, operand->array);
  const auto dtype = promote_types(a.array.dtype(), b.array.dtype());
  const auto computed = dtype_to_compute_in(dtype);
  Labelled first{a.array.astype(computed), a.labels}, second{b.array.astype(computed), b.labels};
  const auto plan = make_plan(first, second, out, options.along_a);
  if (plan.swapped) std::swap(first, second);
  auto left = relayout_operand(op, first.array, plan.a, comm), right = relayout_operand(op, second.array, plan.b, comm);
  const auto device = left.device();
  if (is_whole(computed)) left = left.cpu(), right = right.cpu();  // LibTorch multiplies them only on the CPU
  const bool panels = computed == float32 && left.is_cpu() && prefers_panels(comm, multiplications(first, second));
  auto result = run({first, second, left, right, panels}, out, plan, comm);
  return wrap(dtype == bool_ ? result.ne(0) : result.to(device, to_torch(dtype)), plan.result, comm);
}

}  // namespace heatpp::detail
