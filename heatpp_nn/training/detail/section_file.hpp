#pragma once

#include <ATen/core/Tensor.h>

#include <heatpp/comm/communicator.hpp>
#include <string>

namespace heatpp::io::detail {
class AsideFile;
}

namespace heatpp::nn::detail {

/// One file with a section of every rank, which each writes and reads by itself: a head, which others may need to see,
/// and a body; both with their CRC-32C, as the table of them has its own.
class SectionFile {
 public:
  struct Entry {
    std::int64_t node = 0;    ///< what the caller wants to know about the section before reading it
    std::int64_t source = 0;  ///< ... the same
    std::int64_t head_bytes = 0, body_bytes = 0;
    std::int64_t head_crc = 0, body_crc = 0;
  };
  /// What a rank writes: tensors of the CPU without gaps, one after another.
  struct Section {
    std::string head;
    std::vector<at::Tensor> body;
  };

  /// Reads the table, on rank 0, for all. Collective. Throws IoError on all ranks where the file is missing, not of
  /// this kind, cut off, or where the table is damaged.
  SectionFile(const char* op, const Communicator& comm, const std::string& path);

  [[nodiscard]] const std::vector<Entry>& entries() const { return entries_; }
  /// Local. Throw IoError where the part is damaged.
  [[nodiscard]] std::string head(std::size_t index) const;
  [[nodiscard]] std::string body(std::size_t index) const;

 private:
  void read_table();
  [[nodiscard]] std::string read(std::size_t index, std::int64_t offset, std::int64_t bytes, std::int64_t crc) const;

  const char* op_;
  std::string path_;
  std::int64_t start_ = 0;  // of the first section
  std::vector<Entry> entries_;
};

/// Writes such a file, which appears complete or not at all, in three steps, of which the second is local.
class SectionWriter {
 public:
  /// Makes the file beside its place; of `entry`, node and source are the caller's. Collective. Throws IoError on all
  /// ranks.
  SectionWriter(const char* op, const Communicator& comm, std::string path, SectionFile::Entry entry,
                SectionFile::Section section);
  ~SectionWriter();
  SectionWriter(SectionWriter&&) noexcept;
  /// Takes a copy of the tensors, so that their owners may go on. Local.
  void own();
  /// Writes this rank's section; what goes wrong is thrown by `commit`. Local, in any thread.
  void write() noexcept;
  /// Moves the file to its place once all ranks have written. Collective. Throws IoError on all ranks, where the file
  /// that was there before is untouched.
  void commit();

 private:
  const char* op_;
  Communicator comm_;
  std::string path_, aside_;
  std::vector<SectionFile::Entry> table_;
  SectionFile::Section section_;
  std::unique_ptr<io::detail::AsideFile> file_;  // of rank 0
  std::exception_ptr failure_;
};

}  // namespace heatpp::nn::detail
