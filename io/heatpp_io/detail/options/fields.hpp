#pragma once

#include <heatpp/core/detail/fields.hpp>
#include <heatpp/core/shape.hpp>
#include <heatpp_io/csv/load_csv.hpp>
#include <heatpp_io/csv/save_csv.hpp>
#include <heatpp_io/detail/elements/annotations.hpp>
#include <heatpp_io/hdf5/load_hdf5.hpp>
#include <heatpp_io/hdf5/save_hdf5.hpp>
#include <heatpp_io/netcdf/netcdf.hpp>
#include <heatpp_io/vtkhdf/save_vtkhdf.hpp>
#include <heatpp_io/zarr/zarr.hpp>

#include <array>
#include <nlohmann/json.hpp>

namespace heatpp::detail {

template <>
struct FieldText<Shape> {
  static std::string of(const Shape& shape) { return to_string(shape); }
};
template <>
struct FieldText<Grid> {
  static std::string of(const Grid& grid) { return to_string(grid); }
};
template <>
struct FieldText<io::Compression> {
  static std::string of(const io::Compression& compression) {
    const auto& shuffle = compression.shuffle;
    return io::to_string(compression) + (shuffle ? formatted(" with shuffle {}", *shuffle) : "");
  }
};
template <>
struct FieldText<io::Attributes> {
  static std::string of(const io::Attributes& attributes) {
    auto json = io::detail::json_of(attributes);
    io::detail::name_numbers(json);
    return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  }
};
template <>
struct FieldText<Slice> {
  static std::string of(const Slice& slice) {
    const auto end = [](const std::optional<std::int64_t>& of) { return of ? formatted("{}", *of) : std::string(); };
    return formatted("{}:{}:{}", end(slice.start), end(slice.stop), slice.step);
  }
};
template <>
inline constexpr std::array choice_names<io::MissingSources> = {"error", "fill"};
template <>
inline constexpr std::array choice_names<io::NetcdfFormat> = {"netcdf4", "cdf5", "cdf2", "cdf1"};

template <>
inline constexpr std::tuple fields_of<io::SaveOptions> = {Field{"dataset", &io::SaveOptions::dataset},
                                                          Field{"append", &io::SaveOptions::append},
                                                          Field{"shards", &io::SaveOptions::shards},
                                                          Field{"grows", &io::SaveOptions::grows},
                                                          Field{"compression", &io::SaveOptions::compression},
                                                          Field{"chunks", &io::SaveOptions::chunks},
                                                          Field{"collective", &io::SaveOptions::collective},
                                                          Field{"subfiles", &io::SaveOptions::subfiles},
                                                          Field{"netcdf_format", &io::SaveOptions::netcdf_format},
                                                          Field{"dimension_names", &io::SaveOptions::dimension_names},
                                                          Field{"attributes", &io::SaveOptions::attributes},
                                                          Field{"zarr_format", &io::SaveOptions::zarr_format},
                                                          Field{"zarr_shards", &io::SaveOptions::zarr_shards},
                                                          Field{"uint64", &io::SaveOptions::uint64}};
template <>
inline constexpr std::tuple fields_of<io::SaveNetcdfOptions> = {
    Field{"dimension_names", &io::SaveNetcdfOptions::dimension_names},
    Field{"unlimited", &io::SaveNetcdfOptions::unlimited},
    Field{"append", &io::SaveNetcdfOptions::append},
    Field{"replace", &io::SaveNetcdfOptions::replace},
    Field{"chunks", &io::SaveNetcdfOptions::chunks},
    Field{"compression", &io::SaveNetcdfOptions::compression},
    Field{"shuffle", &io::SaveNetcdfOptions::shuffle},
    Field{"format", &io::SaveNetcdfOptions::format},
    Field{"attributes", &io::SaveNetcdfOptions::attributes},
    Field{"uint64", &io::SaveNetcdfOptions::uint64}};
template <>
inline constexpr std::tuple fields_of<io::SaveZarrOptions> = {
    Field{"chunks", &io::SaveZarrOptions::chunks},
    Field{"compression", &io::SaveZarrOptions::compression},
    Field{"overwrite", &io::SaveZarrOptions::overwrite},
    Field{"dimension_names", &io::SaveZarrOptions::dimension_names},
    Field{"attributes", &io::SaveZarrOptions::attributes},
    Field{"dataset", &io::SaveZarrOptions::dataset},
    Field{"append", &io::SaveZarrOptions::append},
    Field{"format", &io::SaveZarrOptions::format},
    Field{"shards", &io::SaveZarrOptions::shards},
    Field{"uint64", &io::SaveZarrOptions::uint64}};
template <>
inline constexpr std::tuple fields_of<io::SaveVtkhdfOptions> = {
    Field{"name", &io::SaveVtkhdfOptions::name},
    Field{"axes", &io::SaveVtkhdfOptions::axes},
    Field{"spacing", &io::SaveVtkhdfOptions::spacing},
    Field{"origin", &io::SaveVtkhdfOptions::origin},
    own_field("points", &io::SaveVtkhdfOptions::points),  // an array, which its functions compare
    Field{"time", &io::SaveVtkhdfOptions::time},
    Field{"append", &io::SaveVtkhdfOptions::append},
    Field{"compression", &io::SaveVtkhdfOptions::compression}};
template <>
inline constexpr std::tuple fields_of<io::SaveCsvOptions> = {
    Field{"delimiter", &io::SaveCsvOptions::delimiter}, Field{"header", &io::SaveCsvOptions::header},
    Field{"footer", &io::SaveCsvOptions::footer}, Field{"decimals", &io::SaveCsvOptions::decimals}};
template <>
inline constexpr std::tuple fields_of<io::LoadOptions> = {Field{"dataset", &io::LoadOptions::dataset},
                                                          Field{"split", &io::LoadOptions::split},
                                                          Field{"grid", &io::LoadOptions::grid},
                                                          Field{"slices", &io::LoadOptions::slices},
                                                          Field{"dtype", &io::LoadOptions::dtype},
                                                          own_field("device", &io::LoadOptions::device),
                                                          own_field("comm", &io::LoadOptions::comm),
                                                          Field{"collective", &io::LoadOptions::collective},
                                                          Field{"decode", &io::LoadOptions::decode},
                                                          Field{"field", &io::LoadOptions::field},
                                                          Field{"missing_sources", &io::LoadOptions::missing_sources}};
template <>
inline constexpr std::tuple fields_of<io::LoadCsvOptions> = {
    Field{"delimiter", &io::LoadCsvOptions::delimiter}, Field{"header_lines", &io::LoadCsvOptions::header_lines},
    Field{"max_rows", &io::LoadCsvOptions::max_rows},   Field{"columns", &io::LoadCsvOptions::columns},
    Field{"missing", &io::LoadCsvOptions::missing},     Field{"missing_texts", &io::LoadCsvOptions::missing_texts},
    Field{"comment", &io::LoadCsvOptions::comment},     Field{"quote", &io::LoadCsvOptions::quote},
    Field{"dtype", &io::LoadCsvOptions::dtype},         Field{"split", &io::LoadCsvOptions::split},
    Field{"grid", &io::LoadCsvOptions::grid},           own_field("device", &io::LoadCsvOptions::device),
    own_field("comm", &io::LoadCsvOptions::comm)};

}  // namespace heatpp::detail

namespace heatpp::io::detail {

/// Returns what must be equal on all ranks that write to this path with these options.
[[nodiscard]] std::vector<heatpp::detail::Setting> settings_to_write(const std::filesystem::path& path,
                                                                     const heatpp::detail::Described auto& options) {
  std::vector<heatpp::detail::Setting> settings{{"path", heatpp::detail::field_text(path)}};
  heatpp::detail::add_settings(options, "", settings);
  return settings;
}

/// Returns what must be equal on all ranks that read these files with these options.
[[nodiscard]] std::vector<heatpp::detail::Setting> settings_to_read(const Source& source,
                                                                    const heatpp::detail::Described auto& options) {
  std::vector<heatpp::detail::Setting> settings{{"path", heatpp::detail::field_text(source.names())}};
  heatpp::detail::add_settings(options, "", settings);
  return settings;
}

}  // namespace heatpp::io::detail
