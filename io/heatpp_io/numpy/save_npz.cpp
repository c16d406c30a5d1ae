#include <ATen/ATen.h>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp_io/detail/elements/save_array.hpp>
#include <heatpp_io/numpy/detail/npy_header.hpp>
#include <heatpp_io/numpy/detail/zip.hpp>
#include <heatpp_io/numpy/npz.hpp>

#include <zlib.h>

#include <algorithm>
#include <numeric>

namespace heatpp::io {
namespace {

using heatpp::detail::raise;

constexpr auto op = "save_npz";
constexpr std::string_view end_of_stream("\x03\x00", 2);  // an empty last block

void check_names(const std::vector<NamedArray>& arrays, const SaveNpzOptions& options) {
  if (arrays.empty()) raise<ValueError>(op, "got no arrays; expected at least one");
  std::vector<std::string> all, names;
  for (const auto& [name, x] : arrays) {
    if (!x.comm().same_ranks(arrays[0].second.comm()))
      raise<CommError>(op, "got arrays \"{}\" and \"{}\" on different communicators; expected one", arrays[0].first,
                       name);
    all.push_back(name);
  }
  for (const auto& [name, text] : options.texts) all.push_back(name);
  for (const auto& name : all) {
    if (name.empty() || name.size() > 1000 || name.find('\0') != std::string::npos ||
        std::ranges::find(names, name) != names.end())
      raise<ValueError>(op, "got name {:?} among {} arrays; expected names that are different, not empty and no NUL",
                        name, all.size());
    names.push_back(name);
  }
}

/// A run of rows that one rank has written, or will write.
struct WrittenRun {
  std::int64_t first, bytes, crc, stored;
};

std::int64_t crc_of(const void* data, std::int64_t bytes) {
  return static_cast<std::int64_t>(crc32_z(0, static_cast<const Bytef*>(data), static_cast<z_size_t>(bytes)));
}

/// Returns deflated blocks that end at a byte and refer only to themselves. Joined, they are a stream without its end.
std::string deflated(const void* data, std::int64_t bytes, int level) {
  z_stream stream{};
  if (deflateInit2(&stream, level, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) != Z_OK)
    raise<MemoryError>(op, "got no memory to compress {} bytes; expected enough", bytes);
  const std::unique_ptr<z_stream, int (*)(z_stream*)> owner(&stream, deflateEnd);
  std::array<char, 1 << 16> buffer;
  std::string out;
  stream.next_in = static_cast<Bytef*>(const_cast<void*>(data));
  for (bool more = true; more;) {
    const auto part = std::min(bytes, std::int64_t{1} << 30);
    bytes -= part;
    more = bytes > 0;
    stream.avail_in = static_cast<uInt>(part);
    do {
      stream.next_out = reinterpret_cast<Bytef*>(buffer.data());
      stream.avail_out = static_cast<uInt>(buffer.size());
      deflate(&stream, more ? Z_NO_FLUSH : Z_FULL_FLUSH);
      out.append(buffer.data(), buffer.size() - stream.avail_out);
    } while (stream.avail_out == 0);
  }
  return out;
}

/// Returns the runs of all ranks, in the order of their elements.
std::vector<WrittenRun> gathered(const std::vector<WrittenRun>& mine, const Communicator& comm) {
  std::vector<std::int64_t> numbers;
  for (const auto& [first, bytes, crc, stored] : mine) numbers.insert(numbers.end(), {first, bytes, crc, stored});
  const auto counts = comm.allgather(std::ssize(numbers));
  std::vector<std::int64_t> all(
      static_cast<std::size_t>(std::accumulate(counts.begin(), counts.end(), std::int64_t{0})));
  comm.allgather(numbers, all, counts);
  std::vector<WrittenRun> runs;
  for (std::size_t i = 0; i < all.size(); i += 4) runs.push_back({all[i], all[i + 1], all[i + 2], all[i + 3]});
  std::ranges::sort(runs, {}, &WrittenRun::first);
  return runs;
}

/// Writes an array to a member of an archive.
class Writer {
 public:
  Writer(const detail::FileWriter& file, const DNDarray& x, const SaveNpzOptions& options)
      : file_(file),
        x_(x),
        level_(options.compression),
        header_(detail::npy_header(x.dtype(), x.shape(), options.uint64)) {}

  /// Completes `member`, whose name and place are known.
  void write(detail::ZipMember& member) {
    member.bytes = member.stored_bytes = std::ssize(header_) + detail::bytes_of(x_);
    member.deflated = level_.has_value();
    const auto head = level_ ? deflated(header_.data(), std::ssize(header_), *level_) : header_;
    const auto begin = member.at + std::ssize(detail::zip_header(member)) + std::ssize(head);
    write_elements(begin);
    const auto all = gathered(mine_, x_.comm());
    auto crc = static_cast<uLong>(crc_of(header_.data(), std::ssize(header_)));
    for (const auto& run : all) crc = crc32_combine(crc, static_cast<uLong>(run.crc), run.bytes);
    member.crc = static_cast<std::uint32_t>(crc);
    auto end = begin;
    for (const auto& run : all) end += run.stored;
    if (level_) member.stored_bytes = end + std::ssize(end_of_stream) - begin + std::ssize(head);
    all_or_none(x_.comm(), [&] {
      if (level_) write_kept(begin, all);
      if (x_.comm().rank() == 0) write_ends(member, head, end);
    });
  }

