#include <heatpp_io/detail/files/inflate.hpp>

#include <heatpp/comm/detail/raise.hpp>

#include <zlib.h>

#include <algorithm>
#include <vector>

namespace heatpp::io::detail {
namespace {

constexpr std::int64_t piece_bytes = std::int64_t{256} << 10;

}  // namespace

struct InflateReader::State {
  z_stream stream{};
  std::vector<unsigned char> input = std::vector<unsigned char>(piece_bytes), skipped;
  std::int64_t taken = 0;  // number of stored bytes
  std::int64_t given = 0;  // number of decompressed bytes
  uLong crc = crc32(0, nullptr, 0);
  int status = Z_OK;

  explicit State(DeflateFormat format) {
    constexpr int window = 15, any_header = 32;
    if (inflateInit2(&stream, format == DeflateFormat::raw ? -window : window + any_header) != Z_OK)
      throw std::bad_alloc();
  }
  ~State() { inflateEnd(&stream); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
};

InflateReader::InflateReader(ByteReader& file, const Deflated& stream, const std::string& path, const char* op)
    : file_(file), stream_(stream), path_(path), op_(op), state_(std::make_unique<State>(stream.format)) {}
InflateReader::~InflateReader() = default;

void InflateReader::fail(const char* why) const {
  heatpp::detail::raise<IoError>(op_,
                                 "got \"{}\" with compressed data that {} after {} of {} bytes; expected a "
                                 "complete file",
                                 path_, why, state_->given, stream_.bytes);
}

void InflateReader::refill() {
  auto& s = *state_;
  const auto more = std::min(piece_bytes, stream_.stored_bytes - s.taken);
  if (s.stream.avail_in > 0 || more == 0) return;  // zlib may still hold the last output
  file_.read(stream_.at + s.taken, more, s.input.data());
  s.taken += more;
  s.stream.next_in = s.input.data();
  s.stream.avail_in = static_cast<uInt>(more);
}

std::int64_t InflateReader::inflate_some(std::int64_t room, void* to) {
  auto& s = *state_;
  refill();
  s.stream.next_out = static_cast<unsigned char*>(to);
  s.stream.avail_out = static_cast<uInt>(room);
  s.status = inflate(&s.stream, Z_NO_FLUSH);
  if (s.status == Z_BUF_ERROR) fail("has no end");
  return room - s.stream.avail_out;
}

void InflateReader::advance(std::int64_t bytes, void* to) {
  auto& s = *state_;
  auto* out = static_cast<unsigned char*>(to);
  while (bytes > 0) {
    const auto got = inflate_some(std::min(bytes, piece_bytes), out);
    if ((s.status != Z_OK && s.status != Z_STREAM_END) || (s.status == Z_STREAM_END && got < bytes)) fail("ends");
    s.crc = crc32(s.crc, out, static_cast<uInt>(got));
    s.given += got;
    bytes -= got;
    out += got;
  }
  if (s.given == stream_.bytes) check_end();
}

void InflateReader::check_end() {
  auto& s = *state_;
  unsigned char more = 0;
  while (s.status == Z_OK)
    if (inflate_some(1, &more) > 0) fail("goes on");
  if (s.status != Z_STREAM_END) fail("is damaged");
  if (stream_.crc && *stream_.crc != s.crc) fail("has a wrong checksum");
}

void InflateReader::read(std::int64_t offset, std::int64_t bytes, void* to) {
  if (bytes == 0) return;
  if (offset < state_->given) state_ = std::make_unique<State>(stream_.format);
  auto& s = *state_;
  while (s.given < offset) {
    s.skipped.resize(static_cast<std::size_t>(piece_bytes));
    advance(std::min(piece_bytes, offset - s.given), s.skipped.data());
  }
  advance(bytes, to);
}

}  // namespace heatpp::io::detail
