#include <heatpp_io/numpy/npz.hpp>

#include <ATen/ATen.h>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp_io/detail/files/look.hpp>
#include <heatpp_io/detail/shards/openers.hpp>
#include <heatpp_io/detail/shards/read.hpp>
#include <heatpp_io/numpy/detail/npy_header.hpp>
#include <heatpp_io/numpy/detail/zip.hpp>

#include <algorithm>

namespace heatpp::io {
namespace {

using heatpp::detail::formatted;
using heatpp::detail::raise;

constexpr auto load_op = "load_npz";
constexpr std::string_view suffix = ".npy";

/// Returns the name of a member's array, or nothing if the member is not an array.
std::string array_name(const std::string& member) {
  return member.ends_with(suffix) ? member.substr(0, member.size() - suffix.size()) : std::string();
}

std::string listing(const std::vector<detail::ZipMember>& members) {
  std::string text;
  for (const auto& member : members)
    if (text.size() < 200) text += formatted("{}{:?}", text.empty() ? "" : ", ", array_name(member.name));
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

/// An open member; its readers refer to the members above them.
struct OpenMember {
  OpenMember(std::string path_, const std::string& name)
      : path(std::move(path_)),
        file(path, load_op),
        member(find_member(detail::zip_members(file, path, load_op), name, path)),
        bytes(detail::open_member(file, member, path, load_op)),
        array(detail::read_npy_header(*bytes, formatted("{:?} of \"{}\"", member.name, path), load_op)) {}

  std::string path;
  detail::FileReader file;
  detail::ZipMember member;
  std::unique_ptr<detail::ByteReader> bytes;
  detail::FlatArray array;
};

}  // namespace

detail::OpenArray detail::open_npz(const std::string& path, const std::string& name) {
  const auto member = std::make_shared<OpenMember>(path, name);
  const bool deflated = member->member.deflated;
  return {{.shape = member->array.shape,
           .element = member->array.type.element,
           .compressed = deflated,
           .compression = deflated ? std::optional<Compression>("gzip") : std::nullopt},
          [member](const auto& box, const auto& out) {
            detail::read_flat({*member->bytes, member->array, member->path, load_op}, box, out);
          }};
}

std::vector<std::string> detail::npz_names(const std::string& path) {
  FileReader file(path, load_op);
  std::vector<std::string> names;
  for (const auto& member : zip_members(file, path, load_op))
    if (auto name = array_name(member.name); !name.empty()) names.push_back(std::move(name));
  return names;
}

DNDarray load_npz(const Source& source, const std::string& name, const LoadOptions& options) {
  const detail::Recorder recorder(load_op);
  const auto open = [&](const std::string& path) { return detail::open_npz(path, name); };
  return detail::load_files({load_op, source, name, open, ".npz"}, options, recorder);
}

std::vector<std::string> npz_names(const std::filesystem::path& path) {
  return detail::texts_seen_by_first(default_comm(), [&] { return detail::npz_names(path.string()); });
}

}  // namespace heatpp::io
