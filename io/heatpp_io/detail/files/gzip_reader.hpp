#pragma once

#include <heatpp_io/detail/files/byte_file.hpp>

struct gzFile_s;

namespace heatpp::io::detail {

/// Reads the bytes of a file that gzip has compressed, in one member or several. The whole file is decompressed once to
/// find its size, and a second time up to the bytes that are read. Going back starts from the beginning.
class GzipReader : public ByteReader {
 public:
  /// Throws IoError if the file cannot be opened or is damaged.
  GzipReader(std::string path, const char* op);
  ~GzipReader() override;
  GzipReader(const GzipReader&) = delete;
  GzipReader& operator=(const GzipReader&) = delete;
  [[nodiscard]] std::int64_t size() const override { return size_; }
  void read(std::int64_t offset, std::int64_t bytes, void* to) override;

 private:
  /// Returns the number of bytes that were decompressed, at most `bytes`.
  std::int64_t take(std::int64_t bytes, void* to);
  [[noreturn]] void fail() const;

  std::string path_;
  const char* op_;
  gzFile_s* file_;
  std::int64_t size_ = 0;
};

}  // namespace heatpp::io::detail
