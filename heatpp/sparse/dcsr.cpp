#include <heatpp/sparse/dcsr.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/sparse/detail/impl.hpp>

namespace heatpp::sparse {

const DCSRMatrix::Impl& detail::Access::impl(const DCSRMatrix& a) {
  if (!a.impl_)
    raise<ValueError>("DCSRMatrix", "got a matrix that nothing was assigned to; expected one with elements");
  return *a.impl_;
}

std::int64_t detail::first_row(const DCSRMatrix& a) { return a.split() ? a.layout().offset(a.comm().rank()) : 0; }

void detail::check_square(const char* op, const DCSRMatrix& a) {
  if (a.rows() != a.columns())
    raise<ValueError>(op, "got shape {}; expected a square matrix", heatpp::to_string(a.shape()));
}

DCSRMatrix detail::wrap(CsrBlock block, Layout layout, const Communicator& comm) {
  const auto type = column_type(layout.shape()[1]);
  block.columns = block.columns.to(type).contiguous();
  block.values = block.values.contiguous();
  auto entries = layout.split() ? Layout::from_counts({0}, 0, comm.allgather(block.entries()))
                                : layout.replicated({block.entries()});
  return DCSRMatrix(
      std::make_shared<const DCSRMatrix::Impl>(std::move(block), std::move(layout), std::move(entries), comm));
}

DCSRMatrix detail::with_values(const DCSRMatrix& a, at::Tensor values) {
  const auto& impl = Access::impl(a);
  auto block = impl.block;
  block.values = values.contiguous();
  auto made = std::make_shared<DCSRMatrix::Impl>(std::move(block), impl.layout, impl.entries, impl.comm);
  const std::lock_guard lock(impl.mutex);
  made->plan = impl.plan;
  return DCSRMatrix(std::move(made));
}

using detail::Access;

const Layout& DCSRMatrix::layout() const& { return Access::impl(*this).layout; }
const Communicator& DCSRMatrix::comm() const& { return Access::impl(*this).comm; }
Dtype DCSRMatrix::dtype() const { return heatpp::detail::from_torch(detail::block_of(*this).values.scalar_type()); }
std::int64_t DCSRMatrix::nnz() const { return Access::impl(*this).entries.shape()[0]; }
std::int64_t DCSRMatrix::lnnz() const { return detail::block_of(*this).entries(); }

std::span<const std::int64_t> DCSRMatrix::row_ptr() const& {
  const auto& block = detail::block_of(*this);
  return {block.ptr(), static_cast<std::size_t>(block.row_ptr.numel())};
}

DNDarray DCSRMatrix::column_indices() const {
  const auto& impl = Access::impl(*this);
  return heatpp::detail::wrap(impl.block.columns, impl.entries, impl.comm);
}

DNDarray DCSRMatrix::values() const {
  const auto& impl = Access::impl(*this);
  return heatpp::detail::wrap(impl.block.values, impl.entries, impl.comm);
}

DNDarray DCSRMatrix::row_counts() const {
  const auto& impl = Access::impl(*this);
  return heatpp::detail::wrap(impl.block.row_ptr.diff(), impl.layout.with({rows()}, split()), impl.comm);
}

}  // namespace heatpp::sparse
