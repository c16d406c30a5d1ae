#include <ATen/ATen.h>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/element.hpp>
#include <heatpp/core/promotion.hpp>
#include <heatpp_io/detail/codecs/codecs.hpp>
#include <heatpp_io/detail/elements/flat_array.hpp>
#include <heatpp_io/detail/files/aside_file.hpp>
#include <heatpp_io/detail/files/expand.hpp>
#include <heatpp_io/detail/files/inflate.hpp>
#include <heatpp_io/detail/shards/openers.hpp>
#include <heatpp_io/detail/shards/read.hpp>
#include <heatpp_io/detail/shards/chunk_grid.hpp>
#include <heatpp_io/detail/shards/stored_source.hpp>
#include <heatpp_io/zarr/detail/zarr_attributes.hpp>
#include <heatpp_io/zarr/detail/zarr_metadata.hpp>
#include <heatpp_io/zarr/zarr.hpp>

#include <algorithm>

namespace heatpp::io {
namespace {

using heatpp::detail::formatted;
using heatpp::detail::raise;
namespace fs = std::filesystem;

constexpr auto op = "load_zarr";

bool is_there(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

/// The file with the metadata of the array in a directory; empty where there is none.
fs::path metadata_in(const fs::path& directory) {
  if (is_there(directory / ".zarray")) return directory / ".zarray";
  const auto path = directory / "zarr.json";
  return is_there(path) && detail::is_zarr_array(detail::read_file(op, path.string())) ? path : fs::path();
}

/// The file with the metadata of the array.
fs::path find_array(const fs::path& store, const std::string& name) {
  if (!is_there(store))
    raise<FileNotFoundError>(op, "got \"{}\", which cannot be found; expected the directory of a Zarr store",
                             store.string());
  const auto metadata = metadata_in(name.empty() ? store : store / name);
  if (!metadata.empty()) return metadata;
  std::vector<fs::path> found;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(store, ignored))
    if (auto inside = metadata_in(entry.path()); !inside.empty()) found.push_back(std::move(inside));
  if (name.empty() && found.size() == 1) return found[0];
  std::ranges::sort(found);
  std::string listing;
  for (const auto& path : found)
    listing += formatted("{}\"{}\"", listing.empty() ? "" : ", ", path.parent_path().filename().string());
  raise<IoError>(op, "got no Zarr array \"{}\" in \"{}\", which has {}; expected one", name, store.string(),
                 listing.empty() ? "none" : listing);
}

/// An array whose chunks are opened one after the other.
struct Store {
  fs::path path;
  detail::ZarrArray array;

  void read(const detail::Selection& box, const at::Tensor& out) const {
    detail::each_chunk(box, array.chunks, [&](const detail::ChunkPart& part) {
      auto place = out;
      for (std::size_t i = 0; i < part.where.size(); ++i)
        place = place.narrow(static_cast<std::int64_t>(i), part.where[i].start, part.where[i].count);
      read_chunk(part, place);
    });
  }

