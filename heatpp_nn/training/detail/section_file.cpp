#include <heatpp_nn/training/detail/section_file.hpp>

#include <heatpp/comm/detail/numbers/place.hpp>
#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/comm/detail/progress/exchange.hpp>
#include <heatpp/comm/detail/text.hpp>
#include <heatpp/core/detail/cuts/cut.hpp>
#include <heatpp/core/detail/peers/parcels.hpp>
#include <heatpp_io/detail/files/aside_file.hpp>
#include <heatpp_io/detail/files/byte_file.hpp>
#include <heatpp_nn/detail/crc32c.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <unordered_map>

namespace heatpp::nn::detail {

using heatpp::detail::raise;

namespace {

// The file: magic, number of sections, CRC-32C of that number and the table, the table, and the sections. Each section
// begins at a multiple of `page`, so that ranks on different machines do not write to the same page. Integers are
// little-endian int64.
constexpr std::int64_t magic = 0x3454504b43505048;      // "HPPCKPT4"
constexpr std::int64_t unchecked = 0x3354504b43505048;  // "HPPCKPT3": older files, without this CRC
constexpr std::int64_t most_sections = 1 << 24;
constexpr std::int64_t page = 4096;
using Entry = SectionFile::Entry;
constexpr std::int64_t numbers = sizeof(Entry) / sizeof(std::int64_t);

std::int64_t up_to_page(std::int64_t bytes) { return (bytes + page - 1) / page * page; }
std::int64_t table_bytes(std::int64_t sections) { return sections * std::int64_t{sizeof(Entry)}; }
std::int64_t table_start(std::int64_t kind) { return (kind == magic ? 3 : 2) * std::int64_t{sizeof kind}; }
/// Returns the offset of the first section.
std::int64_t start_of(std::int64_t kind, std::int64_t sections) {
  return up_to_page(table_start(kind) + table_bytes(sections));
}
std::int64_t crc_of(const std::vector<Entry>& table) {
  const std::array<std::int64_t, 1> sections{std::ssize(table)};
  return crc32c(std::as_bytes(std::span(table)), crc32c(std::as_bytes(std::span(sections))));
}

std::span<const std::byte> bytes_of(const at::Tensor& tensor) {
  return {static_cast<const std::byte*>(tensor.const_data_ptr()), tensor.nbytes()};
}

Entry measured(Entry entry, const SectionFile::Section& section) {
  entry.head_bytes = std::ssize(section.head);
  entry.head_crc = crc32c(std::as_bytes(std::span(section.head)));
  std::uint32_t crc = 0;
  for (const auto& tensor : section.body) {
    entry.body_bytes += static_cast<std::int64_t>(tensor.nbytes());
    crc = crc32c(bytes_of(tensor), crc);
  }
  entry.body_crc = crc;
  return entry;
}

/// Returns the entries of all ranks on rank 0, and none on the others.
std::vector<Entry> gathered_on_0(const Communicator& comm, const Entry& mine) {
  const auto numbers_of_mine = std::bit_cast<std::array<std::int64_t, numbers>>(mine);
  heatpp::detail::Parcels parcels{2 + numbers, {0, comm.rank()}};
  parcels.numbers.insert(parcels.numbers.end(), numbers_of_mine.begin(), numbers_of_mine.end());
  parcels = heatpp::detail::delivered(std::move(parcels), comm);
  std::vector<Entry> all(parcels.count());
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto record = parcels.record(i);
    std::array<std::int64_t, numbers> entry{};
    std::ranges::copy(record.subspan(2), entry.begin());
    all[static_cast<std::size_t>(record[1])] = std::bit_cast<Entry>(entry);
  }
  return all;
}

/// Returns what ranks need of the sections, in the order of the ranks that read them.
std::vector<SectionFile::StoredSection> parts_of(const std::vector<Entry>& table, std::int64_t start,
                                                 std::int64_t ranks) {
  std::unordered_map<std::int64_t, std::int64_t> of_source;
  for (const auto& entry : table) ++of_source[entry.source];
  std::vector<SectionFile::StoredSection> parts;
  for (const auto& entry : table) {
    parts.push_back({entry, std::ssize(parts), start, of_source[entry.source]});
    start += up_to_page(entry.head_bytes + entry.body_bytes);
  }
  std::ranges::stable_sort(parts, {}, [ranks](const auto& part) { return part.index % ranks; });
  return parts;
}

/// Rank `from` holds what is for itself and the ranks up to before `last`. It gives every step-th of these the parts
/// of `step` ranks, and returns its own like them.
std::vector<SectionFile::StoredSection> passed_on(const std::vector<SectionFile::StoredSection>& held, int from,
                                                  int last, int step, const heatpp::detail::Cut& cut,
                                                  const Communicator& comm) {
  constexpr std::int64_t size = sizeof(SectionFile::StoredSection);
  const auto bytes_for = [&](int rank) { return (cut.first(std::min(rank + step, last)) - cut.first(rank)) * size; };
  std::vector<SectionFile::StoredSection> mine;
  heatpp::detail::Sends send;
  heatpp::detail::Receives receive;
  if ((comm.rank() - from) % step == 0) {
    const auto bytes = bytes_for(comm.rank());
    mine.resize(static_cast<std::size_t>(bytes / size));
    receive.push_back({from, {reinterpret_cast<std::byte*>(mine.data()), 1, bytes, bytes}});
  }
  for (int rank = from; comm.rank() == from && rank < last; rank += step) {
    const auto* const first = held.data() + (cut.first(rank) - cut.first(from));
    send.push_back({rank, {reinterpret_cast<const std::byte*>(first), 1, bytes_for(rank), bytes_for(rank)}});
  }
  heatpp::detail::exchange_with(comm, std::move(send), std::move(receive));
  return mine;
}

/// Gives each rank its parts of those that rank 0 holds.
std::vector<SectionFile::StoredSection> dealt(const std::vector<SectionFile::StoredSection>& all, std::int64_t sections,
                                              const Communicator& comm) {
  const auto cut = heatpp::detail::Cut::even(sections, comm.size());
  const auto each = static_cast<int>(std::ceil(std::sqrt(comm.size())));
  const auto of_group = passed_on(all, 0, comm.size(), each, cut, comm);
  const int first = comm.rank() / each * each;
  return passed_on(of_group, first, std::min(first + each, comm.size()), 1, cut, comm);
}

void bring_to_disk(const char* op, const std::string& path, const std::string& shown) {
  const io::detail::Descriptor file(path, O_WRONLY);
  if (file.get() < 0 || ::fsync(file.get()) != 0)
    raise<IoError>(op, "got \"{}\", which cannot be brought to the disk ({}); expected room on the disk", shown,
                   std::strerror(errno));
}

}  // namespace

