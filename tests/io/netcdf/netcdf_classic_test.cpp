#include "../bytes.hpp"

#include <heatpp_io/stream/convert.hpp>
#include <netcdf.h>

#include <algorithm>

namespace {

using Catch::Contains;
using ht::io::NetcdfFormat;
using ht::io::SaveNetcdfOptions;

struct Named {
  NetcdfFormat format;
  std::string name;
  char version;
};
const std::vector<Named> classic{
    {NetcdfFormat::cdf5, "cdf5", 5}, {NetcdfFormat::cdf2, "cdf2", 2}, {NetcdfFormat::cdf1, "cdf1", 1}};

bool in_format(const std::string& path, const Named& expected) {
  const auto bytes = read_bytes(path);
  return bytes.substr(0, 3) == "CDF" && bytes.at(3) == expected.version;
}

template <class E = ht::ValueError>
std::string save_error(const std::string& path, const ht::DNDarray& x, const SaveNetcdfOptions& options,
                       const std::string& name = "x") {
  return same_message<E>([&] { ht::io::save_netcdf(x, path, name, options); });
}

ht::DNDarray cut(const at::Tensor& global, int split) {
  return distribute(global, ht::Layout({global.sizes().begin(), global.sizes().end()}, split, ht::world().size()));
}

}  // namespace

TEST_CASE("every layout is saved in netCDF's classic formats", "[io][netcdf]") {
  const TempDir dir;
  const auto path = dir.path("a.nc");
  const ht::Shape shape = GENERATE(ht::Shape{7, 5}, ht::Shape{3, 4, 5}, ht::Shape{1}, ht::Shape{0, 3}, ht::Shape{});
  const auto type = GENERATE(at::kDouble, at::kChar);
  const auto global = counting(shape, type);
  for (const auto& layout : every_layout(shape))
    for (const auto& format : classic)
      for (const bool unlimited : {false, !shape.empty()}) {
        ht::io::save_netcdf(distribute(global, layout), path, "x", {.unlimited = unlimited, .format = format.format});

        CHECK(in_format(path, format));
        CHECK(same(ht::io::load_netcdf(path, "x", {.split = layout.split()}), global));
      }
  CHECK(dir.names() == std::vector<std::string>{"a.nc"});
}

TEST_CASE("dtypes of the classic formats come back as they were", "[io][netcdf]") {
  const TempDir dir;
  const auto path = dir.path("a.nc");
  for (const auto& format : classic)
    for (int i = 0; i < ht::dtype_count; ++i) {
      const auto dtype = static_cast<ht::Dtype>(i);
      const bool short_format = format.version < 5 && (dtype == ht::uint8 || dtype == ht::int64);
      const bool never = dtype == ht::float16 || dtype == ht::bfloat16 || ht::is_complex(dtype);
      const auto global = (counting({4, 3}, at::kDouble) - 5).to(ht::to_torch(dtype));
      if (short_format || never) {
        CHECK_THAT(save_error<ht::TypeError>(path, cut(global, 1), {.format = format.format}),
                   Contains(std::string(ht::name(dtype))) && Contains(never ? "netCDF has" : format.name));
      } else {
        ht::io::save(cut(global, 1), path, {.netcdf_format = format.format});
        CHECK(same(ht::io::load(path, {.dataset = "data", .split = 0}), global));
      }
    }
}

TEST_CASE("variables and records are added to files of the classic formats", "[io][netcdf]") {
  const TempDir dir;
  const auto path = dir.path("a.nc");
  const auto x = counting({5, 3}, at::kChar), y = counting({5}, at::kDouble), z = counting({2, 7}, at::kShort),
             again = counting({5, 1}, at::kShort);
  for (const auto& format : classic) {
    ht::io::save_netcdf(cut(x, 0), path, "x",
                        {.dimension_names = {"time", "place"}, .unlimited = true, .format = format.format});
    ht::io::save_netcdf(cut(y, 0), path, "y", {.dimension_names = {"time"}, .append = true});
    ht::io::save_netcdf(cut(z, 1), path, "a long name, for a longer header", {.append = true});
    ht::io::save_netcdf(cut(again, 0), path, "again",
                        {.dimension_names = {"time", "one"}, .append = true, .format = format.format});

    CHECK(in_format(path, format));
    CHECK(same(ht::io::load_netcdf(path, "x", {.split = 1}), x));
    CHECK(same(ht::io::load_netcdf(path, "y", {.split = 0}), y));
    CHECK(same(ht::io::load_netcdf(path, "a long name, for a longer header", {.split = 0}), z));
    CHECK(same(ht::io::load_netcdf(path, "again"), again));
    on_root([&] {
      int file = -1, time = -1, unlimited = -1, dimensions = 0;
      CHECK(nc_open(path.c_str(), NC_NOWRITE, &file) == NC_NOERR);
      CHECK(nc_inq_dimid(file, "time", &time) == NC_NOERR);
      nc_inq_unlimdim(file, &unlimited);
      nc_inq_ndims(file, &dimensions);
      CHECK(unlimited == time);
      CHECK(dimensions == 5);
      nc_close(file);
    });

    const auto before = read_bytes(path);
    CHECK_THAT(save_error(path, cut(x, 0), {.append = true}), Contains("\"x\"") && Contains("has already"));
    CHECK_THAT(save_error(path, cut(y, 0), {.unlimited = true, .append = true}, "w"),
               Contains("\"w\" of shape (5,)") && Contains("in format " + format.name) && Contains("one dimension"));
    CHECK_THAT(save_error(path, cut(y, 0), {.append = true, .format = NetcdfFormat::netcdf4}, "w"),
               Contains("got format netcdf4") && Contains("which is " + format.name));
    CHECK_THAT(save_error(path, cut(x, 0), {.dimension_names = {"place", "time"}, .append = true}, "w"),
               Contains("got 5 elements for axis 0, and dimension \"place\""));
    CHECK(read_bytes(path) == before);
  }
  ht::io::save_netcdf(cut(x, 0), path, "x");
  CHECK_THAT(save_error(path, cut(x, 0), {.append = true, .format = NetcdfFormat::cdf5}, "w"),
             Contains("got format cdf5") && Contains("which is netcdf4"));
}

