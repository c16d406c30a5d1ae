#include <heatpp/comm/detail/raise.hpp>
#include <heatpp_io/detail/files/aside_file.hpp>
#include <heatpp_nn/detail/crc32c.hpp>
#include <heatpp_nn/training/detail/section_file.hpp>

#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <fstream>

namespace heatpp::nn::detail {

using heatpp::detail::raise;

namespace {

// The file: magic, number of sections, the table, the sections one after another. Integers are little-endian int64.
constexpr std::array<std::int64_t, 1> magic{0x3254504b43505048};  // "HPPCKPT2"
constexpr std::int64_t most_sections = 1 << 24;
using Entry = SectionFile::Entry;

std::uint32_t crc_of(const std::string& bytes) { return crc32c(std::as_bytes(std::span(bytes))); }

template <class T>
void put(std::ostream& out, std::span<const T> values) {
  out.write(reinterpret_cast<const char*>(values.data()), static_cast<std::streamsize>(values.size_bytes()));
}

template <class T>
void get(std::istream& in, std::span<T> values) {
  in.read(reinterpret_cast<char*>(values.data()), static_cast<std::streamsize>(values.size_bytes()));
}

std::int64_t table_bytes(std::size_t sections) {
  return static_cast<std::int64_t>(2 * sizeof(std::int64_t) + sections * sizeof(Entry));
}

std::vector<Entry> gather(const Communicator& comm, const Entry& mine) {
  std::vector<Entry> all(static_cast<std::size_t>(comm.size()));
  const std::vector<std::int64_t> counts(all.size(), 4);
  const std::array<std::int64_t, 4> values{mine.node, mine.source, mine.bytes, mine.crc};
  comm.allgather(values, {all.data(), 4 * comm.size(), Dtype::int64}, counts);
  return all;
}

Buffer buffer_of(std::string& bytes) { return {bytes.data(), std::ssize(bytes), Dtype::uint8}; }

}  // namespace

void SectionFile::write(const char* op, const Communicator& comm, const std::string& path, Entry entry,
                        const std::string& section) {
  entry.bytes = std::ssize(section);
  entry.crc = crc_of(section);
  const auto table = gather(comm, entry);
  std::optional<io::detail::AsideFile> file;
  std::ofstream out;
  all_or_none(comm, [&] {
    if (comm.rank() != 0) return;
    file.emplace(path, io::detail::AsideFile::Begin::empty, op);
    out.open(file->path(), std::ios::binary);
    const std::array<std::int64_t, 1> sections{comm.size()};
    put<std::int64_t>(out, magic);
    put<std::int64_t>(out, sections);
    put<Entry>(out, table);
    put<char>(out, section);
  });
  if (comm.rank() != 0) comm.send({section.data(), entry.bytes, Dtype::uint8}, 0);
  std::string other;
  for (int rank = 1; comm.rank() == 0 && rank < comm.size(); ++rank) {
    other.resize(static_cast<std::size_t>(table[static_cast<std::size_t>(rank)].bytes));
    comm.receive(buffer_of(other), rank);
    put<char>(out, other);
  }
  all_or_none(comm, [&] {
    if (comm.rank() != 0) return;
    out.close();
    if (!out) raise<IoError>(op, "got \"{}\", which could not be written whole; expected room on the disk", path);
    file->commit_durably();
  });
}

SectionFile::SectionFile(const char* op, const Communicator& comm, const std::string& path)
    : op_(op), comm_(comm), path_(path) {
  all_or_none(comm_, [&] {
    if (comm_.rank() == 0) read_table();
  });
  std::array<std::int64_t, 1> sections{std::ssize(entries_)};
  comm_.broadcast(sections, 0);
  entries_.resize(static_cast<std::size_t>(sections[0]));
  comm_.broadcast({entries_.data(), 4 * sections[0], Dtype::int64}, 0);
}

void SectionFile::read_table() {
  std::error_code error;
  const auto size = static_cast<std::int64_t>(std::filesystem::file_size(path_, error));
  if (error) raise<IoError>(op_, "got \"{}\" ({}); expected a checkpoint", path_, error.message());
  std::ifstream in(path_, std::ios::binary);
  std::array<std::int64_t, 1> found{}, sections{};
  get<std::int64_t>(in, found);
  get<std::int64_t>(in, sections);
  if (!in || found != magic || sections[0] < 1 || sections[0] > most_sections ||
      table_bytes(static_cast<std::size_t>(sections[0])) > size)
    raise<IoError>(op_, "got \"{}\", which is something else or cut off; expected a checkpoint", path_);
  entries_.resize(static_cast<std::size_t>(sections[0]));
  get<Entry>(in, entries_);
  auto left = size - table_bytes(entries_.size());
  for (const auto& entry : entries_) {
    const bool fits = entry.bytes >= 0 && entry.bytes <= left && entry.source >= 0 && entry.source < sections[0];
    if (!in || !fits) raise<IoError>(op_, "got \"{}\", which is cut off; expected a whole checkpoint", path_);
    left -= entry.bytes;
  }
}

std::string SectionFile::section(std::size_t index) const {
  auto first = table_bytes(entries_.size());
  for (std::size_t i = 0; i < index; ++i) first += entries_[i].bytes;
  std::string bytes(static_cast<std::size_t>(entries_[index].bytes), '\0');
  std::ifstream in(path_, std::ios::binary);
  in.seekg(first);
  get<char>(in, bytes);
  if (!in || crc_of(bytes) != entries_[index].crc)
    raise<IoError>(op_, "got \"{}\", whose part {} fails its checksum; expected a whole checkpoint", path_, index);
  return bytes;
}

std::string SectionFile::deliver(const std::vector<std::size_t>& index) const {
  const auto rank = static_cast<std::size_t>(comm_.rank());
  std::string mine(rank > 0 ? static_cast<std::size_t>(entries_[index[rank]].bytes) : 0, '\0');
  Request arrives;
  if (rank > 0) arrives = comm_.ireceive(buffer_of(mine), 0);
  std::optional<Communicator::Failure> failure;
  for (std::size_t r = index.size(); rank == 0 && r-- > 0;) {
    std::string bytes(static_cast<std::size_t>(entries_[index[r]].bytes), '\0');
    try {
      bytes = section(index[r]);
    } catch (const Error& error) {
      failure = {ErrorKind::io, error.what()};
    }
    if (r > 0) comm_.send({bytes.data(), std::ssize(bytes), Dtype::uint8}, static_cast<int>(r));
    else mine = std::move(bytes);
  }
  arrives.wait();
  comm_.agree(failure);
  return mine;
}

}  // namespace heatpp::nn::detail