SectionWriter::SectionWriter(const char* op, const Communicator& comm, std::string path, Entry entry,
                             SectionFile::Section section)
    : op_(op), comm_(comm), path_(std::move(path)), section_(std::move(section)) {
  entry = measured(entry, section_);
  const auto place = heatpp::detail::place_in_whole(comm_, up_to_page(entry.head_bytes + entry.body_bytes));
  start_ = start_of(magic, comm_.size()) + place.offset;
  const auto table = gathered_on_0(comm_, entry);
  all_or_none(comm_, [&] {
    if (comm_.rank() != 0) return;
    file_ = std::make_unique<io::detail::AsideFile>(path_, io::detail::AsideFile::Begin::empty, op_);
    aside_ = file_->path();
    const std::array<std::int64_t, 3> begin{magic, comm_.size(), crc_of(table)};
    const io::detail::FileWriter out(aside_, path_, op_);
    out.write(0, sizeof begin, begin.data());
    out.write(sizeof begin, table_bytes(comm_.size()), table.data());
  });
  aside_ = heatpp::detail::text_of_rank_0(comm_, std::move(aside_));
}

SectionWriter::~SectionWriter() = default;
SectionWriter::SectionWriter(SectionWriter&&) noexcept = default;

void SectionWriter::own() {
  for (auto& tensor : section_.body) tensor = tensor.clone();
}

