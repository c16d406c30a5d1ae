#include "../support.hpp"

#include <ATen/dlpack.h>
#include <heatpp/core/detail/torch.hpp>
#include <heatpp/interop/dlpack.hpp>
#include <heatpp/interop/mdspan.hpp>
#include <heatpp/interop/torch.hpp>
#include <heatpp/interop/xtensor.hpp>
#include <xtensor/xview.hpp>

#include <memory>
#include <numeric>

namespace {

/// A tensor of another library: 2 x 3 float64 in Fortran order, which counts its deleter's calls.
template <class Managed>
struct Foreign {
  std::vector<double> data{1, 2, 3, 4, 5, 6};
  std::int64_t shape[2] = {2, 3}, strides[2] = {1, 2};
  int freed = 0;
  Managed managed{};

  explicit Foreign(std::uint8_t type = kDLFloat) {
    managed.dl_tensor = {data.data(), {kDLCPU, 0}, 2, {type, 64, 1}, shape, strides, 0};
    managed.manager_ctx = this;
    managed.deleter = [](Managed* self) { ++static_cast<Foreign*>(self->manager_ctx)->freed; };
    if constexpr (std::is_same_v<Managed, DLManagedTensorVersioned>) managed.version = {DLPACK_MAJOR_VERSION, 0};
  }
};

}  // namespace

TEMPLATE_TEST_CASE("DLPack tensors are adopted in place and freed once", "[core][dlpack]", DLManagedTensor,
                   DLManagedTensorVersioned) {
  Foreign<TestType> foreign;
  {
    const auto x = ht::from_dlpack(&foreign.managed, {.split = 0});
    const auto shared = x;
    CHECK(x.shape() == ht::Shape{2 * ht::world().size(), 3});
    CHECK(x.larray().data_ptr() == foreign.data.data());
    CHECK(equals(gathered(x).narrow(0, 0, 2), at::tensor({1., 3., 5., 2., 4., 6.}, at::kDouble).reshape({2, 3})));
    CHECK(foreign.freed == 0);
  }
  CHECK(foreign.freed == 1);
}

TEMPLATE_TEST_CASE("a DLPack tensor that one rank cannot adopt is an error on all, and freed", "[core][dlpack]",
                   DLManagedTensor, DLManagedTensorVersioned) {
  const bool odd = ht::world().rank() == ht::world().size() - 1;
  Foreign<TestType> foreign(odd ? kDLOpaqueHandle : kDLFloat);
  CHECK_THROWS_AS(ht::from_dlpack(&foreign.managed, {.split = 0}), ht::TypeError);
  CHECK(foreign.freed == 1);
  if (ht::world().size() == 1) return;
  Foreign<TestType> narrow;
  if (odd) narrow.shape[1] = 2;
  CHECK_THROWS_AS(ht::from_dlpack(&narrow.managed, {.split = 0}), ht::ValueError);
  CHECK(narrow.freed == 1);
}

TEMPLATE_TEST_CASE("DLPack tensors begin at their offset, and strides that LibTorch cannot read are errors",
                   "[core][dlpack]", DLManagedTensor, DLManagedTensorVersioned) {
  Foreign<TestType> foreign, backward;
  foreign.managed.dl_tensor.byte_offset = sizeof(double);
  foreign.shape[1] = 2;
  {
    const auto x = ht::from_dlpack(&foreign.managed, {.split = 0});
    CHECK(x.larray().data_ptr() == foreign.data.data() + 1);
    CHECK(equals(gathered(x).narrow(0, 0, 2), at::tensor({2., 4., 3., 5.}, at::kDouble).reshape({2, 2})));
    CHECK(foreign.managed.dl_tensor.data == foreign.data.data());
  }
  CHECK(foreign.freed == 1);
  if (ht::world().rank() == 0) backward.strides[0] = -1;
  CHECK_THROWS_AS(ht::from_dlpack(&backward.managed, {.split = 0}), ht::ValueError);
  CHECK(backward.freed == 1);
}

TEMPLATE_TEST_CASE("DLPack tensors on other devices, and of sizes that there are not, are errors, and freed once",
                   "[core][dlpack]", DLManagedTensor, DLManagedTensorVersioned) {
  const auto refused = [](auto change) {
    Foreign<TestType> foreign;
    if (ht::world().rank() == 0) change(foreign.managed.dl_tensor);
    CHECK_THROWS_AS(ht::from_dlpack(&foreign.managed, {.split = 0}), ht::ValueError);
    CHECK(foreign.freed == 1);
  };
  for (const auto device : {kDLOpenCL, kDLMetal}) refused([&](DLTensor& tensor) { tensor.device = {device, 0}; });
  refused([](DLTensor& tensor) { tensor.device = {kDLCUDA, 999}; });
  refused([](DLTensor& tensor) { tensor.ndim = -1; });
  refused([](DLTensor& tensor) { tensor.strides[0] = tensor.strides[1] = std::int64_t{1} << 62; });
  refused([](DLTensor& tensor) {
    tensor.shape[0] = tensor.shape[1] = std::int64_t{1} << 40;
    tensor.strides = nullptr;
  });
}

