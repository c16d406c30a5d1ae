#include <heatpp_io/detail/files/gzip_reader.hpp>

#include <heatpp/comm/detail/raise.hpp>

#include <zlib.h>

#include <algorithm>
#include <vector>

namespace heatpp::io::detail {
namespace {

constexpr std::int64_t zipped_piece_bytes = std::int64_t{1} << 20;

}  // namespace

GzipReader::GzipReader(std::string path, const char* op)
    : path_(std::move(path)), op_(op), file_(::gzopen(path_.c_str(), "rb")) {
  if (!file_) raise_not_opened(op_, path_, "a file that gzip has compressed");
  std::vector<char> piece(static_cast<std::size_t>(zipped_piece_bytes));
  while (const auto came = take(zipped_piece_bytes, piece.data())) size_ += came;
}

GzipReader::~GzipReader() { ::gzclose(file_); }

void GzipReader::fail() const {
  int status = Z_OK;
  const char* const why = ::gzerror(file_, &status);
  heatpp::detail::raise<IoError>(op_, "got \"{}\", which gzip cannot decompress ({}); expected a complete file", path_,
                                 why && *why ? why : "it ends too early");
}

std::int64_t GzipReader::take(std::int64_t bytes, void* to) {
  const auto came = ::gzread(file_, to, static_cast<unsigned>(std::min(bytes, zipped_piece_bytes)));
  int status = Z_OK;
  static_cast<void>(::gzerror(file_, &status));
  if (came < 0 || (status != Z_OK && status != Z_STREAM_END)) fail();
  return came;
}

void GzipReader::read(std::int64_t offset, std::int64_t bytes, void* to) {
  if (::gztell(file_) != offset && ::gzseek(file_, offset, SEEK_SET) != offset) fail();
  for (auto* place = static_cast<char*>(to); bytes > 0;) {
    const auto came = take(bytes, place);
    if (came == 0) fail();
    place += came;
    bytes -= came;
  }
}

}  // namespace heatpp::io::detail
