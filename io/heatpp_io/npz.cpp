#include <ATen/ATen.h>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp_io/detail/expand.hpp>
#include <heatpp_io/detail/npy_header.hpp>
#include <heatpp_io/detail/read.hpp>
#include <heatpp_io/detail/save_array.hpp>
#include <heatpp_io/detail/zip.hpp>
#include <heatpp_io/npz.hpp>

#include <zlib.h>

#include <algorithm>
#include <numeric>

namespace heatpp::io {
namespace {

using heatpp::detail::raise;

constexpr auto load_op = "load_npz", save_op = "save_npz";
constexpr std::string_view suffix = ".npy";

/// The name of a member's array, or nothing for members that are none.
std::string array_name(const std::string& member) {
  return member.ends_with(suffix) ? member.substr(0, member.size() - suffix.size()) : std::string();
}

std::string listing(const std::vector<detail::ZipMember>& members) {
  std::string text;
  for (const auto& member : members)
    if (text.size() < 200) text += fmt::format("{}\"{}\"", text.empty() ? "" : ", ", array_name(member.name));
  return text.empty() ? "nothing" : text;
}

detail::ZipMember find_member(const std::vector<detail::ZipMember>& members, const std::string& name,
                              const std::string& path) {
  std::vector<detail::ZipMember> found;
  for (const auto& member : members)
    if (name.empty() ? member.name.ends_with(suffix) : array_name(member.name) == name) found.push_back(member);
  if (name.empty() && found.size() != 1)
    raise<ValueError>(load_op, "got no array's name, and {} arrays in \"{}\", which has {}; expected a name",
                      found.size(), path, listing(members));
  if (found.empty())
    raise<IoError>(load_op, "got no array \"{}\" in \"{}\", which has {}; expected an array of that name", name, path,
                   listing(members));
  return found.back();
}

/// An open member; readers of it hold references to what is before them.
struct OpenMember {
  OpenMember(std::string path_, const std::string& name)
      : path(std::move(path_)),
        file(path, load_op),
        member(find_member(detail::zip_members(file, path, load_op), name, path)),
        bytes(detail::open_member(file, member, path, load_op)),
        array(detail::read_npy_header(*bytes, fmt::format("\"{}\" of \"{}\"", member.name, path), load_op)) {}

