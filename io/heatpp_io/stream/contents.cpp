#include <heatpp_io/stream/contents.hpp>

#include <heatpp_io/csv/load_csv.hpp>
#include <heatpp_io/detail/codecs/codecs.hpp>
#include <heatpp_io/detail/files/expand.hpp>
#include <heatpp_io/detail/formats.hpp>
#include <heatpp_io/hdf5/detail/handle.hpp>

#include <nlohmann/json.hpp>

namespace heatpp::io {
namespace {

constexpr auto op = "contents";

StoredInfo look(const detail::Format& format, const std::string& path, const std::string& name) {
  try {
    constexpr auto numbers = detail::Numbers::meant;
    const auto opened = detail::with_numbers(format.open(path, name), numbers, path, op);
    const auto& info = opened.info;
    auto said = format.annotations ? format.annotations(path, name) : detail::Annotations{};
    said.attributes = detail::attributes_left(std::move(said.attributes), opened.decoding, numbers);
    return {.name = name,
            .shape = info.shape,
            .dtype = info.element.dtype,
            .chunks = info.chunk,
            .compressed = info.compressed,
            .dimension_names = said.dimension_names,
            .attributes = said.attributes,
            .compression = info.compression,
            .uint64 = info.element.may_overflow};
  } catch (const Error& error) {
    return {.name = name, .problem = error.what()};
  }
}

nlohmann::json to_json(const StoredInfo& info) {
  return {info.name,
          info.shape,
          info.dtype ? static_cast<int>(*info.dtype) : -1,
          info.chunks,
          info.compressed,
          info.problem,
          info.dimension_names,
          detail::typed_json(info.attributes),
          detail::code_of(info.compression),
          info.uint64};
}

StoredInfo from_json(const nlohmann::json& fields) {
  const auto dtype = fields[2].get<int>();
  return {fields[0],
          fields[1].get<Shape>(),
          dtype < 0 ? std::nullopt : std::optional(static_cast<Dtype>(dtype)),
          fields[3].get<Shape>(),
          fields[4],
          fields[5],
          fields[6].get<std::vector<std::string>>(),
          detail::from_typed(fields[7]),
          detail::compression_from(fields[8].get<std::int64_t>()),
          fields[9]};
}

StoredInfo parsed(const std::filesystem::path& path, const Communicator& comm) {
  const auto x = load_csv(path, {.split = 0, .comm = comm});
  return {.shape = x.shape(), .dtype = x.dtype()};
}

}  // namespace

std::vector<StoredInfo> contents(const std::filesystem::path& path, const std::optional<Communicator>& wanted) {
  const auto& comm = comm_of(wanted);
  const Source source(path);
  const auto& format = detail::format_to_read(source, comm, op);
  if (!format.open) return {parsed(path, comm)};
  const auto seen = detail::json_seen_by_first(comm, [&] {
    const detail::Hdf5Turn turn;
    auto found = nlohmann::json::array();
    for (const auto& name : format.names(path.string())) found.push_back(to_json(look(format, path.string(), name)));
    return found;
  });
  std::vector<StoredInfo> all;
  for (const auto& fields : seen) all.push_back(from_json(fields));
  return all;
}

}  // namespace heatpp::io
