#include <heatpp/linalg/products/detail/contract.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/alike.hpp>
#include <heatpp/core/detail/relayout.hpp>
#include <heatpp/core/promotion.hpp>
#include <heatpp/linalg/products/detail/gemm.hpp>
#include <heatpp/linalg/products/detail/multiplier.hpp>
#include <heatpp/linalg/products/detail/summa.hpp>

#include <algorithm>
#include <numeric>

namespace heatpp::detail {
namespace {

using Labels = std::vector<int>;

struct Operands {
  Labelled a, b;  ///< labels and layouts
  at::Tensor left, right;
  bool panels;

  [[nodiscard]] Multiplier multiplier(const Labels& out) const { return {a.labels, b.labels, out, panels}; }
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
  const auto multiplier = x.multiplier(out);
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
  const auto multiplier = x.multiplier(out);
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
  x.multiplier(out)(result, x.left, x.right, false, {});
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

/// Brings the operands to their layouts, which is counted.
Operands brought(const char* op, const Labelled& a, const Labelled& b, const Layout& to_a, const Layout& to_b) {
  const auto& comm = a.array.comm();
  auto left = relayout_operand(op, a.array, to_a, comm), right = relayout_operand(op, b.array, to_b, comm);
  // LibTorch multiplies whole numbers only on the CPU.
  if (is_whole(a.array.dtype())) left = left.cpu(), right = right.cpu();
  const bool panels = a.array.dtype() == float32 && left.is_cpu() && prefers_panels(comm, multiplications(a, b));
  return {a, b, left, right, panels};
}

/// A block of a product, and its layout.
struct Product {
  at::Tensor block;
  Layout layout;
};

Product product_of_cuts(const char* op, Labelled a, Labelled b, const Labels& out, const ContractOptions& options) {
  const auto plan = make_plan(a, b, out, options.along_a);
  if (plan.swapped) std::swap(a, b);
  return {run(brought(op, a, b, plan.a, plan.b), out, plan, a.array.comm()), plan.result};
}

/// Returns the array with one more axis, of one element, along which products are then summed.
Labelled with_unit_axis(const Labelled& x, int label) {
  auto shape = x.array.shape();
  std::vector<int> axes(shape.size());
  std::iota(axes.begin(), axes.end(), 0);
  shape.push_back(1);
  axes.push_back(-1);
  Labelled more{wrap(x.array.larray().unsqueeze(-1), x.array.layout().along(shape, axes), x.array.comm()), x.labels};
  more.labels.push_back(label);
  return more;
}

Product product_on_grid(const char* op, Labelled a, Labelled b, const Labels& out) {
  constexpr int unit = -1;  // no label of an axis
  if (LabelGroups(a.labels, b.labels, out).inner.empty()) a = with_unit_axis(a, unit), b = with_unit_axis(b, unit);
  const auto plan = make_grid_plan({a.array.layout(), a.labels}, {b.array.layout(), b.labels}, out);
  if (plan.swapped) std::swap(a, b);
  const auto x = brought(op, a, b, plan.a, plan.b);
  return {multiply_on_grid({x.left, {plan.a, a.labels}}, {x.right, {plan.b, b.labels}}, out, x.multiplier(out), plan,
                           a.array.comm()),
          plan.result};
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
  const Labelled first{a.array.astype(computed), a.labels}, second{b.array.astype(computed), b.labels};
  const bool on_grid = a.array.layout().is_grid() || b.array.layout().is_grid();
  const auto [block, layout] =
      on_grid ? product_on_grid(op, first, second, out) : product_of_cuts(op, first, second, out, options);
  const auto device = a.array.larray().device();
  return wrap(dtype == bool_ ? block.ne(0) : block.to(device, to_torch(dtype)), layout, comm);
}

}  // namespace heatpp::detail
