#pragma once

#include <heatpp_io/detail/files/byte_file.hpp>
#include <memory>
#include <optional>

namespace heatpp::io::detail {

/// The format around a deflated stream.
enum class DeflateFormat { raw, zlib_or_gzip };

/// A deflated stream in a file.
struct Deflated {
  std::int64_t at = 0;
  std::int64_t stored_bytes = 0;
  std::int64_t bytes = 0;  ///< number of bytes that it must give
  DeflateFormat format = DeflateFormat::raw;
  std::optional<std::uint32_t> crc = std::nullopt;
};

/// Reads the bytes of a deflated stream. Going back starts from the beginning.
class InflateReader : public ByteReader {
 public:
  /// `file` and `path`, which errors name, must outlive the reader.
  InflateReader(ByteReader& file, const Deflated& stream, const std::string& path, const char* op);
  ~InflateReader() override;
  [[nodiscard]] std::int64_t size() const override { return stream_.bytes; }
  /// Throws IoError for damaged streams. At the end it throws IoError for a stream that does not have `bytes` bytes.
  void read(std::int64_t offset, std::int64_t bytes, void* to) override;

 private:
  void refill();
  /// Returns the number of bytes that were decompressed, at most `room`.
  std::int64_t inflate_some(std::int64_t room, void* to);
  void advance(std::int64_t bytes, void* to);
  void check_end();
  [[noreturn]] void fail(const char* why) const;

  struct State;
  ByteReader& file_;
  Deflated stream_;
  const std::string& path_;
  const char* op_;
  std::unique_ptr<State> state_;
};

}  // namespace heatpp::io::detail
