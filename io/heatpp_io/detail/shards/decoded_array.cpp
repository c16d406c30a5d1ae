#include <heatpp_io/detail/shards/decoded_array.hpp>

#include <ATen/ATen.h>

#include <heatpp/core/detail/torch.hpp>
#include <heatpp/core/promotion.hpp>
#include <heatpp_io/detail/elements/decoded_numbers.hpp>
#include <heatpp_io/detail/elements/pieces.hpp>
#include <heatpp_io/detail/shards/chunk_grid.hpp>

#include <algorithm>

namespace heatpp::io::detail {
namespace {

using heatpp::detail::to_torch;

// A decoded piece should still be in the cache when it is copied to its place.
constexpr std::int64_t staging_bytes = std::int64_t{4} << 20;
constexpr std::int64_t largest_row = std::int64_t{64} << 20;

class Decoder {
 public:
  Decoder(const OpenArray& stored, Decoding decoding, const std::string& path, const char* op)
      : read_(stored.read),
        chunk_(stored.info.chunk),
        decoding_(std::move(decoding)),
        type_(to_torch(decoding_.stored.element.dtype)),
        bytes_(
            static_cast<std::int64_t>(std::max(itemsize(decoding_.stored.element.dtype), itemsize(decoding_.dtype)))),
        path_(path),
        op_(op) {}

  void operator()(const Selection& box, const at::Tensor& out) const {
    if (out.numel() == 0) return;
    if (out.scalar_type() == type_ && decoding_.dtype == decoding_.stored.element.dtype && !decoding_.is_turned())
      return read_in_place(box, out);
    if (is_cut_by_chunks(box)) return read_by_chunks(box, out);
    const auto flat = out.view({-1});
    for (const auto& piece : plan_pieces(extents(box), staging_bytes / bytes_, cuts_of(box)))
      read_piece(narrow(box, piece.first, piece.count), flat.narrow(0, piece.offset, piece.size).view(piece.count));
  }

 private:
  void read_in_place(const Selection& box, const at::Tensor& out) const {
    read_(box, out);
    for (const auto& part : out.view({-1}).split(staging_bytes / bytes_))
      static_cast<void>(decoded_numbers(decoding_, part, path_, op_));
  }

  void read_piece(const Selection& box, const at::Tensor& out) const {
    const auto stored = at::empty(out.sizes(), type_);
    read_(box, stored);
    out.copy_(decoded_numbers(decoding_, stored, path_, op_));
  }

  /// Whether a row of chunks needs too much memory.
  [[nodiscard]] bool is_cut_by_chunks(const Selection& box) const {
    if (chunk_.empty() || box.empty()) return false;
    auto row = extents(box);
    row[0] = std::min(row[0], chunk_[0]);
    return size_of(row) * bytes_ > largest_row;
  }
  void read_by_chunks(const Selection& box, const at::Tensor& out) const {
    each_chunk(box, chunk_, [&](const ChunkBox& part) {
      auto place = out;
      auto inside = box;
      for (std::size_t i = 0; i < part.where.size(); ++i) {
        const auto axis = static_cast<int>(i);
        place = place.narrow(axis, part.where[i].start, part.where[i].count);
        inside = narrow(std::move(inside), axis, part.where[i].start, part.where[i].count);
      }
      read_piece(inside, place);
    });
  }
  [[nodiscard]] CutAt cuts_of(const Selection& box) const {
    if (chunk_.empty() || box.empty()) return {};
    const auto unit = std::max<std::int64_t>(1, chunk_[0] / box[0].step);
    return {unit, box[0].step == 1 ? box[0].start % unit : 0};
  }

  BoxReader read_;
  Shape chunk_;
  Decoding decoding_;
  at::ScalarType type_;
  std::int64_t bytes_;
  std::string path_;
  const char* op_;
};

/// Whether the numbers are unsigned, without a dtype in the library, and have decoding attributes.
bool is_widened(const Decoding& decoding) {
  return decoding.stored.is_unsigned && decoding.stored.bytes > 1 && !decoding.applied.empty();
}

/// Returns an array of uint64 as int64 with the same bits.
OpenArray with_bits(OpenArray stored) {
  stored.read = [read = std::move(stored.read)](const Selection& box, const at::Tensor& out) {
    read(box, out.view(at::kUInt64));
  };
  stored.info.element = {int64};
  return stored;
}

Numbers possible(const Decoding& decoding, Numbers numbers) {
  return numbers == Numbers::to_copy && is_widened(decoding) && decoding.stored.bytes == 8 ? Numbers::meant : numbers;
}

/// Converts a number of the file's unsigned type to the signed one with the same bits.
void turn(Attribute& number, std::int64_t bytes) {
  if (auto* whole = std::get_if<std::int64_t>(&number); whole && *whole >> (8 * bytes - 1) == 1)
    *whole -= std::int64_t{1} << (8 * bytes);
}

}  // namespace

OpenArray with_numbers(OpenArray stored, Numbers wanted, const std::string& path, const char* op) {
  const auto numbers = possible(stored.decoding, wanted);
  auto decoding = numbers == Numbers::meant ? stored.decoding : undecoded(stored.decoding);
  stored.info.digest = stored.decoding.digest;
  if (wanted == Numbers::to_copy && stored.info.element.may_overflow && stored.decoding.applied.empty())
    return with_bits(std::move(stored));
  if (numbers == Numbers::to_copy && is_widened(stored.decoding)) {
    stored.info.element = {whole_dtype(stored.decoding.stored.bytes, false)};
    return stored;
  }
  if (!stored.decoding.is_active()) return stored;
  stored.info.element = decoding.element();
  if (decoding.is_active() || decoding.element().may_overflow)
    stored.read = Decoder(stored, std::move(decoding), path, op);
  return stored;
}

OpenShard opener(OpenNamed open, const std::string& name, Numbers numbers, const char* op) {
  return [=](const std::string& path) { return with_numbers(open(path, name), numbers, path, op); };
}

Attributes attributes_left(Attributes said, const Decoding& decoding, Numbers wanted) {
  const auto numbers = possible(decoding, wanted);
  if (numbers == Numbers::meant)
    for (const auto& name : decoding.applied) said.erase(name);
  else if (decoding.dtype == bool_ && !decoding.applied.empty()) said.erase("dtype");
  if (numbers != Numbers::to_copy || !is_widened(decoding)) return said;
  if (const auto fill = said.find("_FillValue"); fill != said.end()) turn(fill->second, decoding.stored.bytes);
  said.erase("_Unsigned");
  if (decoding.is_unsigned) said.emplace("_Unsigned", "true");
  return said;
}

}  // namespace heatpp::io::detail
