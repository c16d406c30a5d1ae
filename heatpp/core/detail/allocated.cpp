#include <heatpp/core/detail/allocated.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/cuts/count_runs.hpp>
#include <heatpp/core/detail/host/threads.hpp>

namespace heatpp::detail {
namespace {

constexpr std::int64_t large_bytes = std::int64_t{64} << 20;

std::int64_t largest_block(const Layout& layout) {
  auto shape = layout.shape();
  if (layout.is_cut())
    for (int axis = 0; axis < layout.ndim(); ++axis)
      shape[static_cast<std::size_t>(axis)] = most_indices(layout.cut_along(axis));
  return size_of(shape);
}

}  // namespace

at::Tensor block_or_error(const char* op, const Shape& shape, const std::function<at::Tensor()>& make) {
  try {
    return make();
  } catch (const std::exception& error) {
    const auto* const known = dynamic_cast<const Error*>(&error);
    if (known && known->kind() != ErrorKind::memory) throw;
    const std::string_view text = error.what();
    raise<MemoryError>(op, "got no memory for a block of shape {} ({}); expected enough", to_string(shape),
                       text.substr(0, text.find('\n')));
  }
}

at::Tensor allocated(const char* op, const Layout& layout, at::TensorOptions options, const Communicator& comm,
                     const std::function<at::Tensor()>& make) {
  take_host_threads();
  at::Tensor block;
  const auto work = [&] { block = block_or_error(op, layout.local_shape(comm.rank()), make); };
  const auto item = static_cast<std::int64_t>(options.dtype().itemsize());
  if (largest_block(layout) < large_bytes / item) work();
  else all_or_none(comm, work);
  return block;
}

}  // namespace heatpp::detail
