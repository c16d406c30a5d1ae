#include "../bytes.hpp"

#include <netcdf.h>

namespace {

using Catch::Contains;
using ht::io::NetcdfFormat;

ht::DNDarray whole(const at::Tensor& global) {
  return distribute(global,
                    ht::Layout({global.sizes().begin(), global.sizes().end()}, std::nullopt, ht::world().size()));
}

template <class E>
std::string replace_error(const std::string& path, const std::string& name, const at::Tensor& values) {
  return same_message<E>([&] { ht::io::save_netcdf(whole(values), path, name, {.append = true, .replace = true}); });
}

}  // namespace

TEST_CASE("variables of netCDF files are replaced from every layout, and grow if they can", "[io][netcdf]") {
  const TempDir dir;
  const auto path = dir.path("a.nc");
  const auto format = GENERATE(NetcdfFormat::netcdf4, NetcdfFormat::cdf5, NetcdfFormat::cdf1);
  const bool grows = GENERATE(true, false);
  const auto rows = counting({4, 3}, at::kInt), others = counting({4, 2});
  const auto more = counting({grows ? 9 : 4, 3}, at::kInt) + 100;
  for (const auto& layout : every_layout({more.size(0), 3})) {
    ht::io::save_netcdf(whole(rows), path, "x",
                        {.dimension_names = {"time", "place"}, .unlimited = grows, .format = format});
    ht::io::save_netcdf(whole(others), path, "y",
                        {.dimension_names = {"time", "side"}, .unlimited = grows, .append = true});
    ht::io::save_netcdf(distribute(more, layout), path, "x", {.append = true, .replace = true});

    CHECK(same(ht::io::load_netcdf(path, "x", {.split = layout.split()}), more));
    CHECK(same(ht::io::load_netcdf(path, "y", {.split = layout.split(), .slices = {ht::slice(0, 4)}}), others));
    const auto filled = at::full({more.size(0) - 4, 2}, NAN);
    CHECK(same(ht::io::load_netcdf(path, "y", {.slices = {ht::slice(4, more.size(0))}}), filled));
  }
  CHECK(dir.names() == std::vector<std::string>{"a.nc"});
}

TEST_CASE("a variable to replace that is not there is made, compressed ones and flags stay so", "[io][netcdf]") {
  const TempDir dir;
  const auto path = dir.path("a.nc");
  const auto flags = counting({5, 4}) > 7;
  ht::io::save_netcdf(whole(counting({6})), path, "x");
  ht::io::save_netcdf(whole(counting({5, 4})), path, "g/y", {.append = true, .replace = true, .compression = 3});
  ht::io::save_netcdf(whole(counting({5, 4}) * 2), path, "g/y", {.append = true, .replace = true});
  ht::io::save_netcdf(whole(flags), path, "flags", {.append = true});
  ht::io::save_netcdf(whole(flags.logical_not()), path, "flags", {.append = true, .replace = true});

  CHECK(same(ht::io::load_netcdf(path, "x", {.split = 0}), counting({6})));
  CHECK(same(ht::io::load_netcdf(path, "g/y", {.split = 1}), counting({5, 4}) * 2));
  CHECK(same(ht::io::load_netcdf(path, "flags", {.split = 1}), flags.logical_not()));
  on_root([&] {
    int file = -1, group = -1, variable = -1, shuffle = 0, deflated = 0, level = 0;
    nc_open(path.c_str(), NC_NOWRITE, &file);
    nc_inq_grp_ncid(file, "g", &group);
    nc_inq_varid(group, "y", &variable);
    CHECK(nc_inq_var_deflate(group, variable, &shuffle, &deflated, &level) == NC_NOERR);
    CHECK(level == 3);
    nc_close(file);
  });
}

TEST_CASE("an array that does not fit a variable does not change it", "[io][netcdf]") {
  const TempDir dir;
  const auto path = dir.path("a.nc");
  const auto format = GENERATE(NetcdfFormat::netcdf4, NetcdfFormat::cdf2);
  ht::io::save_netcdf(whole(counting({4, 3})), path, "x", {.format = format});
  ht::io::save_netcdf(whole(counting({4, 3})), path, "rows", {.unlimited = true, .append = true});
  ht::io::save_netcdf(whole(counting({4})), path, "packed", {.append = true});
  on_root([&] {
    int file = -1, variable = -1;
    nc_open(path.c_str(), NC_WRITE, &file);
    nc_inq_varid(file, "packed", &variable);
    nc_redef(file);
    const double scale = 2;
    CHECK(nc_put_att_double(file, variable, "scale_factor", NC_DOUBLE, 1, &scale) == NC_NOERR);
    CHECK(nc_close(file) == NC_NOERR);
  });
  CHECK_THAT(replace_error<ht::ValueError>(path, "x", counting({5, 3})), Contains("(5, 3)") && Contains("(4, 3)"));
  CHECK_THAT(replace_error<ht::ValueError>(path, "rows", counting({3, 3})), Contains("or more rows"));
  CHECK_THAT(replace_error<ht::ValueError>(path, "rows", counting({4, 4})), Contains("(4, 4)"));
  CHECK_THAT(replace_error<ht::ValueError>(path, "rows", counting({12})), Contains("(12,)"));
  CHECK_THAT(replace_error<ht::ValueError>(path, "packed", counting({4})), Contains("scale_factor"));
  CHECK_THAT(replace_error<ht::TypeError>(path, "x", counting({4, 3}, at::kShort)), Contains("int16"));
  const auto anew = [&] { ht::io::save_netcdf(whole(counting({4, 3})), path, "x", {.replace = true}); };
  CHECK_THAT(same_message<ht::ValueError>(anew), Contains("replace without append"));
  CHECK_THAT(replace_error<ht::TypeError>(path, "x", counting({4, 3}) > 2), Contains("bool"));
  CHECK(same(ht::io::load_netcdf(path, "x", {.split = 0}), counting({4, 3})));
  CHECK(same(ht::io::load_netcdf(path, "rows", {.split = 0}), counting({4, 3})));
}
