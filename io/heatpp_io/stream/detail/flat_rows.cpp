#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/torch.hpp>
#include <heatpp_io/detail/formats.hpp>
#include <heatpp_io/detail/files/byte_file.hpp>
#include <heatpp_io/numpy/detail/npy_header.hpp>
#include <heatpp_io/safetensors/detail/safetensors_header.hpp>
#include <heatpp_io/stream/detail/row_pieces.hpp>

namespace heatpp::io::detail {
namespace {

/// A file that consists of a header and the elements in C order.
struct FlatRows {
  const char* op;
  const RowsToSave& x;
  const std::string& header;
};

Transfer write_flat(const FlatRows& flat, const SaveJob& job) {
  const auto& comm = comm_of(flat.x);
  const auto begin = std::ssize(flat.header);
  const auto row_bytes = bytes_of(flat.x) / std::max<std::int64_t>(1, flat.x.shape[0]);
  std::optional<FileWriter> file;
  all_or_none(comm, [&] {
    file.emplace(job.path, job.shown, flat.op);
    if (comm.rank() != 0) return;
    Room(job.path, job.shown, flat.op).reserve(begin + bytes_of(flat.x));
    file->write(0, begin, flat.header.data());
  });
  each_piece(flat.op, flat.x, 1, [&](std::int64_t first, const DNDarray& piece) {
    const auto blocks = blocks_of(piece);
    all_or_none(comm, [&] {
      const auto at = begin + (first + blocks.layout.offset(comm.rank())) * row_bytes;
      file->write(at, blocks.mine.numel() * blocks.mine.element_size(), blocks.mine.const_data_ptr());
    });
  });
  return {false, "independent: each rank writes its rows"};
}

void save_flat(const FlatRows& flat, const std::filesystem::path& path) {
  const Recorder recorder(flat.op);
  const NewFile file{flat.op, comm_of(flat.x), path, bytes_of(flat.x)};
  recorder.finish(bytes_of(flat.x), 1, save_one(file, [&](const SaveJob& job) { return write_flat(flat, job); }));
}

}  // namespace

void save_rows_npy(const RowsToSave& x, const std::filesystem::path& path, bool uint64) {
  check_uint64(uint64, x.dtype, "save_npy");
  save_flat({"save_npy", x, npy_header(x.dtype, x.shape, uint64)}, path);
}

void save_rows_safetensors(const RowsToSave& x, const std::filesystem::path& path, const SaveOptions& options) {
  check_uint64(options.uint64, x.dtype, "save_safetensors");
  const auto type = options.uint64 ? c10::ScalarType::UInt64 : heatpp::detail::to_torch(x.dtype);
  SafeTensors contents{{{dataset_or_data(options), type, x.shape}}};
  save_flat({"save_safetensors", x, safetensors_header(contents, "save_safetensors")}, path);
}

}  // namespace heatpp::io::detail
