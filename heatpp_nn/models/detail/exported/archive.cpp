#include <heatpp_nn/models/detail/exported/archive.hpp>

#include <heatpp/comm/error.hpp>
#include <heatpp_io/numpy/detail/zip.hpp>
#include <heatpp_nn/models/detail/exported/malformed.hpp>

#include <zlib.h>

#include <algorithm>

namespace heatpp::nn::detail {
namespace {

using io::detail::MemoryReader;
using io::detail::ZipMember;

constexpr auto op = "ExportedModule";
constexpr std::string_view old_graph = "serialized_exported_program.json", graphs = "models/", json_ending = ".json";

std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

std::uint32_t checksum(std::string_view text) {
  const auto* const first = reinterpret_cast<const Bytef*>(text.data());
  return static_cast<std::uint32_t>(crc32_z(0, first, text.size()));
}

std::string contents_of(MemoryReader& archive, const ZipMember& member, const std::string& path) {
  const auto reader = io::detail::open_member(archive, member, path, op);
  std::string contents(static_cast<std::size_t>(member.bytes), '\0');
  reader->read(0, member.bytes, contents.data());
  if (checksum(contents) != member.crc) malformed("\"{}\" of another checksum", member.name);
  return contents;
}

/// Returns the root folder, "net" for "net/models/model.json".
std::string root_of(const std::vector<ZipMember>& members) {
  return members.empty() ? "" : members.front().name.substr(0, members.front().name.find('/'));
}

bool is_graph(std::string_view name) {
  return name.starts_with(graphs) && name.ends_with(json_ending) && name.rfind('/') == graphs.size() - 1;
}

}  // namespace

ExportedArchive::ExportedArchive(std::string_view bytes, const std::string& path) {
  MemoryReader archive(bytes_of(bytes));
  const auto members = io::detail::zip_members(archive, path, op);
  root_ = root_of(members) + "/";
  for (const auto& member : members) {
    if (member.name == old_graph) malformed("a graph of torch.export before torch 2.8");
    if (!member.name.starts_with(root_)) malformed("\"{}\" outside its folder \"{}\"", member.name, root_);
    auto name = member.name.substr(root_.size());
    if (contains(name)) malformed("two files \"{}\"", name);
    if (is_graph(name)) {
      if (!model_.empty()) malformed("the networks \"{}\" and \"{}\", where one is read", model_, name);
      model_ = name.substr(graphs.size(), name.size() - graphs.size() - json_ending.size());
    }
    files_.push_back({std::move(name), contents_of(archive, member, path)});
  }
  check();
}

void ExportedArchive::check() const {
  if (const auto& format = (*this)["archive_format"]; format != "pt2") malformed("the format \"{}\"", format);
  if (const auto& version = (*this)["archive_version"]; version != "0")
    malformed("version \"{}\" of the archive's format, where \"0\" is read", version);
  if (contains("byteorder") && (*this)["byteorder"] != "little")
    malformed("numbers in the byte order \"{}\"", (*this)["byteorder"]);
  if (model_.empty()) malformed("no network");
}

const ExportedArchive::File* ExportedArchive::find(const std::string& name) const {
  const auto found = std::ranges::find(files_, name, &File::name);
  return found == files_.end() ? nullptr : &*found;
}

const std::string& ExportedArchive::operator[](const std::string& name) const {
  const auto* const file = find(name);
  if (!file) malformed("no file \"{}\"", name);
  return file->contents;
}

bool ExportedArchive::contains(const std::string& name) const { return find(name) != nullptr; }

void ExportedArchive::replace(const std::string& name, std::string contents) {
  for (auto& file : files_)
    if (file.name == name) file.contents = std::move(contents);
}

std::string ExportedArchive::bytes() const {
  std::string all;
  std::vector<ZipMember> members;
  for (const auto& file : files_) {
    const auto size = std::ssize(file.contents);
    members.push_back({root_ + file.name, std::ssize(all), size, size, checksum(file.contents)});
    all += io::detail::zip_header(members.back()) + file.contents;
  }
  return all + io::detail::zip_directory(members, std::ssize(all));
}

bool is_exported(io::detail::ByteReader& file, const std::string& path) {
  std::vector<ZipMember> members;
  try {
    members = io::detail::zip_members(file, path, op);
  } catch (const IoError&) {
    return path.ends_with(".pt2");
  }
  const auto format = root_of(members) + "/archive_format";
  return std::ranges::any_of(members,
                             [&](const auto& member) { return member.name == old_graph || member.name == format; });
}

bool is_exported(std::string_view bytes, const std::string& path) {
  MemoryReader file(bytes_of(bytes));
  return is_exported(file, path);
}

}  // namespace heatpp::nn::detail