TEST_CASE("what the classic formats do not have is an error on all ranks", "[io][netcdf]") {
  const TempDir dir;
  const auto path = dir.path("a.nc");
  const auto x = ht::ones({4, 6}, {.split = 0});
  const auto format = NetcdfFormat::cdf5;
  CHECK_THAT(save_error(path, x, {.format = format}, "group/x"),
             Contains("\"group/x\" in a group") && Contains("cdf5"));
  CHECK_THAT(save_error(path, x, {.chunks = {2, 3}, .format = format}), Contains("got chunks (2, 3)"));
  CHECK_THAT(save_error(path, x, {.compression = 4, .format = format}), Contains("got compression 4"));
  CHECK_THAT(save_error(path, ht::ones({4, 0}), {.format = format}), Contains("(4, 0)") && Contains("along axis 1"));
  const auto refused = [&](const std::string& name) {
    return same_message<ht::ValueError>([&] { ht::io::save(x, dir.path(name), {.netcdf_format = format}); });
  };
  for (const auto* name : {"a.h5", "a.npy", "a.csv", "a.zarr"}) CHECK_THAT(refused(name), Contains("netcdf_format"));

  const ht::io::RowsToSave longer{.shape = {(std::int64_t{1} << 31) - 3, 1},
                                  .dtype = ht::int8,
                                  .rows = [](auto, auto) -> ht::DNDarray { throw std::runtime_error("rows"); }};
  for (const auto& [short_axes, name, version] : classic)
    if (version < 5)
      CHECK_THAT(same_message<ht::ValueError>([&] { ht::io::save_rows(longer, path, {.netcdf_format = short_axes}); }),
                 Contains("(2147483645, 1)") && Contains(name) && Contains("to 2147483644"));
  CHECK(dir.names().empty());
}

TEST_CASE("arrays are converted to netCDF's classic formats", "[io][netcdf]") {
  const TempDir dir;
  const auto global = counting({23, 7});
  ht::io::save(cut(global, 0), dir.path("a.h5"), {.dataset = "x", .chunks = {5, 3}});
  const ht::io::StoredArray x(dir.path("a.h5"));
  for (const auto& format : classic) {
    ht::io::convert(x, dir.path("a.nc"),
                    {.save = {.dataset = "x", .netcdf_format = format.format}, .piece_bytes = 200});
    CHECK(in_format(dir.path("a.nc"), format));
    CHECK(same(ht::io::load_netcdf(dir.path("a.nc"), "x", {.split = 0}), global));
  }
}

/// Reads what SciPy has written, and writes files for SciPy to read.
TEST_CASE("files of the classic formats for Python", "[.scipy]") {
  const std::filesystem::path folder(std::getenv("HEATPP_NETCDF_FILES"));
  const auto expected = counting({7, 5}, at::kDouble);
  for (const auto& format : classic) {
    if (format.version < 5)
      for (const auto* name : {"x", "rows"})
        CHECK(same(ht::io::load_netcdf(folder / ("in_" + format.name + ".nc"), name, {.split = 0}), expected));
    const auto path = folder / ("out_" + format.name + ".nc");
    const auto flags = expected.remainder(3) == 0;
    ht::io::save_netcdf(cut(expected, 1), path, "x", {.dimension_names = {"y", "x"}, .format = format.format});
    ht::io::save_netcdf(cut(flags, 0), path, "flags",
                        {.dimension_names = {"time", "x"}, .unlimited = true, .append = true});
    for (const auto type : {at::kChar, at::kShort, at::kInt, at::kFloat})
      ht::io::save_netcdf(cut((expected - 17).to(type), 0), path, std::string("rows_") + at::toString(type),
                          {.dimension_names = {"time", "x"}, .append = true});
  }
}