void SectionWriter::write() noexcept {
  try {
    const io::detail::FileWriter out(aside_, path_, op_);
    auto at = start_;
    const auto put = [&](const void* data, std::size_t bytes) {
      out.write(at, static_cast<std::int64_t>(bytes), data);
      at += static_cast<std::int64_t>(bytes);
    };
    put(section_.head.data(), section_.head.size());
    for (const auto& tensor : section_.body) put(tensor.const_data_ptr(), tensor.nbytes());
    bring_to_disk(op_, aside_, path_);
  } catch (...) {
    failure_ = std::current_exception();
  }
  section_ = {};
}

void SectionWriter::commit() {
  all_or_none(comm_, [&] {
    if (failure_) std::rethrow_exception(failure_);
  });
  all_or_none(comm_, [&] {
    if (file_) file_->commit_durably();
  });
}

SectionFile::SectionFile(const char* op, const Communicator& comm, const std::string& path) : op_(op), path_(path) {
  std::vector<StoredSection> all;
  all_or_none(comm, [&] {
    if (comm.rank() != 0) return;
    std::int64_t start = 0;
    const auto table = read_table(start);
    const auto all_have = [&](auto test) { return std::ranges::all_of(table, test) ? 1 : 0; };
    facts_ = {std::ssize(table), all_have([](const Entry& entry) { return entry.source == 0; }),
              all_have([](const Entry& entry) { return entry.source == entry.node; })};
    all = parts_of(table, start, comm.size());
  });
  comm.broadcast(facts_, 0);
  parts_ = dealt(all, sections(), comm);
}

std::vector<Entry> SectionFile::read_table(std::int64_t& start) const {
  io::detail::FileReader in(path_, op_);
  std::array<std::int64_t, 3> begin{};
  if (in.size() >= std::int64_t{sizeof begin}) in.read(0, sizeof begin, begin.data());
  const auto [kind, sections, crc] = begin;
  if ((kind != magic && kind != unchecked) || sections < 1 || sections > most_sections ||
      table_start(kind) + table_bytes(sections) > in.size())
    raise<IoError>(op_, "got \"{}\", which is something else or cut off; expected a checkpoint", path_);
  start = start_of(kind, sections);
  std::vector<Entry> entries(static_cast<std::size_t>(sections));
  in.read(table_start(kind), table_bytes(sections), entries.data());
  if (kind == magic && crc_of(entries) != crc)
    raise<IoError>(op_, "got \"{}\", whose table fails its checksum; expected a whole checkpoint", path_);
  auto left = in.size() - start;
  for (const auto& entry : entries) {
    const bool fits = entry.head_bytes >= 0 && entry.body_bytes >= 0 && entry.head_bytes <= left &&
                      entry.body_bytes <= left - entry.head_bytes && entry.source >= 0 && entry.source < sections;
    if (!fits) raise<IoError>(op_, "got \"{}\", which is cut off; expected a whole checkpoint", path_);
    left -= up_to_page(entry.head_bytes + entry.body_bytes);
  }
  return entries;
}

std::string SectionFile::read(const StoredSection& part, std::int64_t offset, std::int64_t bytes,
                              std::int64_t crc) const {
  std::string found(static_cast<std::size_t>(bytes), '\0');
  io::detail::FileReader(path_, op_).read(part.start + offset, bytes, found.data());
  if (crc32c(std::as_bytes(std::span(found))) != crc)
    raise<IoError>(op_, "got \"{}\", whose part {} fails its checksum; expected a whole checkpoint", path_, part.index);
  return found;
}

std::string SectionFile::head(const StoredSection& part) const {
  return read(part, 0, part.entry.head_bytes, part.entry.head_crc);
}

std::string SectionFile::body(const StoredSection& part) const {
  return read(part, part.entry.head_bytes, part.entry.body_bytes, part.entry.body_crc);
}

}  // namespace heatpp::nn::detail