TEST_CASE("read-only DLPack tensors give and come from arrays that are not writable", "[core][dlpack]") {
  Foreign<DLManagedTensorVersioned> constant, later;
  if (ht::world().rank() == 0) constant.managed.flags = DLPACK_FLAG_BITMASK_READ_ONLY;
  later.managed.version.major = DLPACK_MAJOR_VERSION + 1;

  const auto x = ht::from_dlpack(&constant.managed, {.split = 0});

  CHECK_FALSE(x.is_writable());
  CHECK(x.larray().data_ptr() == constant.data.data());
  CHECK_THROWS_AS(ht::to_dlpack(x), ht::ValueError);
  auto* const again = ht::to_dlpack_versioned(x);
  CHECK(again->flags == DLPACK_FLAG_BITMASK_READ_ONLY);
  again->deleter(again);
  CHECK_THROWS_AS(ht::from_dlpack(&later.managed, {.split = 0}), ht::TypeError);
  CHECK(later.freed == 1);
}

TEST_CASE("DLPack tensors keep the memory they were made of", "[core][dlpack]") {
  auto x = std::make_unique<ht::DNDarray>(ht::arange(5, {.dtype = ht::int32, .split = 0}));
  const auto* memory = x->larray().const_data_ptr();
  auto* const old = ht::to_dlpack(*x);
  auto* const versioned = ht::to_dlpack_versioned(*x);
  const auto count = x->lshape()[0];
  x.reset();
  for (const auto* tensor : {&old->dl_tensor, &versioned->dl_tensor}) {
    CHECK(tensor->data == memory);
    CHECK(tensor->shape[0] == count);
    CHECK(tensor->dtype.bits == 32);
    if (count > 0) CHECK(static_cast<const std::int32_t*>(tensor->data)[count - 1] >= count - 1);
  }
  const auto back = ht::from_dlpack(old, {.split = 0});  // it takes ownership
  versioned->deleter(versioned);
  CHECK(same(back, at::arange(5, at::kInt)));
}

TEST_CASE("strided memory is adopted in place, in Fortran order too", "[core][mdspan]") {
  std::vector<float> field(24);
  std::iota(field.begin(), field.end(), 24.0f * static_cast<float>(ht::world().rank()));
  auto fortran = ht::StridedView<float, 2>::fortran_order(field.data(), {3, 4});
  // This views every other row of a matrix of 4 x 6.
  const ht::StridedView<float, 2> rows(field.data(), {2, 6}, {12, 1});

  const auto x = ht::from_local(fortran, {.split = 1});
  const auto y = ht::from_local(rows, {.split = 0});
  fortran(2, 3) = -1;

  CHECK(x.shape() == ht::Shape{3, 4 * ht::world().size()});
  CHECK(gathered(x)[2][3].item<float>() == -1);
  CHECK(gathered(x)[1][2].item<float>() == 7);
  CHECK(gathered(y)[1][0].item<float>() == 12);
  CHECK(&ht::local_view<float, 2>(x)(1, 2) == &fortran(1, 2));
  CHECK(ht::local_view<float, 2>(y).stride(0) == 12);
  CHECK(same(ht::resplit(x, 0), gathered(x)));
}

TEST_CASE("views that do not fit are errors", "[core][mdspan]") {
  std::vector<float> field(6);
  const bool odd = ht::world().rank() == 0;
  const ht::StridedView<float, 1> view(field.data() + 5, {6}, {odd ? -1 : 0});
  CHECK_THROWS_AS(ht::from_local(view, {.split = 0}), ht::ValueError);
  const auto huge = std::int64_t{1} << 62;
  CHECK_THROWS_AS(ht::from_local(field.data(), {2, 2}, {huge, odd ? huge : 1}, ht::float32), ht::ValueError);
  CHECK_THROWS_AS(ht::from_local(field.data(), {odd ? huge : 1}, ht::float32, {.split = 0}), ht::ValueError);
  const auto x = ht::ones({3, 2}, {.split = 0});
  CHECK_THROWS_AS((ht::local_view<float, 1>(x)), ht::ValueError);
  CHECK_THROWS_AS((ht::local_view<double, 2>(x)), ht::TypeError);
}

