#include "../files.hpp"

#include <heatpp/comm/log.hpp>

#include <cmath>
#include <cstdlib>
#include <fstream>

namespace {

using Catch::Contains;
using ht::io::Attributes;

const Attributes everything{{"units", "K"},
                            {"long_name", "temp\u00e9rature"},
                            {"empty", ""},
                            {"level", std::int64_t{-3}},
                            {"far", std::int64_t{1} << 40},
                            {"factor", 0.25},
                            {"range", std::vector<std::int64_t>{0, 5}},
                            {"missing", std::vector<double>{-1.5, 1e300}},
                            {"stations", std::vector<std::string>{"north", "", "far south"}}};
const std::vector<std::string> names{"time", "x"};

std::vector<std::string> formats() {
  std::vector<std::string> all{"h5", "zarr"};
  if (ht::io::supports_netcdf()) all.emplace_back("nc");
  return all;
}

ht::io::SaveOptions said(Attributes attributes, std::vector<std::string> dimension_names = {}) {
  ht::io::SaveOptions options;
  options.attributes = std::move(attributes);
  options.dimension_names = std::move(dimension_names);
  return options;
}

/// Compares without ==, whose sides Catch would print.
bool says(const ht::io::StoredInfo& info, const Attributes& expected) { return info.attributes == expected; }

/// Returns what both `contents` and StoredArray find.
ht::io::StoredInfo found(const std::string& path) {
  const auto all = ht::io::contents(path);
  REQUIRE(all.size() == 1);
  const ht::io::StoredArray x(path);
  CHECK(says(x.info(), all[0].attributes));
  CHECK(x.info().dimension_names == all[0].dimension_names);
  return all[0];
}

/// Returns the attributes of files with NaN, which is not equal to itself.
Attributes found_in(const std::string& path) { return ht::io::StoredArray(path).info().attributes; }

}  // namespace

TEST_CASE("attributes of an array are saved with it, for any layout", "[io][attributes]") {
  const TempDir dir;
  const auto values = counting({6, 4});
  for (const auto& format : formats()) {
    INFO(format);
    const auto path = dir.path("x." + format);
    for (const auto& layout : every_layout({6, 4})) {
      ht::io::save(distribute(values, layout), path, said(everything, names));
      CHECK(says(found(path), everything));
      CHECK(found(path).dimension_names == names);
      CHECK(same(ht::io::load(path), values));
    }
  }
}

TEST_CASE("A number without axes, and an array without elements, have attributes, too", "[io][attributes]") {
  const TempDir dir;
  for (const auto& format : formats()) {
    INFO(format);
    ht::io::save(ht::full({}, 3), dir.path("one." + format), said({{"units", "m"}}));
    ht::io::save(ht::zeros({0, 2}, {.split = 0}), dir.path("none." + format), said({{"units", "s"}}, names));
    CHECK(says(found(dir.path("one." + format)), Attributes{{"units", "m"}}));
    CHECK(says(found(dir.path("none." + format)), Attributes{{"units", "s"}}));
    CHECK(found(dir.path("none." + format)).dimension_names == names);
  }
}

TEST_CASE("convert keeps the attributes of an array, except those that are given", "[io][attributes]") {
  const TempDir dir;
  for (const auto& from : formats()) {
    const auto path = dir.path("x." + from);
    ht::io::save(distribute(counting({6, 4}), ht::Layout({6, 4}, 0, ht::world().size())), path,
                 said(everything, names));
    const ht::io::StoredArray x(path);
    for (const auto& to : formats()) {
      INFO(from << " to " << to);
      const auto target = dir.path("y." + to);
      ht::io::convert(x, target);
      CHECK(says(found(target), everything));
      CHECK(found(target).dimension_names == names);

      ht::io::convert(x, target, {.save = said({{"units", "degC"}}, {"t", "y"})});
      auto changed = everything;
      changed["units"] = "degC";
      CHECK(says(found(target), changed));
      CHECK(found(target).dimension_names == std::vector<std::string>{"t", "y"});
    }
    ht::io::convert(x, dir.path("part-{rank}." + from), {.files = 2});
    CHECK(says(ht::io::StoredArray(dir.path("part-*." + from)).info(), everything));
    ht::io::convert(x, dir.path("y.npy"));  // NPY has no room for them
    CHECK(same(ht::io::load(dir.path("y.npy")), counting({6, 4})));
  }
}

