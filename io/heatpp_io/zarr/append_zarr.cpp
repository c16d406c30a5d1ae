#include <ATen/ATen.h>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/relayout.hpp>
#include <heatpp/core/detail/torch.hpp>
#include <heatpp_io/detail/files/aside_file.hpp>
#include <heatpp_io/detail/files/expand.hpp>
#include <heatpp_io/detail/formats.hpp>
#include <heatpp_io/stream/detail/growth.hpp>
#include <heatpp_io/zarr/detail/chunk_files.hpp>
#include <heatpp_io/zarr/detail/zarr_metadata.hpp>
#include <heatpp_io/zarr/zarr.hpp>

namespace heatpp::io::detail {
namespace {

using heatpp::detail::raise;
namespace fs = std::filesystem;

/// The metadata of the store, which rank 0 reads; nothing where there is none.
std::string metadata_of(const fs::path& path, const Communicator& comm) {
  std::string text;
  all_or_none(comm, [&] {
    std::error_code ignored;
    if (comm.rank() != 0 || !fs::exists(path, ignored)) return;
    if (!fs::exists(path / ".zarray", ignored))
      raise<IoError>(append_op, "got \"{}\", which has no .zarray; expected a single array of format 2", path.string());
    text = read_file(append_op, path / ".zarray");
  });
  return broadcast_texts({text}, comm)[0];
}

/// `x` behind those rows of the last chunks that are there already.
DNDarray with_last_rows(const DNDarray& x, const fs::path& path, std::int64_t begin, std::int64_t end) {
  if (begin == end) return x;
  const auto rows = end - begin;
  auto shape = x.shape(), old_shape = x.shape();
  shape[0] += rows;
  old_shape[0] = rows;
  const auto old = load_zarr(path, "", {.split = x.split(), .slices = {Slice(begin, end)}, .comm = x.comm()});
  const auto put_together = [&](const Layout& of_old, Layout all) {
    const auto before = heatpp::detail::relayout(old, of_old).to(x.larray().device());
    return heatpp::detail::wrap(at::cat({before, x.larray()}), std::move(all), x.comm());
  };
  if (x.split() != 0) return put_together(x.layout().with(old_shape, x.split()), x.layout().with(shape, x.split()));
  // Rank 0's rows come first.
  std::vector<std::int64_t> first(static_cast<std::size_t>(x.comm().size()) + 1, rows), offsets = first;
  first[0] = offsets[0] = 0;
  for (std::size_t rank = 1; rank < offsets.size(); ++rank) offsets[rank] += x.layout().offset(static_cast<int>(rank));
  return put_together(Layout(old_shape, 0, first), Layout(shape, 0, offsets));
}

}  // namespace

void append_rows_zarr(const DNDarray& x, const fs::path& path, const SaveOptions& options) {
  const auto& comm = x.comm();
  const auto text = metadata_of(path, comm);
  if (text.empty()) return save_zarr(x, path, zarr_options(options));
  const auto array = parse_zarray(text, path / ".zarray", append_op);
  check_growth({path.string(), array.shape, array.type.element.dtype}, x);
  const bool converted = array.type.element.may_overflow || array.type.in_memory != heatpp::detail::to_torch(x.dtype());
  if (array.fortran || array.type.swapped != 1 || converted)
    raise<IoError>(append_op,
                   "got \"{}\" in Fortran order, of numbers in the other byte order, or of unsigned ones that are read "
                   "as {}; expected an array as save_zarr makes",
                   path.string(), name(x.dtype()));
  auto shape = array.shape;
  const auto begin = shape[0] / array.chunks[0] * array.chunks[0];
  write_chunks({.op = append_op,
                .path = path,
                .shown = path.string(),
                .chunks = array.chunks,
                .compression = array.compression,
                .gzip_file = array.gzip_file,
                .separator = array.separator,
                .replace = true},
               with_last_rows(x, path, begin, shape[0]), begin);
  shape[0] += x.shape()[0];
  all_or_none(comm, [&] {
    if (comm.rank() == 0) write_atomically(append_op, path / ".zarray", with_shape(text, shape));
  });
}

}  // namespace heatpp::io::detail