TEST_CASE("blocks with elements in the same memory are not writable, on all ranks if on one", "[core][mdspan]") {
  std::vector<float> field(8);
  const bool odd = ht::world().rank() == ht::world().size() - 1;
  const auto is_writable = [&](const ht::Shape& shape, const ht::Shape& strides) {
    return ht::from_local(field.data(), shape, strides, ht::float32, {.split = 0}).is_writable();
  };
  CHECK_FALSE(is_writable({2}, {odd ? 0 : 1}));
  CHECK_FALSE(is_writable({2, 2}, {odd ? 1 : 2, 1}));
  CHECK(is_writable({1, 2}, {0, 1}));
  CHECK(is_writable({2, 0}, {0, 0}));
  CHECK(is_writable({2, 2}, {1, 4}));
  CHECK_FALSE(ht::from_local(at::ones({1}).expand({4}), {.split = 0}).is_writable());
}

TEST_CASE("tensors are adopted without their gradients, sparse ones not at all", "[core]") {
  const auto leaf = at::ones({2}, at::requires_grad());
  const auto x = ht::from_local(leaf, {.split = 0});
  CHECK_FALSE(x.larray().requires_grad());
  CHECK(x.larray().data_ptr() == leaf.data_ptr());
  CHECK_THROWS_AS(ht::from_local(at::eye(2).to_sparse(), {.split = 0}), ht::TypeError);
  CHECK_THROWS_AS(ht::from_tensor(at::eye(2).to_sparse()), ht::TypeError);
}

TEST_CASE("any mdspan is a view", "[core][mdspan]") {
  struct Mdspan {
    double* data;
    static constexpr std::size_t rank() { return 2; }
    [[nodiscard]] double* data_handle() const { return data; }
    [[nodiscard]] std::size_t extent(std::size_t axis) const { return axis + 2; }
    [[nodiscard]] std::size_t stride(std::size_t axis) const { return axis == 0 ? 1 : 2; }
  };
  std::vector<double> field{0, 1, 2, 3, 4, 5};
  const ht::StridedView<double, 2> view(Mdspan{field.data()});
  CHECK(view(1, 2) == 5);
  CHECK(view.extent(1) == 3);
}

TEST_CASE("xtensor expressions become arrays in one pass", "[core][xtensor][host]") {
  const auto global = at::arange(15, at::kDouble).reshape({5, 3});
  for (const auto& layout : every_layout({5, 3})) {
    const auto x = distribute(global, layout);
    const auto a = ht::as_xtensor<double>(x);
    const auto y = ht::from_expression(xt::sqrt(a) + 1.0, x);
    CHECK(close(y, global.sqrt() + 1));
    CHECK(y.layout() == layout);
    CHECK(same(ht::from_expression(a > 3.0, x), global > 3));
  }
}

TEST_CASE("xtensor containers of any strides are adopted in place", "[core][xtensor]") {
  xt::xtensor<double, 2, xt::layout_type::column_major> columns{{0, 1, 2}, {10, 11, 12}};
  auto odd = xt::view(columns, xt::all(), xt::range(1, 3));
  auto backward = xt::view(columns, xt::all(), xt::range(2, 0, -1));

  const auto x = ht::from_xtensor(columns, {.split = 0});
  const auto y = ht::from_xtensor(odd, {.split = 0});

  CHECK(equals(gathered(x).narrow(0, 0, 2), at::tensor({0., 1., 2., 10., 11., 12.}, at::kDouble).reshape({2, 3})));
  CHECK(equals(gathered(y).narrow(0, 0, 2), at::tensor({1., 2., 11., 12.}, at::kDouble).reshape({2, 2})));
  CHECK(y.larray().data_ptr() == &columns(0, 1));
  CHECK_THROWS_AS(ht::from_xtensor(backward, {.split = 0}), ht::ValueError);
}

TEST_CASE("xtensor expressions are not assigned to read-only arrays", "[core][xtensor]") {
  Foreign<DLManagedTensorVersioned> constant;
  constant.managed.flags = DLPACK_FLAG_BITMASK_READ_ONLY;
  constant.managed.dl_tensor.strides = nullptr;
  auto x = ht::from_dlpack(&constant.managed, {.split = 0});
  CHECK_THROWS_AS(ht::assign(x, ht::as_xtensor<double>(x) + 1.0), ht::ValueError);
  CHECK(constant.data[0] == 1);
}
