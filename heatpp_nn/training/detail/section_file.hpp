#pragma once

#include <ATen/core/Tensor.h>

#include <array>
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

  /// A section that this rank reads.
  struct StoredSection {
    Entry entry;
    std::int64_t index = 0, start = 0;  ///< its number, and its offset in the file
    std::int64_t of_source = 0;         ///< how many sections have its source
  };

  /// Reads the table on rank 0, and gives rank r of P the entries of sections r, r + P and so on. Rank 0 sends those
  /// for about sqrt(P) ranks to the first of them, which sends them on: 72 bytes for each section. Collective. Throws
  /// IoError on all ranks if the file is missing, truncated or of another kind, or if the table is damaged.
  SectionFile(const char* op, const Communicator& comm, const std::string& path);

  [[nodiscard]] std::int64_t sections() const { return facts_[0]; }
  [[nodiscard]] bool is_source_0() const { return facts_[1] != 0; }     ///< in all sections
  [[nodiscard]] bool is_source_node() const { return facts_[2] != 0; }  ///< likewise
  [[nodiscard]] const std::vector<StoredSection>& parts() const { return parts_; }
  /// Both return a piece of a section. Local. They throw IoError if the piece is damaged.
  [[nodiscard]] std::string head(const StoredSection& part) const;
  [[nodiscard]] std::string body(const StoredSection& part) const;

 private:
  [[nodiscard]] std::vector<Entry> read_table(std::int64_t& start) const;
  [[nodiscard]] std::string read(const StoredSection& part, std::int64_t offset, std::int64_t bytes,
                                 std::int64_t crc) const;

  const char* op_;
  std::string path_;
  std::array<std::int64_t, 3> facts_{};  // how many sections, and what all of them have, as 0 or 1
  std::vector<StoredSection> parts_;
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