TEST_CASE("a growing array keeps the attributes of its first rows", "[io][attributes]") {
  const TempDir dir;
  for (const std::string format : {"h5", "zarr"}) {
    const auto path = dir.path("x." + format);
    for (const auto* units : {"K", "degC"})
      ht::io::append_rows(ht::ones({3, 2}, {.split = 0}), path, said({{"units", units}}, names));
    CHECK(found(path).shape == ht::Shape{6, 2});
    CHECK(says(found(path), Attributes{{"units", "K"}}));
    CHECK(found(path).dimension_names == names);
  }
}

TEST_CASE("Shards are all said the same of", "[io][attributes]") {
  const TempDir dir;
  auto options = said({{"units", "K"}}, names);
  options.shards = true;
  ht::io::save_hdf5(ht::ones({9, 2}, {.split = 0}), dir.path("part-{rank}.h5"), "x", options);
  CHECK(says(ht::io::StoredArray(dir.path("part-*.h5")).info(), Attributes{{"units", "K"}}));
}

TEST_CASE("attributes with which load has decoded are left out", "[io][attributes][netcdf]") {
  if (!ht::io::supports_netcdf()) return;
  const TempDir dir;
  const auto stored = distribute(counting({6}, at::kShort), ht::Layout({6}, 0, ht::world().size()));
  const Attributes packing{
      {"scale_factor", 0.5}, {"_FillValue", 2}, {"valid_max", 4}, {"units", "K"}, {"missing_value", 3}};
  SECTION("scaled numbers") {
    ht::io::save(stored, dir.path("x.nc"), said(packing));
    CHECK(says(found(dir.path("x.nc")), Attributes{{"units", "K"}}));
    ht::io::convert(ht::io::StoredArray(dir.path("x.nc")), dir.path("y.nc"));
    const auto y = ht::io::load(dir.path("y.nc"));
    const auto nan = std::numeric_limits<double>::quiet_NaN();
    CHECK(equals(at::nan_to_num(gathered(y).to(at::kDouble), -1),
                 at::nan_to_num(at::tensor({0.0, 0.5, nan, nan, 2.0, nan}, at::kDouble), -1)));
  }
  SECTION("whole numbers, as they are stored") {
    ht::io::save(stored, dir.path("x.nc"), said(packing));
    CHECK(says(ht::io::StoredArray(dir.path("x.nc"), {.decode = false}).info(), packing));
    CHECK(same(ht::io::load(dir.path("x.nc"), {.decode = false}), counting({6}, at::kShort)));
  }
  SECTION("bool") {
    ht::io::save(ht::ones({3}, {.dtype = ht::bool_}), dir.path("x.nc"), said({{"units", "1"}}));
    CHECK(says(found(dir.path("x.nc")), Attributes{{"units", "1"}}));
    CHECK(ht::io::load(dir.path("x.nc")).dtype() == ht::bool_);
  }
}

TEST_CASE("netCDF's classic formats have the attributes that they have room for", "[io][attributes][netcdf]") {
  if (!ht::io::supports_netcdf()) return;
  const TempDir dir;
  auto options = said({{"units", "K"}, {"level", 3}, {"far", std::int64_t{1} << 40}}, names);
  options.netcdf_format = GENERATE(ht::io::NetcdfFormat::cdf5, ht::io::NetcdfFormat::cdf1);
  const auto x = ht::ones({4, 2}, {.split = 0});
  ht::io::save(x, dir.path("x.nc"), options);
  auto expected = options.attributes;
  if (options.netcdf_format == ht::io::NetcdfFormat::cdf1) expected["far"] = std::ldexp(1.0, 40);
  CHECK(says(found(dir.path("x.nc")), expected));
  CHECK(found(dir.path("x.nc")).dimension_names == names);

  options.attributes = {{"stations", std::vector<std::string>{"a", "b"}}};
  CHECK_THAT(same_message<ht::ValueError>([&] { ht::io::save(x, dir.path("y.nc"), options); }),
             Contains("got attribute \"stations\" of \"a\", \"b\"; expected one text, or numbers"));
  CHECK(dir.names() == std::vector<std::string>{"x.nc"});
}

