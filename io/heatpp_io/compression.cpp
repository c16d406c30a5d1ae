#include <heatpp_io/compression.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp_io/detail/codecs/codecs.hpp>

#include <algorithm>
#include <array>
#include <charconv>

namespace heatpp::io {
namespace {

using heatpp::detail::formatted;
using heatpp::detail::raise;

struct Levels {
  Codec codec;
  std::string_view name;
  int least, usual, most;
  std::string_view package;
};

/// In the same order as Codec.
constexpr std::array all{
    Levels{Codec::gzip, "gzip", 0, 4, 9, "zlib1g-dev"}, Levels{Codec::zstd, "zstd", 1, 3, 22, "libzstd-dev"},
    Levels{Codec::lz4, "lz4", 1, 1, 1, "liblz4-dev"}, Levels{Codec::blosc, "blosc", 0, 5, 9, "libblosc-dev"}};

const Levels& levels_of(Codec codec) { return all.at(static_cast<std::size_t>(codec)); }

}  // namespace

Compression::Compression(std::string_view text) : codec(Codec::gzip), level(0) {
  const auto colon = std::min(text.find(':'), text.size());
  const auto* found = std::ranges::find(all, text.substr(0, colon), &Levels::name);
  const auto digits = text.substr(std::min(colon + 1, text.size()));
  const auto* end = digits.data() + digits.size();
  if (found != all.end()) level = found->usual;
  const auto [read, error] = std::from_chars(digits.data(), end, level);
  if (found == all.end() || (colon < text.size() && (read != end || error != std::errc())))
    raise<ValueError>("Compression",
                      "got \"{}\"; expected gzip, zstd, lz4 or blosc, and perhaps a level, as in \"zstd:9\"", text);
  codec = found->codec;
}

std::string to_string(const Compression& compression) {
  const auto level = std::to_string(compression.level);
  return compression.codec == Codec::gzip ? level : formatted("{}:{}", levels_of(compression.codec).name, level);
}

namespace detail {

std::string_view name_of(Codec codec) { return levels_of(codec).name; }

Compression nearest_compression(std::string_view name, int level) {
  const auto* found = std::ranges::find(all, name == "zlib" ? "gzip" : name, &Levels::name);
  if (found == all.end() || !block_codec(found->codec)) return Compression("gzip");
  Compression nearest(found->name);
  if (level >= found->least && level <= found->most) nearest.level = level;
  return nearest;
}

std::int64_t code_of(const std::optional<Compression>& compression) {
  if (!compression) return -1;
  const int shuffle = compression->shuffle ? 1 + static_cast<int>(*compression->shuffle) : 0;
  return (static_cast<std::int64_t>(compression->codec) << 16) + (compression->level << 8) + shuffle;
}

std::optional<Compression> compression_from(std::int64_t code) {
  if (code < 0) return std::nullopt;
  Compression compression(static_cast<int>((code >> 8) & 0xff));
  compression.codec = static_cast<Codec>(code >> 16);
  if (const auto shuffle = code & 0xff; shuffle != 0) compression.shuffle = shuffle == 2;
  return compression;
}

void check_compression(const std::optional<Compression>& compression, const char* op) {
  if (!compression) return;
  const auto& levels = levels_of(compression->codec);
  if (compression->level < levels.least || compression->level > levels.most)
    raise<ValueError>(op, "got compression {}; expected a {} level from {} to {}", heatpp::io::to_string(*compression),
                      levels.name, levels.least, levels.most);
  if (!block_codec(compression->codec))
    raise<ValueError>(op, "got compression {}, which this build of heatpp lacks; expected {}",
                      heatpp::io::to_string(*compression), how_to_get(compression->codec));
}

std::string how_to_get(Codec codec) {
  return formatted("{} (Debian), and heatpp built with it", levels_of(codec).package);
}

std::optional<int> gzip_level(const std::optional<Compression>& compression, const char* op) {
  if (!compression) return std::nullopt;
  if (compression->codec != Codec::gzip)
    raise<ValueError>(op, "got compression {}; expected a gzip level, which is all that this format has",
                      heatpp::io::to_string(*compression));
  return compression->level;
}

}  // namespace detail
}  // namespace heatpp::io