 private:
  /// Stored runs have a known place; compressed ones are kept until all ranks know their sizes.
  void write_elements(std::int64_t begin) {
    const auto blocks = detail::blocks_of(x_);
    detail::each_run(blocks.layout, blocks.mine, x_.comm(), [&](std::int64_t first, const at::Tensor& elements) {
      const auto bytes = elements.numel() * elements.element_size();
      if (bytes == 0) return;
      const auto* data = elements.const_data_ptr();
      if (level_) kept_.push_back(deflated(data, bytes, *level_));
      else file_.write(begin + first * elements.element_size(), bytes, data);
      mine_.push_back({first, bytes, crc_of(data, bytes), level_ ? std::ssize(kept_.back()) : bytes});
    });
  }

  void write_kept(std::int64_t at, const std::vector<WrittenRun>& all) const {
    std::size_t next = 0;
    for (const auto& run : all) {
      if (next < mine_.size() && mine_[next].first == run.first) file_.write(at, run.stored, kept_[next++].data());
      at += run.stored;
    }
  }

  void write_ends(const detail::ZipMember& member, const std::string& head, std::int64_t end) const {
    const auto front = detail::zip_header(member) + head;
    file_.write(member.at, std::ssize(front), front.data());
    if (level_) file_.write(end, std::ssize(end_of_stream), end_of_stream.data());
  }

  const detail::FileWriter& file_;
  const DNDarray& x_;
  std::optional<int> level_;
  std::string header_;
  std::vector<WrittenRun> mine_;
  std::vector<std::string> kept_;
};

/// Rank 0 writes a stored member.
void write_text(const detail::FileWriter& file, detail::ZipMember& member, const std::string& text,
                const Communicator& comm) {
  const auto bytes = detail::npy_text(text);
  member.bytes = member.stored_bytes = std::ssize(bytes);
  member.crc = static_cast<std::uint32_t>(crc_of(bytes.data(), std::ssize(bytes)));
  all_or_none(comm, [&] {
    const auto all = detail::zip_header(member) + bytes;
    if (comm.rank() == 0) file.write(member.at, std::ssize(all), all.data());
  });
}

detail::Transfer write_archive(const detail::SaveJob& job, const std::vector<NamedArray>& arrays,
                               const SaveNpzOptions& options) {
  const auto& comm = arrays[0].second.comm();
  const auto level = options.compression;
  std::optional<detail::FileWriter> file;
  all_or_none(comm, [&] {
    file.emplace(job.path, job.shown, op);
    std::int64_t bytes = 0;
    for (const auto& [name, x] : arrays) bytes += detail::bytes_of(x);
    if (comm.rank() == 0 && !level) detail::Room(job.path, job.shown, op).reserve(bytes);
  });
  std::vector<detail::ZipMember> members;
  std::int64_t at = 0;
  const auto add = [&](const std::string& name, const auto& write) {
    auto& member = members.emplace_back();
    member.name = name + ".npy";
    member.at = at;
    write(member);
    at += std::ssize(detail::zip_header(member)) + member.stored_bytes;
  };
  for (const auto& [name, x] : arrays) add(name, [&](auto& member) { Writer(*file, x, options).write(member); });
  for (const auto& [name, text] : options.texts)
    add(name, [&](auto& member) { write_text(*file, member, text, comm); });
  all_or_none(comm, [&] {
    if (comm.rank() != 0) return;
    const auto end = detail::zip_directory(members, at);
    file->write(at, std::ssize(end), end.data());
  });
  return {false, "independent: each rank writes its rows"};
}

}  // namespace

void save_npz(const std::vector<NamedArray>& arrays, const std::filesystem::path& path, const SaveNpzOptions& options) {
  const detail::Recorder recorder(op);
  check_names(arrays, options);
  if (options.compression && (*options.compression < 0 || *options.compression > 9))
    raise<ValueError>(op, "got compression level {}; expected 0 to 9", *options.compression);
  std::int64_t bytes = 0;
  for (const auto& [name, x] : arrays) {
    detail::check_uint64(options.uint64, x.dtype(), op);
    bytes += detail::bytes_of(x);
  }
  const detail::NewFile file{op, arrays[0].second.comm(), path, bytes};
  const auto transfer = save_one(file, [&](const detail::SaveJob& job) { return write_archive(job, arrays, options); });
  recorder.finish(bytes, 1, transfer);
}

}  // namespace heatpp::io
