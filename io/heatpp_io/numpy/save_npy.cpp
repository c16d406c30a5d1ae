#include <heatpp_io/numpy/save_npy.hpp>

#include <ATen/ATen.h>

#include <heatpp/core/detail/torch.hpp>
#include <heatpp_io/detail/elements/save_array.hpp>
#include <heatpp_io/detail/files/byte_file.hpp>
#include <heatpp_io/numpy/detail/npy_header.hpp>

namespace heatpp::io {
namespace {

constexpr auto op = "save_npy";

detail::Transfer write_array(const detail::SaveJob& job, const DNDarray& x, bool uint64) {
  const auto header = detail::npy_header(x.dtype(), x.shape(), uint64);
  const auto blocks = detail::blocks_of(x);
  std::optional<detail::FileWriter> file;
  all_or_none(x.comm(), [&] {
    file.emplace(job.path, job.shown, op);
    if (x.comm().rank() != 0) return;
    detail::Room(job.path, job.shown, op).reserve(std::ssize(header) + detail::bytes_of(x));
    file->write(0, std::ssize(header), header.data());
  });
  detail::each_run(blocks.layout, blocks.mine, x.comm(), [&](std::int64_t first, const at::Tensor& elements) {
    const auto bytes = elements.element_size();
    file->write(std::ssize(header) + first * bytes, elements.numel() * bytes, elements.const_data_ptr());
  });
  return {false, "independent: each rank writes its rows"};
}

void write_shard(const detail::SaveJob& job, const at::Tensor& rows, bool uint64) {
  const Shape shape(rows.sizes().begin(), rows.sizes().end());
  const auto header = detail::npy_header(heatpp::detail::from_torch(rows.scalar_type()), shape, uint64);
  const detail::FileWriter file(job.path, job.shown, op);
  file.write(0, std::ssize(header), header.data());
  file.write(std::ssize(header), rows.numel() * rows.element_size(), rows.const_data_ptr());
}

}  // namespace

void save_npy(const DNDarray& x, const std::filesystem::path& path, const SaveNpyOptions& options) {
  const detail::Recorder recorder(op);
  detail::check_uint64(options.uint64, x.dtype(), op);
  const detail::NewFile file{op, x.comm(), path, detail::bytes_of(x)};
  const auto write = [&](const detail::SaveJob& job, const at::Tensor& rows) {
    write_shard(job, rows, options.uint64);
  };
  const auto transfer =
      options.shards ? save_shards(file, x, ".npy", write)
                     : save_one(file, [&](const detail::SaveJob& job) { return write_array(job, x, options.uint64); });
  recorder.finish(detail::bytes_of(x), options.shards ? x.comm().size() : 1, transfer);
}

}  // namespace heatpp::io
