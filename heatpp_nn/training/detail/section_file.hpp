#pragma once

#include <heatpp/comm/communicator.hpp>
#include <string>

namespace heatpp::nn::detail {

/// One file with a section of bytes from every rank, each with its CRC-32C.
struct SectionFile {
  struct Entry {
    std::int64_t node = 0;    ///< what the caller wants to know about the section before reading it
    std::int64_t source = 0;  ///< ... the same
    std::int64_t bytes = 0;
    std::int64_t crc = 0;
  };

  /// Writes the file from rank 0, one section at a time; it appears complete or not at all. Of `entry`, node and source
  /// are the caller's. Collective. Throws IoError on all ranks.
  static void write(const char* op, const Communicator& comm, const std::string& path, Entry entry,
                    const std::string& section);

  /// Reads the table, on rank 0, for all. Collective. Throws IoError on all ranks where the file is missing, not of
  /// this kind, or cut off.
  SectionFile(const char* op, const Communicator& comm, const std::string& path);

  [[nodiscard]] const std::vector<Entry>& entries() const { return entries_; }
  /// Section `index[r]` for each rank r: read by rank 0, checked, and sent there. Collective. Throws IoError on all
  /// ranks where one is damaged.
  [[nodiscard]] std::string deliver(const std::vector<std::size_t>& index) const;

 private:
  void read_table();
  [[nodiscard]] std::string section(std::size_t index) const;

  const char* op_;
  Communicator comm_;
  std::string path_;
  std::vector<Entry> entries_;
};

}  // namespace heatpp::nn::detail
