#include <heatpp_io/hdf5/stored_rows.hpp>

#include <ATen/ATen.h>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/torch.hpp>
#include <heatpp_io/detail/files/expand.hpp>
#include <heatpp_io/detail/shards/decoded_array.hpp>
#include <heatpp_io/detail/shards/stored_source.hpp>
#include <heatpp_io/detail/shards/openers.hpp>
#include <heatpp_io/hdf5/detail/handle.hpp>

#include <cstring>

namespace heatpp::io {
namespace {

using namespace detail;  // this format consists of them
using heatpp::detail::raise;

constexpr auto op = "StoredRows";
// An HDF5 call costs as much as reading this many more bytes.
constexpr std::int64_t small_gap = std::int64_t{16} << 10;
constexpr std::int64_t staging_bytes = std::int64_t{4} << 20;
constexpr std::size_t open_files = 8;

OpenArray open_array(const std::string& path, const std::string& name) {
  auto opened = open_hdf5(path, name);
  opened.read = watched(std::move(opened.read), path, op);
  return opened;
}

Shards look_into(const Source& source, const std::string& dataset, const OpenShard& open, const Communicator& comm) {
  const Hdf5Turn turn;
  const auto describe = [&](const std::string& path) { return open(path).info; };
  auto shards = inspect({expand(source, comm, op), dataset}, describe, comm, op);
  if (shards.info.shape.empty())
    raise<ValueError>(op, "got an array of shape () in \"{}\"; expected rows", shards.paths[0]);
  return shards;
}

void check_rows(std::span<const std::int64_t> rows, std::int64_t extent) {
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (rows[i] < (i ? rows[i - 1] + 1 : 0) || rows[i] >= extent)
      raise<IndexError>(op, "got row {} at place {}; expected increasing numbers below {}", rows[i], i, extent);
}

}  // namespace

struct StoredRows::Impl {
  Communicator comm;
  Shards shards;
  Dtype dtype;
  std::int64_t row_bytes, row_bytes_stored;
  std::optional<ShardReader> reader = {};

  ~Impl() {
    const Hdf5Turn turn;
    reader.reset();
  }

  /// Whether one call reads `row` together with the rows of `run`.
  [[nodiscard]] bool together(std::span<const std::int64_t> run, std::int64_t row) const {
    const bool next = row == run.back() + 1;
    if (next && row == run.front() + std::ssize(run)) return true;  // needs no staging
    const auto& chunk = shards.info.chunk;
    const auto most = std::max(chunk.empty() ? 1 : chunk[0], staging_bytes / row_bytes_stored);
    const bool near = (row - run.back() - 1) * row_bytes_stored <= small_gap;
    const bool same_chunk = !chunk.empty() && row / chunk[0] == run.back() / chunk[0];
    return (next || near || same_chunk) && row - run.front() < most;
  }

  /// Reads rows first ... first + count - 1 of the whole array.
  void read_run(std::int64_t first, std::int64_t count, const at::Tensor& out) {
    auto box = select(shards.info.shape, {}, op);
    box[0].start = first;
    box[0].count = count;
    const Hdf5Turn turn;  // for one call only, so that other threads do not wait long
    reader->read(box, out);
  }

  void read_with_gaps(std::span<const std::int64_t> rows, const at::Tensor& out) {
    auto extents = out.sizes().vec();
    extents[0] = rows.back() - rows.front() + 1;
    if (extents[0] == std::ssize(rows)) return read_run(rows.front(), extents[0], out);
    const auto staging = at::empty(extents, out.options());
    read_run(rows.front(), extents[0], staging);
    auto* to = static_cast<std::byte*>(out.data_ptr());
    const auto* from = static_cast<const std::byte*>(staging.const_data_ptr());
    for (const auto row : rows) {
      std::memcpy(to, from + (row - rows.front()) * row_bytes, static_cast<std::size_t>(row_bytes));
      to += row_bytes;
    }
  }
};

StoredRows::StoredRows(const Source& source, const std::string& dataset, const StoredRowsOptions& options) {
  const auto& comm = comm_of(options.comm);
  const auto open = opener(open_array, dataset, numbers_for(options.decode), op);
  auto shards = look_into(source, dataset, open, comm);
  const auto stored = shards.info.element.dtype;
  const auto dtype = options.dtype.value_or(stored);
  const auto row = size_of(shards.info.shape) / std::max<std::int64_t>(1, shards.info.shape[0]);
  const auto bytes = [&](Dtype type) { return row * static_cast<std::int64_t>(itemsize(type)); };
  impl_.reset(new Impl{comm, std::move(shards), dtype, bytes(dtype), std::max<std::int64_t>(1, bytes(stored))});
  impl_->reader.emplace(impl_->shards, open, op, open_files);
}

const Shape& StoredRows::shape() const { return impl_->shards.info.shape; }
Dtype StoredRows::dtype() const { return impl_->dtype; }
const Communicator& StoredRows::comm() const { return impl_->comm; }

at::Tensor StoredRows::read(std::span<const std::int64_t> rows) const {
  check_rows(rows, shape()[0]);
  auto extents = shape();
  extents[0] = std::ssize(rows);
  auto out = at::empty(extents, heatpp::detail::to_torch(dtype()));
  for (std::int64_t done = 0; !rows.empty();) {
    std::size_t count = 1;
    while (count < rows.size() && impl_->together(rows.first(count), rows[count])) ++count;
    impl_->read_with_gaps(rows.first(count), out.narrow(0, done, static_cast<std::int64_t>(count)));
    rows = rows.subspan(count);
    done += static_cast<std::int64_t>(count);
  }
  return out;
}

}  // namespace heatpp::io
