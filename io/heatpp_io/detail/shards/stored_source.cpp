#include <heatpp_io/detail/shards/stored_source.hpp>

#include <ATen/ATen.h>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/torch.hpp>
#include <heatpp/core/promotion.hpp>

#include <filesystem>
#include <future>

namespace heatpp::io::detail {
namespace {

using heatpp::detail::raise;

constexpr std::int64_t stretch_bytes = std::int64_t{4} << 20, most_bytes = std::int64_t{64} << 20;
constexpr std::size_t open_files = 8;

class MatrixSource final : public StoredSource {
 public:
  MatrixSource(StoredMatrix matrix, std::int64_t first, Dtype dtype, std::int64_t row_bytes, std::int64_t chunk)
      : StoredSource(first, row_bytes, chunk),
        matrix_(std::move(matrix)),
        dtype_(dtype),
        reader_(std::in_place, matrix_.shards, matrix_.open, matrix_.op, open_files) {}
  ~MatrixSource() override {
    const std::lock_guard lock(*matrix_.turn);
    reader_.reset();
  }

  [[nodiscard]] at::Tensor read(std::int64_t begin, std::int64_t count) const override {
    auto box = select(matrix_.shards.info.shape, {}, matrix_.op);
    box[0].start = first() + begin;
    box[0].count = count;
    auto block = at::empty({count, box[1].count}, heatpp::detail::to_torch(dtype_));
    const std::lock_guard lock(*matrix_.turn);
    reader_->read(box, block);
    return block;
  }

 private:
  StoredMatrix matrix_;
  Dtype dtype_;
  mutable std::optional<ShardReader> reader_;
};

}  // namespace

StoredSource::StoredSource(std::int64_t first, std::int64_t row_bytes, std::int64_t chunk) : first_(first) {
  const auto bytes = std::max<std::int64_t>(1, row_bytes);
  chunk_ = chunk > 1 && chunk <= most_bytes / bytes ? chunk : 1;
  most_ = std::max({std::int64_t{1}, stretch_bytes / bytes, chunk_});
}

/// Returns the number of rows from `begin` on that are read at once: all that are left, or up to the end of a chunk.
std::int64_t StoredSource::stretch(std::int64_t begin, std::int64_t count) const {
  const auto end = begin + most_;
  return end >= count ? count - begin : (first_ + end) / chunk_ * chunk_ - first_ - begin;
}

void StoredSource::pass(std::int64_t count, std::int64_t, const Visit& f) const {
  const auto ahead = [&](std::int64_t begin) {
    return std::async(std::launch::async, [=, this] { return read(begin, stretch(begin, count)); });
  };
  if (count == 0) return;
  auto next = ahead(0);
  for (std::int64_t begin = 0; begin < count;) {
    const auto block = next.get();
    const auto end = begin + block.size(0);
    if (end < count) next = ahead(end);
    f(begin, block);
    begin = end;
  }
}

Layout layout_of_rows(const char* op, const Shape& shape, Dtype dtype, const Communicator& comm) {
  if (shape.size() != 2)
    raise<ValueError>(op, "got a stored array of shape {}; expected (samples, features)", to_string(shape));
  if (is_complex(dtype)) raise<TypeError>(op, "got a stored array of {}; expected real numbers", name(dtype));
  return Layout(shape, 0, comm.size());
}

Rows rows_of(StoredMatrix matrix, const StoredRowsOptions& options) {
  const auto& comm = comm_of(options.comm);
  const auto& info = matrix.shards.info;
  const auto dtype = options.dtype.value_or(info.element.dtype);
  const auto layout = layout_of_rows(matrix.op, info.shape, dtype, comm);
  const auto row_bytes = info.shape[1] * static_cast<std::int64_t>(itemsize(dtype));
  const auto chunk = info.chunk.empty() ? 1 : info.chunk[0];
  return Rows(std::make_shared<MatrixSource>(std::move(matrix), layout.offset(comm.rank()), dtype, row_bytes, chunk),
              layout, dtype, comm);
}

BoxReader watched(BoxReader read, const std::string& path, const char* op) {
  const auto expected = std::filesystem::file_size(path);
  return [read = std::move(read), path, op, expected](const Selection& box, const at::Tensor& out) {
    read(box, out);
    std::error_code ignored;
    if (const auto bytes = std::filesystem::file_size(path, ignored); bytes < expected)
      raise<IoError>(op, "got \"{}\" with {} bytes; expected {}, as when it was opened", path, bytes, expected);
  };
}

}  // namespace heatpp::io::detail