  std::string path;
  detail::FileReader file;
  detail::ZipMember member;
  std::unique_ptr<detail::ByteReader> bytes;
  detail::FlatArray array;
};

detail::OpenArray open_array(const std::string& path, const std::string& name) {
  const auto member = std::make_shared<OpenMember>(path, name);
  return {{.shape = member->array.shape, .element = member->array.type.element, .compressed = member->member.deflated},
          [member](const auto& box, const auto& out) {
            detail::read_flat({*member->bytes, member->array, member->path, load_op}, box, out);
          }};
}

void check_names(const std::vector<NamedArray>& arrays) {
  if (arrays.empty()) raise<ValueError>(save_op, "got no arrays; expected at least one");
  std::vector<std::string> names;
  for (const auto& [name, x] : arrays) {
    if (!(x.comm() == arrays[0].second.comm()))
      raise<CommError>(save_op, "got arrays \"{}\" and \"{}\" on different communicators; expected one",
                       arrays[0].first, name);
    if (name.empty() || name.size() > 1000 || std::ranges::find(names, name) != names.end())
      raise<ValueError>(save_op, "got name \"{}\" among {} arrays; expected names that are different and not empty",
                        name, arrays.size());
    names.push_back(name);
  }
}

/// The checksum of rows that one rank has written.
struct RowsSum {
  std::int64_t first, bytes, crc;
};

std::int64_t crc_of(std::int64_t before, const void* data, std::int64_t bytes) {
  return static_cast<std::int64_t>(
      crc32_z(static_cast<uLong>(before), static_cast<const Bytef*>(data), static_cast<z_size_t>(bytes)));
}

/// The checksum of the rows of all ranks, put together behind `before`.
std::uint32_t combine(const std::vector<std::int64_t>& mine, std::int64_t before, const Communicator& comm) {
  const auto counts = comm.allgather(std::ssize(mine));
  std::vector<std::int64_t> all(
      static_cast<std::size_t>(std::accumulate(counts.begin(), counts.end(), std::int64_t{0})));
  comm.allgather(mine, all, counts);
  std::vector<RowsSum> sums;
  for (std::size_t i = 0; i < all.size(); i += 3) sums.push_back({all[i], all[i + 1], all[i + 2]});
  std::ranges::sort(sums, {}, &RowsSum::first);
  auto crc = static_cast<uLong>(before);
  for (const auto& sum : sums) crc = crc32_combine(crc, static_cast<uLong>(sum.crc), sum.bytes);
  return static_cast<std::uint32_t>(crc);
}

/// Writes an array's member and completes its checksum.
void write_member(const detail::FileWriter& file, detail::ZipMember& member, const DNDarray& x) {
  const auto header = detail::npy_header(x.dtype(), x.shape());
  const auto blocks = detail::blocks_of(x);
  const auto first_byte = member.at + std::ssize(detail::zip_header(member)) + std::ssize(header);
  const auto row_bytes = detail::bytes_of(x) / std::max<std::int64_t>(1, blocks.layout.shape()[0]);
  std::vector<std::int64_t> sums;
  detail::each_rows(blocks.layout, blocks.mine, x.comm(), [&](std::int64_t first, const at::Tensor& rows) {
    const auto bytes = rows.numel() * rows.element_size();
    if (bytes == 0) return;
    file.write(first_byte + first * row_bytes, bytes, rows.const_data_ptr());
    sums.insert(sums.end(), {first, bytes, crc_of(0, rows.const_data_ptr(), bytes)});
  });
  member.crc = combine(sums, crc_of(0, header.data(), std::ssize(header)), x.comm());
  all_or_none(x.comm(), [&] {
    if (x.comm().rank() != 0) return;
    const auto head = detail::zip_header(member) + header;
    file.write(member.at, std::ssize(head), head.data());
  });
}

std::int64_t member_bytes(const DNDarray& x) {
  return std::ssize(detail::npy_header(x.dtype(), x.shape())) + detail::bytes_of(x);
}

detail::Transfer write_archive(const detail::SaveJob& job, const std::vector<NamedArray>& arrays) {
  const auto& comm = arrays[0].second.comm();
  std::vector<detail::ZipMember> members;
  std::int64_t at = 0;
  for (const auto& [name, x] : arrays) {
    members.push_back({name + std::string(suffix), at, member_bytes(x), member_bytes(x)});
    at += std::ssize(detail::zip_header(members.back())) + members.back().bytes;
  }
  std::optional<detail::FileWriter> file;
  all_or_none(comm, [&] {
    file.emplace(job.path, job.shown, save_op);
    if (comm.rank() == 0) detail::Room(job.path, job.shown, save_op).reserve(at);
  });
  for (std::size_t i = 0; i < members.size(); ++i) write_member(*file, members[i], arrays[i].second);
  all_or_none(comm, [&] {
    if (comm.rank() != 0) return;
    const auto end = detail::zip_directory(members, at);
    file->write(at, std::ssize(end), end.data());
  });
  return {false, "independent: each rank writes its rows"};
}

}  // namespace

DNDarray load_npz(const Source& source, const std::string& name, const LoadOptions& options) {
  const detail::Recorder recorder(load_op);
  const auto& comm = options.comm ? *options.comm : default_comm();
  const auto open = [&](const std::string& path) { return open_array(path, name); };
  const auto describe = [&](const std::string& path) { return open_array(path, name).info; };
  const auto shards = detail::inspect({detail::expand(source, comm, load_op, ".npz"), name}, describe, comm, load_op);
  const auto box = detail::select(shards.info.shape, options.slices, load_op);
  return detail::load_array({load_op, shards, box, comm, open}, options, recorder);
}

std::vector<std::string> npz_names(const std::filesystem::path& path) {
  const auto& comm = default_comm();
  std::vector<std::string> names;
  all_or_none(comm, [&] {
    if (comm.rank() != 0) return;
    detail::FileReader file(path.string(), "npz_names");
    for (const auto& member : detail::zip_members(file, path.string(), "npz_names"))
      if (const auto name = array_name(member.name); !name.empty()) names.push_back(name);
  });
  return detail::broadcast_texts(std::move(names), comm);
}

void save_npz(const std::vector<NamedArray>& arrays, const std::filesystem::path& path) {
  const detail::Recorder recorder(save_op);
  check_names(arrays);
  std::int64_t bytes = 0;
  for (const auto& [name, x] : arrays) bytes += detail::bytes_of(x);
  const detail::NewFile file{save_op, arrays[0].second.comm(), path, bytes};
  const auto transfer = save_one(file, [&](const detail::SaveJob& job) { return write_archive(job, arrays); });
  recorder.finish(bytes, 1, transfer);
}

}  // namespace heatpp::io
