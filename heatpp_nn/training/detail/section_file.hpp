#pragma once

#include <ATen/core/Tensor.h>

#include <heatpp/comm/communicator.hpp>
#include <string>

namespace heatpp::io::detail {
class AsideFile;
}

namespace heatpp::nn::detail {

/// A file with one section for each rank, which ranks write and read independently. A section has a head, which other
/// ranks may read, and a body. Both have a CRC-32C, and so has the table of sections.
class SectionFile {
 public:
  struct Entry {
    std::int64_t node = 0;    ///< a number for the caller to read before the section
    std::int64_t source = 0;  ///< another such number
    std::int64_t head_bytes = 0, body_bytes = 0;
    std::int64_t head_crc = 0, body_crc = 0;
  };
  /// What a rank writes: contiguous tensors on the CPU, one after another.
  struct Section {
    std::string head;
    std::vector<at::Tensor> body;
  };

  /// Reads the table on rank 0 and broadcasts it. Collective. Throws IoError on all ranks if the file is missing,
  /// truncated or of another kind, or if the table is damaged.
  SectionFile(const char* op, const Communicator& comm, const std::string& path);

  [[nodiscard]] const std::vector<Entry>& entries() const { return entries_; }
  /// Both return a part of a section. Local. They throw IoError if the part is damaged.
  [[nodiscard]] std::string head(std::size_t index) const;
  [[nodiscard]] std::string body(std::size_t index) const;

 private:
  void read_table();
  [[nodiscard]] std::string read(std::size_t index, std::int64_t offset, std::int64_t bytes, std::int64_t crc) const;

  const char* op_;
  std::string path_;
  std::int64_t start_ = 0;  // offset of the first section
  std::vector<Entry> entries_;
};

/// Writes such a file in three steps; the second is local. The file appears complete or not at all.
class SectionWriter {
 public:
  /// Creates the file beside its final place. The caller sets node and source of `entry`. Only rank 0 holds the table
  /// of all sections, while it writes it. Collective. Throws IoError on
  /// all ranks.
  SectionWriter(const char* op, const Communicator& comm, std::string path, SectionFile::Entry entry,
                SectionFile::Section section);
  ~SectionWriter();
  SectionWriter(SectionWriter&&) noexcept;
  /// Copies the tensors, so that the originals may change. Local.
  void own();
  /// Writes this rank's section; `commit` throws if this fails. Local. Any thread may call it.
  void write() noexcept;
  /// Moves the file to its place after all ranks have written. Collective. Throws IoError on all ranks; the file that
  /// was there before is then unchanged.
  void commit();

 private:
  const char* op_;
  Communicator comm_;
  std::string path_, aside_;
  SectionFile::Section section_;
  std::int64_t start_;                           // offset of the section
  std::unique_ptr<io::detail::AsideFile> file_;  // on rank 0 only
  std::exception_ptr failure_;
};

}  // namespace heatpp::nn::detail
