#pragma once

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <span>
#include <string>

namespace heatpp::io::detail {

/// A file descriptor that is closed at the end of its scope; negative if the file could not be opened.
class Descriptor {
 public:
  Descriptor(const std::filesystem::path& path, int flags);
  ~Descriptor();
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  [[nodiscard]] int get() const { return number_; }

 private:
  int number_;
};

/// Throws errno's reason why a file was not found or opened: FileNotFoundError if it does not exist, else IoError.
[[noreturn]] void raise_not_opened(const char* op, const std::string& path, const char* expected);

/// Reads bytes at an offset. Reading forwards is fast in all readers.
class ByteReader {
 public:
  virtual ~ByteReader() = default;
  [[nodiscard]] virtual std::int64_t size() const = 0;
  /// Throws IoError if the bytes are not there.
  virtual void read(std::int64_t offset, std::int64_t bytes, void* to) = 0;
};

/// Reads a file. Throws IoError if it cannot be opened, FileNotFoundError if it does not exist.
class FileReader : public ByteReader {
 public:
  FileReader(std::string path, const char* op);
  [[nodiscard]] std::int64_t size() const override { return size_; }
  void read(std::int64_t offset, std::int64_t bytes, void* to) override;

 private:
  std::string path_;
  const char* op_;
  Descriptor file_;
  std::int64_t size_ = 0;
};

/// Reads bytes in memory, which must outlive the reader.
class MemoryReader : public ByteReader {
 public:
  explicit MemoryReader(std::span<const std::byte> bytes) : bytes_(bytes) {}
  [[nodiscard]] std::int64_t size() const override { return std::ssize(bytes_); }
  void read(std::int64_t offset, std::int64_t bytes, void* to) override {
    std::memcpy(to, bytes_.data() + offset, static_cast<std::size_t>(bytes));
  }

 private:
  std::span<const std::byte> bytes_;
};

/// Reads a run of bytes of another reader, which must outlive it.
class PartReader : public ByteReader {
 public:
  PartReader(ByteReader& whole, std::int64_t at, std::int64_t size) : whole_(whole), at_(at), size_(size) {}
  [[nodiscard]] std::int64_t size() const override { return size_; }
  void read(std::int64_t offset, std::int64_t bytes, void* to) override { whole_.read(at_ + offset, bytes, to); }

 private:
  ByteReader& whole_;
  std::int64_t at_, size_;
};

/// Writes to an existing file, which errors name `shown`. Ranks may write different parts at the same time.
class FileWriter {
 public:
  FileWriter(const std::filesystem::path& path, std::string shown, const char* op);
  /// Throws IoError if the bytes cannot be written.
  void write(std::int64_t offset, std::int64_t bytes, const void* from) const;

 private:
  std::string shown_;
  const char* op_;
  Descriptor file_;
};

}  // namespace heatpp::io::detail
