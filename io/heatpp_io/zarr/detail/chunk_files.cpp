#include <ATen/ATen.h>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/relayout.hpp>
#include <heatpp_io/detail/codecs/codecs.hpp>
#include <heatpp_io/detail/elements/rows.hpp>
#include <heatpp_io/detail/files/aside_file.hpp>
#include <heatpp_io/detail/files/byte_file.hpp>
#include <heatpp_io/detail/shards/chunk_grid.hpp>
#include <heatpp_io/zarr/detail/chunk_files.hpp>
#include <heatpp_io/zarr/detail/zarr_metadata.hpp>

#include <fcntl.h>

namespace heatpp::io::detail {
namespace {

void write_file(const ChunkFiles& files, const std::string& name, Block bytes) {
  const auto path = files.path / name;
  std::error_code ignored;
  if (files.replace && std::filesystem::exists(path, ignored))
    return write_atomically(files.op, path, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  std::filesystem::create_directories(path.parent_path(), ignored);  // of chunks "3/1"; writing tells of errors
  static_cast<void>(Descriptor(path, O_CREAT | O_WRONLY | O_TRUNC));
  FileWriter(path, files.shown, files.op).write(0, std::ssize(bytes), bytes.data());
}

void write_chunk(const ChunkFiles& files, const std::string& name, const at::Tensor& chunk) {
  const auto bytes = static_cast<std::size_t>(chunk.numel() * chunk.element_size());
  const Block block(static_cast<const std::byte*>(chunk.const_data_ptr()), bytes);
  if (!files.compression) return write_file(files, name, block);
  const auto& [codec, level] = *files.compression;
  const auto* const blocks = files.gzip_file ? &gzip_file_blocks : block_codec(codec);
  const auto packed = blocks->compress(block, level, static_cast<int>(chunk.element_size()));
  if (!packed)
    heatpp::detail::raise<ValueError>(files.op,
                                      "got a chunk of {} bytes, which {} does not compress; expected smaller chunks",
                                      bytes, name_of(codec));
  write_file(files, name, *packed);
}

/// A block that begins at `first`, where a chunk does, and ends where one does or the array.
void write_block(const ChunkFiles& files, const Shape& first, const at::Tensor& block) {
  const Shape extents(block.sizes().begin(), block.sizes().end());
  each_chunk(select(extents, {}, files.op), files.chunks, [&](const ChunkPart& part) {
    auto values = block;
    auto chunk = at::zeros(files.chunks, block.options());
    auto inside = chunk;
    auto place = part.place;
    for (std::size_t i = 0; i < part.where.size(); ++i) {
      const auto axis = static_cast<std::int64_t>(i);
      values = values.narrow(axis, part.where[i].start, part.where[i].count);
      inside = inside.narrow(axis, 0, part.where[i].count);
      place[i] += first[i] / files.chunks[i];
    }
    inside.copy_(values);
    write_chunk(files, chunk_name(place, files.separator), chunk);
  });
}

}  // namespace

void write_chunks(const ChunkFiles& files, const DNDarray& x, std::int64_t begin) {
  const auto& comm = x.comm();
  if (x.ndim() == 0)
    return all_or_none(comm, [&] {
      if (comm.rank() == 0) write_block(files, {}, x.larray().to(at::kCPU));
    });
  Shape first(x.shape().size(), 0);
  first[0] = begin;
  const auto split = static_cast<std::size_t>(x.split().value_or(0));
  const auto chunks_along = [&](std::size_t i) { return (x.shape()[i] + files.chunks[i] - 1) / files.chunks[i]; };
  if (chunks_along(split) >= std::min<std::int64_t>(comm.size(), chunks_along(0))) {
    const auto cut = x.split() ? x.layout() : Layout(x.shape(), 0, comm.size());
    const auto layout = between_chunks(cut, files.chunks[split]);
    const auto block = heatpp::detail::relayout(x, layout).to(at::kCPU);
    first[split] += layout.offset(comm.rank());
    all_or_none(comm, [&] { write_block(files, first, block); });
  } else {
    const auto write = [&](std::int64_t row, const at::Tensor& rows) {
      first[0] = begin + row;
      write_block(files, first, rows);
    };
    each_rows(x.layout(), x.larray().to(at::kCPU).contiguous(), comm, write, files.chunks[0]);
  }
}

}  // namespace heatpp::io::detail