TEST_CASE("NaN and infinity are attributes", "[io][attributes]") {
  const TempDir dir;
  const auto nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
  for (const auto& format : formats()) {
    INFO(format);
    const auto path = dir.path("x." + format);
    ht::io::save(ht::ones({2}), path, said({{"a", nan}, {"b", std::vector<double>{-infinity, 1}}}));
    const auto attributes = ht::io::contents(path)[0].attributes;
    CHECK(std::isnan(std::get<double>(attributes.at("a"))));
    CHECK(std::get<std::vector<double>>(attributes.at("b")) == std::vector<double>{-infinity, 1});
  }
}

TEST_CASE("Axes may be without a name", "[io][attributes]") {
  const TempDir dir;
  for (const auto& format : formats()) {
    INFO(format);
    ht::io::save(ht::ones({2, 3}), dir.path("x." + format), said({}, {"", "x"}));
    CHECK(found(dir.path("x." + format)).dimension_names[1] == "x");
    ht::io::convert(ht::io::StoredArray(dir.path("x." + format)), dir.path("y.h5"));
    CHECK(found(dir.path("y.h5")).dimension_names[1] == "x");
  }
}

TEST_CASE("attributes that a format cannot store are an error on all ranks", "[io][attributes][errors]") {
  const TempDir dir;
  const auto x = ht::ones({4, 2}, {.split = 0});
  const auto message = [&](const std::string& name, const ht::io::SaveOptions& options) {
    return same_message<ht::ValueError>([&] { ht::io::save(x, dir.path(name), options); });
  };
  for (const auto& format : formats()) {
    INFO(format);
    const auto name = "x." + format;
    CHECK_THAT(message(name, said({}, {"time"})),
               Contains("got 1 dimension names for an array of shape (4, 2), \"time\"; expected one for each axis"));
    CHECK_THAT(message(name, said({{"", "K"}})), Contains("got attribute \"\" of \"K\"; expected a name"));
    CHECK_THAT(message(name, said({{"range", std::vector<double>{}}})),
               Contains("got attribute \"range\" of nothing; expected a text, a number or some of these"));
    CHECK_THAT(message(name, said({{"units", std::string("K\0m", 3)}})), Contains("expected texts without zeros"));
    const bool first = ht::world().rank() == 0;
    if (ht::world().size() == 1) continue;
    CHECK_THAT(message(name, said({{"units", first ? "K" : "degC"}})), Contains("attributes"));
    CHECK_THAT(message(name, said({{"a", first ? NAN : INFINITY}})), Contains("attributes"));
    CHECK_THAT(
        message(name, said({}, first ? std::vector<std::string>{"a, b", "c"} : std::vector<std::string>{"a", "b, c"})),
        Contains("dimension_names"));
  }
  CHECK_THAT(message("x.h5", said({{"long", std::vector<double>(9000, 1.0)}})),
             Contains("got attribute \"long\" of 1.0, 1.0, ") && Contains("...; expected less than 64 KiB"));
  CHECK_THAT(message("x.h5", said({{"DIMENSION_LABELS", "t"}})), Contains("expected another name"));
  CHECK_THAT(message("x.zarr", said({{"_ARRAY_DIMENSIONS", "t"}})), Contains("expected dimension_names for those"));
  CHECK_THAT(message("x.npy", said({{"units", "K"}})), Contains("got attributes for .npy"));
  if (ht::io::supports_netcdf()) {
    CHECK_THAT(message("x.nc", said({{"a/b", "K"}})), Contains("expected names that begin with a letter"));
    CHECK_THAT(message("x.nc", said({}, {"a/b", "c"})), Contains("\"a/b\", \"c\"; expected names that begin with"));
    CHECK_THAT(message("x.nc", said({}, {"a", "a"})), Contains("expected other names for axes of other lengths"));
    CHECK_THAT(message("x.nc", said({{"CLASS", "ARRAY"}})), Contains("expected another name, as netCDF keeps"));
    CHECK_THAT(message("x.nc", said({{"scale_factor", std::vector<double>{1, 2}}})), Contains("expected one number"));
    CHECK_THAT(message("x.nc", said({{"_FillValue", "none"}})), Contains("expected one number that float32 has"));
  }
  CHECK(dir.names().empty());
}

