#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/element.hpp>
#include <heatpp/core/promotion.hpp>
#include <heatpp_io/detail/files/expand.hpp>
#include <heatpp_io/detail/shards/decoded_array.hpp>
#include <heatpp_io/detail/shards/openers.hpp>
#include <heatpp_io/detail/shards/read.hpp>
#include <heatpp_io/detail/shards/chunk_grid.hpp>
#include <heatpp_io/detail/shards/stored_source.hpp>
#include <heatpp_io/zarr/detail/find_array.hpp>
#include <heatpp_io/zarr/detail/zarr_attributes.hpp>
#include <heatpp_io/zarr/detail/zarr_metadata.hpp>
#include <heatpp_io/zarr/zarr.hpp>

#include <complex>

namespace heatpp::io {
namespace {

using heatpp::detail::raise;

constexpr auto op = "load_zarr";

/// An array whose chunks all threads of a rank read.
struct Stored {
  detail::FoundArray found;
  detail::ZarrArray array;

  void read(const detail::Selection& box, const at::Tensor& out) const {
    constexpr std::size_t at_once = 256;  // limit, because there may be many chunks
    std::vector<detail::ChunkBox> parts;
    const auto read_parts = [&] {
      at::parallel_for(0, std::ssize(parts), 1, [&](std::int64_t begin, std::int64_t end) {
        for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i)
          read_chunk(parts[i], detail::part_of(out, parts[i].where));
      });
      parts.clear();
    };
    detail::each_chunk(box, array.grid, [&](const detail::ChunkBox& part) {
      parts.push_back(part);
      if (parts.size() == at_once) read_parts();
    });
    read_parts();
  }

 private:
  void read_chunk(const detail::ChunkBox& part, const at::Tensor& out) const {
    const auto name = detail::joined_name(found.name, detail::chunk_name(part.place, array.separator, array.prefixed));
    const auto file = found.files->open(name);
    if (!file) return fill(out);
    const auto shown = found.files->shown(name);
    const std::function<void(const at::Tensor&)> fill_in = [this](const at::Tensor& part_of_out) { fill(part_of_out); };
    detail::read_chunk({*file, array.codecs, part.extents, fill_in, {shown, op}}, part.box, out);
  }
  void fill(const at::Tensor& out) const {
    if (array.type.element.may_overflow)
      return detail::copy_uint64(at::full({}, array.fill_whole, at::kLong).expand(out.sizes()), out, found.shown(), op);
    out.copy_(at::full({}, fill_value(), heatpp::detail::to_torch(array.type.element.dtype)));
  }
  [[nodiscard]] at::Scalar fill_value() const {
    const auto dtype = array.type.element.dtype;
    if (dtype < float16) return array.fill_whole;
    const std::complex<double> number(array.fill_real, array.fill_imaginary);
    return heatpp::detail::element_of(is_complex(dtype) ? Scalar(number) : Scalar(number.real()), dtype);
  }
};

/// Whether reading any part of a chunk requires decoding of bytes.
bool is_compressed(const detail::ChunkCodecs& codecs) {
  return !codecs.bytes.empty() || !codecs.filters.empty() ||
         (codecs.sharding && is_compressed(codecs.sharding->codecs));
}

/// Returns the compression of the library that is nearest to a chunk's, or to that of the chunks in shards.
std::optional<Compression> compression_of(const detail::ChunkCodecs& codecs) {
  std::optional<Compression> nearest = codecs.sharding ? compression_of(codecs.sharding->codecs) : std::nullopt;
  bool shuffled = false;
  for (const auto& codec : codecs.bytes) {
    shuffled |= codec.kind == detail::BytesCodec::Kind::shuffled;
    if (codec.kind != detail::BytesCodec::Kind::compressed) continue;
    nearest = detail::nearest_compression(codec.name, codec.level);
    if (shuffled) nearest->shuffle = true;
  }
  return nearest;
}

detail::Shards look_into(const Source& source, const std::string& name, const detail::OpenShard& open,
                         const Communicator& comm) {
  const auto describe = [&](const std::string& path) { return open(path).info; };
  return detail::inspect({detail::expand(source, comm, op), name}, describe, comm, op);
}

}  // namespace

detail::OpenArray detail::open_zarr(const std::string& path, const std::string& name) {
  const auto found = find_array(path, name, op);
  const auto text = found.files->text(found.metadata, op);
  const auto stored = std::make_shared<Stored>(Stored{found, parse_zarray(text, found.shown(), op)});
  auto& array = stored->array;
  // Comes before the returned array: g++ 12 destroys its extents twice if one of its parts throws.
  auto decoding = decoding_of(read_zarr_attributes(*found.files, found.metadata, op).attributes,
                              stored_numbers(array.type), heatpp::detail::formatted("\"{}\"", path), op);
  OpenArray opened{{.shape = array.shape,
                    .element = array.type.element,
                    .chunk = readable_part(array.codecs, array.chunks),
                    .compressed = is_compressed(array.codecs),
                    .compression = compression_of(array.codecs),
                    .may_grow = !array.shape.empty()},
                   [stored](const auto& box, const auto& out) { stored->read(box, out); },
                   std::move(decoding)};
  if (opened.decoding.is_active()) array.type.element.may_overflow = false;  // checked after decoding
  return opened;
}

detail::Annotations detail::zarr_annotations(const std::string& path, const std::string& name) {
  const auto found = find_array(path, name, op);
  return read_zarr_attributes(*found.files, found.metadata, op);
}

std::vector<std::string> detail::zarr_names(const std::string& path) {
  auto names = array_names(open_store(path, op), op);
  if (names.empty()) raise<IoError>(op, "got \"{}\", which has no arrays; expected a Zarr store", path);
  return names;
}

DNDarray load_zarr(const Source& source, const std::string& name, const LoadOptions& options) {
  const detail::Recorder recorder(op);
  const auto open = detail::opener(detail::open_zarr, name, detail::numbers_for(options.decode), op);
  return detail::load_files({op, source, name, open}, options, recorder);
}

Rows zarr_rows(const Source& source, const std::string& name, const StoredRowsOptions& options) {
  const auto& comm = comm_of(options.comm);
  const auto open = detail::opener(detail::open_zarr, name, detail::numbers_for(options.decode), op);
  auto turn = std::make_shared<std::recursive_mutex>();
  return detail::rows_of({"zarr_rows", look_into(source, name, open, comm), open, std::move(turn)}, options);
}

}  // namespace heatpp::io