 private:
  void read_chunk(const detail::ChunkPart& part, const at::Tensor& out) const {
    const auto name = chunk_path(part);
    if (!is_there(name)) return fill(out);
    detail::FileReader file(name, op);
    const auto bytes = size_of(array.chunks) * array.type.bytes;
    const detail::FlatArray chunk{array.type, array.chunks, array.fortran};
    if (array.compression && array.compression->codec != Codec::gzip) return read_block(file, chunk, part, out);
    if (array.compression) {
      detail::InflateReader inflated(file, {0, file.size(), bytes, detail::DeflateFormat::zlib_or_gzip}, name, op);
      return detail::read_flat({inflated, chunk, name, op}, part.box, out);
    }
    if (file.size() != bytes)
      raise<IoError>(op, "got chunk \"{}\" of {} bytes; expected {} for shape {}", name, file.size(), bytes,
                     heatpp::to_string(array.chunks));
    detail::read_flat({file, chunk, name, op}, part.box, out);
  }
  /// Of a codec that gives all bytes at once.
  void read_block(detail::FileReader& file, const detail::FlatArray& chunk, const detail::ChunkPart& part,
                  const at::Tensor& out) const {
    const auto bytes = static_cast<std::size_t>(size_of(array.chunks) * array.type.bytes);
    const auto name = chunk_path(part);
    std::vector<std::byte> stored(static_cast<std::size_t>(file.size())), elements(bytes);
    file.read(0, file.size(), stored.data());
    if (!detail::block_codec(array.compression->codec)->decompress(stored, elements))
      raise<IoError>(op, "got chunk \"{}\", which is damaged; expected {} bytes of {} that give {}", name,
                     stored.size(), detail::name_of(array.compression->codec), bytes);
    detail::MemoryReader reader(elements);
    detail::read_flat({reader, chunk, name, op}, part.box, out);
  }
  [[nodiscard]] std::string chunk_path(const detail::ChunkPart& part) const {
    return (path / detail::chunk_name(part.place, array.separator, array.prefixed)).string();
  }
  void fill(const at::Tensor& out) const {
    if (array.type.element.may_overflow && array.fill_whole < 0) detail::raise_overflow(path.string(), op);
    out.copy_(at::full({}, fill_value(), heatpp::detail::to_torch(array.type.element.dtype)));
  }
  [[nodiscard]] at::Scalar fill_value() const {
    const auto dtype = array.type.element.dtype;
    if (dtype < float16) return array.fill_whole;
    const std::complex<double> number(array.fill_real, array.fill_imaginary);
    return heatpp::detail::element_of(is_complex(dtype) ? Scalar(number) : Scalar(number.real()), dtype);
  }
};

detail::Shards look_into(const Source& source, const std::string& name, const Communicator& comm) {
  const auto describe = [&](const std::string& path) { return detail::open_zarr(path, name).info; };
  return detail::inspect({detail::expand(source, comm, op), name}, describe, comm, op);
}

}  // namespace

detail::OpenArray detail::open_zarr(const std::string& path, const std::string& name) {
  const auto metadata = find_array(path, name);
  const auto text = detail::read_file(op, metadata.string());
  const auto store =
      std::make_shared<Store>(Store{metadata.parent_path(), detail::parse_zarray(text, metadata.string(), op)});
  const auto& array = store->array;
  return {{.shape = array.shape,
           .element = array.type.element,
           .chunk = array.chunks,
           .compressed = array.compression.has_value()},
          [store](const auto& box, const auto& out) { store->read(box, out); }};
}

detail::Annotations detail::zarr_annotations(const std::string& path, const std::string& name) {
  return read_zarr_attributes(find_array(path, name), op);
}

std::vector<std::string> detail::zarr_names(const std::string& path) {
  if (!is_there(path))
    raise<FileNotFoundError>(op, "got \"{}\", which cannot be found; expected the directory of a Zarr store", path);
  if (!metadata_in(path).empty()) return {""};
  std::vector<std::string> names;
  for (auto entry = fs::recursive_directory_iterator(path); entry != fs::recursive_directory_iterator(); ++entry) {
    if (!entry->is_directory() || metadata_in(entry->path()).empty()) continue;
    names.push_back(fs::relative(entry->path(), path).string());
    entry.disable_recursion_pending();  // chunks
  }
  if (names.empty()) raise<IoError>(op, "got \"{}\", which has no arrays; expected a Zarr store", path);
  std::ranges::sort(names);
  return names;
}

DNDarray load_zarr(const Source& source, const std::string& name, const LoadOptions& options) {
  const detail::Recorder recorder(op);
  const auto& comm = comm_of(options.comm);
  const auto open = [&](const std::string& path) { return detail::open_zarr(path, name); };
  const auto shards = look_into(source, name, comm);
  const auto box = detail::select(shards.info.shape, options.slices, op);
  return detail::load_array({op, shards, box, comm, open}, options, recorder);
}

Rows zarr_rows(const Source& source, const std::string& name, const StoredRowsOptions& options) {
  const auto& comm = comm_of(options.comm);
  const auto open = [name](const std::string& path) { return detail::open_zarr(path, name); };
  auto turn = std::make_shared<std::recursive_mutex>();
  return detail::rows_of({"zarr_rows", look_into(source, name, comm), open, std::move(turn)}, options);
}

}  // namespace heatpp::io