TEST_CASE("convert logs attributes that the new format cannot store", "[io][attributes]") {
  const TempDir dir;
  const Attributes kept{{"units", "K"}, {"_FillValue", 7}};
  auto all = kept;
  all.merge(Attributes{{"CLASS", "ARRAY"}, {" lead", 1}, {"long", std::vector<std::int64_t>(9000, 1)}});
  const auto x = distribute(counting({4, 4}, at::kInt), ht::Layout({4, 4}, 0, ht::world().size()));
  ht::io::save(x, dir.path("x.zarr"), said(all, {"a/b", "c"}));
  std::vector<std::string> told;
  ht::set_log([&](ht::LogLevel, std::string_view text) { told.emplace_back(text); }, {.all_ranks = true});
  const ht::io::StoredArray stored(dir.path("x.zarr"));
  if (ht::io::supports_netcdf()) {
    ht::io::convert(stored, dir.path("y.nc"));
    CHECK(found(dir.path("y.nc")).attributes.size() == 2);  // netCDF has room for long ones
    CHECK(ht::io::StoredArray(dir.path("y.nc"), {.decode = false}).info().attributes.contains("_FillValue"));
    CHECK(told.size() == 3);
    CHECK_THAT(told.at(0), Contains("[convert] left out the dimension names \"a/b\", \"c\"; expected names that"));
    CHECK_THAT(told.at(1), Contains("[convert] left out attribute \" lead\" of 1; expected names that"));
    CHECK_THAT(same_message<ht::ValueError>([&] {
                 ht::io::convert(stored, dir.path("z.nc"), {.save = said({{" lead", "off"}})});
               }),
               Contains("got attribute \" lead\" of \"off\"; expected names that"));
  }
  ht::set_log({});
}

TEST_CASE("Zarr's attributes may be as Python writes them", "[io][attributes]") {
  const TempDir dir;
  ht::io::save(ht::zeros({3}, {.dtype = ht::int16}), dir.path("x.zarr"));
  const auto write = [&](const std::string& text) {
    on_root([&] { std::ofstream(dir.path("x.zarr/data/.zattrs")) << text; });
  };
  write(
      R"({"a": NaN, "b": [-Infinity, 1, Infinity], "c": "NaN \" NaN", "d": "temp\u00e9", "e": null, "g": true, "h": [false, 1.5], "f": {"g": 1}, "": 2})");
  auto attributes = found_in(dir.path("x.zarr"));
  CHECK(attributes.size() == 6);
  CHECK(std::get<std::int64_t>(attributes.at("g")) == 1);
  CHECK(std::get<std::vector<double>>(attributes.at("h")) == std::vector<double>{0, 1.5});
  CHECK(std::isnan(std::get<double>(attributes.at("a"))));
  CHECK(std::get<std::vector<double>>(attributes.at("b")) == std::vector<double>{-INFINITY, 1, INFINITY});
  CHECK(std::get<std::string>(attributes.at("c")) == "NaN \" NaN");
  write(
      "{\"units\": \"\xb0"
      "C\"}");
  CHECK(std::get<std::string>(found_in(dir.path("x.zarr")).at("units")) ==
        "\u00b0"
        "C");
  write("{\"a\": 1, \"deep\": " + std::string(300000, '[') + std::string(300000, ']') + "}");
  CHECK(std::get<std::int64_t>(found_in(dir.path("x.zarr")).at("a")) == 1);
  write("{\"a\": ");
  CHECK_THAT(same_message<ht::IoError>([&] { ht::io::StoredArray(dir.path("x.zarr")); }),
             Contains(".zattrs\", which cannot be understood"));
}

// Files that Python's libraries wrote, to be read by them again: attributes_test.py.
TEST_CASE("files of Python's libraries are converted with their attributes", "[.annotated]") {
  const std::string root = std::getenv("HEATPP_ANNOTATED_FILES");
  for (const std::string from : {"x.h5", "x.nc", "v2.zarr", "v3.zarr"})
    for (const std::string to : {"h5", "nc", "zarr"})
      ht::io::convert(ht::io::StoredArray(root + "/in/" + from, {.dataset = from == "x.nc" ? "data" : ""}),
                      root + "/out/" + from + "." + to,
                      {.save = {.dataset = from == "x.nc" && to != "zarr" ? "data" : ""}});
  ht::io::convert(ht::io::StoredArray(root + "/in/x.nc", {.dataset = "flags"}), root + "/out/flags.nc",
                  {.save = {.dataset = "flags"}});
}
