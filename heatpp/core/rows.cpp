#include <heatpp/core/rows.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/torch.hpp>
#include <heatpp/core/promotion.hpp>
#include <heatpp/core/redistribute.hpp>

#include <algorithm>

namespace heatpp {
namespace {

constexpr std::int64_t stretch_bytes = 4 << 20;

class ArrayRows final : public RowSource {
 public:
  explicit ArrayRows(DNDarray x) : x_(std::move(x)) {}
  [[nodiscard]] at::Tensor read(std::int64_t first, std::int64_t count) const override {
    return x_.larray().slice(0, first, first + count);
  }
  void pass(std::int64_t count, std::int64_t, const Visit& f) const override {
    if (count > 0) f(0, x_.larray());
  }

 private:
  DNDarray x_;
};

class MadeRows final : public RowSource {
 public:
  explicit MadeRows(Rows::Read read) : read_(std::move(read)) {}
  [[nodiscard]] at::Tensor read(std::int64_t first, std::int64_t count) const override { return read_(first, count); }

 private:
  Rows::Read read_;
};

DNDarray by_samples(const DNDarray& x) {
  if (x.ndim() != 2)
    detail::raise<ValueError>("Rows", "got an array of shape {}; expected (samples, features)", to_string(x.shape()));
  if (is_complex(x.dtype()))
    detail::raise<TypeError>("Rows", "got an array of {}; expected real numbers", name(x.dtype()));
  const auto here = x.to_device(cpu);  // estimators read them on the CPU
  return here.layout().is_grid() || here.split() == 1 ? resplit(here, 0) : here;
}

Layout of_counts(std::int64_t count, std::int64_t features, const Communicator& comm) {
  const auto counts = comm.allgather(count);
  if (std::ranges::min(counts) < 0 || features < 0)
    detail::raise<ValueError>("Rows", "got {} rows of {} features; expected no negative numbers",
                              detail::tuple_text(counts), features);
  return Layout::from_counts({0, features}, 0, counts);
}

void check_block(const at::Tensor& block, std::int64_t count, std::int64_t features) {
  if (block.dim() != 2 || block.size(0) != count || block.size(1) != features)
    detail::raise<ValueError>("Rows", "got a block of shape {} from the source; expected ({}, {})",
                              detail::tuple_text(block.sizes()), count, features);
}

}  // namespace

void RowSource::pass(std::int64_t count, std::int64_t features, const Visit& f) const {
  const auto stretch = std::max<std::int64_t>(1, stretch_bytes / (8 * std::max<std::int64_t>(1, features)));
  for (std::int64_t first = 0; first < count; first += stretch) f(first, read(first, std::min(stretch, count - first)));
}

Rows::Rows(const DNDarray& x) : layout_({0, 0}, std::nullopt, 1), dtype_(x.dtype()), comm_(x.comm()), in_memory_(true) {
  auto mine = by_samples(x);
  layout_ = mine.layout();
  source_ = std::make_shared<ArrayRows>(std::move(mine));
}

Rows::Rows(std::int64_t count, std::int64_t features, Read read, const RowsOptions& options)
    : source_(std::make_shared<MadeRows>(std::move(read))),
      layout_(of_counts(count, features, comm_of(options.comm))),
      dtype_(options.dtype),
      comm_(comm_of(options.comm)) {}

Rows::Rows(std::shared_ptr<const RowSource> source, Layout layout, Dtype dtype, const Communicator& comm)
    : source_(std::move(source)), layout_(std::move(layout)), dtype_(dtype), comm_(comm) {
  if (layout_.ndim() != 2 || layout_.split() == 1)
    detail::raise<ValueError>("Rows", "got shape {}, {}; expected two axes, split 0 or none",
                              to_string(layout_.shape()), to_string(layout_.split()));
}

at::Tensor Rows::read(std::int64_t first, std::int64_t count) const {
  auto block = source_->read(first, count);
  check_block(block, count, features());
  return block;
}

void Rows::pass(const RowSource::Visit& f) const {
  source_->pass(count(), features(), [&](std::int64_t first, const at::Tensor& block) {
    check_block(block, block.dim() > 0 ? block.size(0) : 0, features());
    f(first, block);
  });
}

}  // namespace heatpp
