#include "../bytes.hpp"

#include <fmt/format.h>
#include <netcdf.h>

namespace {

using Catch::Contains;

int stored_type(const at::Tensor& values) {
  switch (values.scalar_type()) {
    case at::kChar: return NC_BYTE;
    case at::kShort: return NC_SHORT;
    case at::kInt: return NC_INT;
    case at::kLong: return NC_INT64;
    case at::kFloat: return NC_FLOAT;
    default: return NC_DOUBLE;
  }
}

struct Stored {
  int mode = NC_NETCDF4;
  int type = NC_NAT;  ///< that of the values, unless given
  std::vector<std::size_t> chunk = {};
  bool deflate = false;
};

/// Writes a file with one variable by netCDF's C functions, on rank 0.
void write_netcdf(const std::string& path, const std::string& name, const at::Tensor& values,
                  const Stored& stored = {}) {
  on_root([&] {
    int file = -1, variable = -1;
    std::vector<int> dimensions;
    nc_create(path.c_str(), NC_CLOBBER | stored.mode, &file);
    for (const auto extent : values.sizes())
      nc_def_dim(file, fmt::format("d{}", dimensions.size()).c_str(), static_cast<std::size_t>(extent),
                 &dimensions.emplace_back());
    nc_def_var(file, name.c_str(), stored.type == NC_NAT ? stored_type(values) : stored.type,
               static_cast<int>(dimensions.size()), dimensions.data(), &variable);
    if (!stored.chunk.empty()) nc_def_var_chunking(file, variable, NC_CHUNKED, stored.chunk.data());
    if (stored.deflate) nc_def_var_deflate(file, variable, 0, 1, 3);
    nc_enddef(file);
    const auto wide = values.to(at::kDouble).contiguous();
    CHECK(nc_put_var_double(file, variable, wide.const_data_ptr<double>()) == NC_NOERR);
    CHECK(nc_close(file) == NC_NOERR);
  });
}

std::string load_error(const std::string& path, const std::string& name = "x") {
  return same_message<ht::IoError>([&] { return ht::io::load_netcdf(path, name, {.split = 0}); });
}

}  // namespace

TEST_CASE("netCDF files of every kind load with every split", "[io][netcdf]") {
  const TempDir dir;
  const auto path = dir.path("a.nc");
  const Stored kinds[] = {
      {}, {.mode = NC_CLASSIC_MODEL}, {.mode = NC_64BIT_OFFSET}, {.chunk = {5, 3}}, {.chunk = {4, 7}, .deflate = true}};
  const auto global = counting({23, 7}, at::kInt);
  for (const auto& kind : kinds) {
    write_netcdf(path, "x", global, kind);
    for (const auto& split : every_split({23, 7})) {
      CHECK(same(ht::io::load_netcdf(path, "x", {.split = split}), global));
      CHECK(same(
          ht::io::load(path, {.split = split, .slices = {ht::slice(1, -1, 3), ht::slice(2, 6)}, .dtype = ht::float64}),
          global.slice(0, 1, 22, 3).slice(1, 2, 6).to(at::kDouble)));
    }
  }
  write_netcdf(path, "x", counting({}));
  CHECK(same(ht::io::load_netcdf(path, ""), counting({})));
}

TEST_CASE("classic netCDF files that end too early are errors", "[io][netcdf]") {
  const TempDir dir;
  const auto path = dir.path("a.nc"), cut = dir.path("b.nc");
  const auto values = counting({4, 3}, at::kShort);
  for (const int mode : {0, NC_64BIT_OFFSET, NC_64BIT_DATA})
    for (const bool alone : {true, false}) {
      on_root([&] {
        int file = -1, fixed = -1, x = -1, y = -1, dimensions[] = {-1, -1};
        nc_create(path.c_str(), NC_CLOBBER | mode, &file);
        nc_put_att_text(file, NC_GLOBAL, "title", 5, "a run");
        nc_def_dim(file, "time", NC_UNLIMITED, &dimensions[0]);
        nc_def_dim(file, "place", 3, &dimensions[1]);
        nc_def_var(file, "fixed", NC_BYTE, 1, &dimensions[1], &fixed);
        nc_def_var(file, "x", NC_SHORT, 2, dimensions, &x);
        if (!alone) nc_def_var(file, "y", NC_DOUBLE, 1, dimensions, &y);
        nc_enddef(file);
        const std::size_t start[] = {0, 0}, count[] = {4, 3};
        const auto numbers = values.to(at::kDouble);
        nc_put_vara_double(file, x, start, count, numbers.const_data_ptr<double>());
        if (!alone) nc_put_vara_double(file, y, start, count, numbers.const_data_ptr<double>());
        CHECK(nc_close(file) == NC_NOERR);
      });
      CHECK(same(ht::io::load_netcdf(path, "x", {.split = 0}), values));
      const auto all = read_bytes(path);
      for (const auto bytes : std::vector<std::size_t>{alone ? 4U : 1U, 30, 60, 100}) {
        write_bytes(cut, all.substr(0, all.size() - bytes));
        CHECK_THAT(load_error(cut), Contains("b.nc\""));
      }
      write_bytes(cut, all.substr(0, all.size() - 4));
      CHECK_THAT(load_error(cut), Contains("as its header says"));
    }
}

TEST_CASE("types of netCDF become the library's", "[io][netcdf]") {
  const TempDir dir;
  const auto path = dir.path("a.nc");
  const auto global = counting({5, 3}, at::kInt);
  const std::pair<int, ht::Dtype> types[] = {{NC_BYTE, ht::int8},     {NC_UBYTE, ht::uint8},  {NC_SHORT, ht::int16},
                                             {NC_USHORT, ht::int32},  {NC_INT, ht::int32},    {NC_UINT, ht::int64},
                                             {NC_INT64, ht::int64},   {NC_UINT64, ht::int64}, {NC_FLOAT, ht::float32},
                                             {NC_DOUBLE, ht::float64}};
  for (const auto& [type, dtype] : types) {
    write_netcdf(path, "x", global, {.type = type});
    CHECK(same(ht::io::load_netcdf(path, "x", {.split = 0}), global.to(ht::to_torch(dtype))));
    CHECK(same(ht::io::load_netcdf(path, "x", {.split = 1, .dtype = ht::complex64}), global.to(at::kComplexFloat)));
  }
}

TEST_CASE("many netCDF files are one array", "[io][netcdf]") {
  const TempDir dir;
  const auto global = counting({12, 2});
  for (const int i : {0, 1, 2, 3})
    write_netcdf(dir.path(fmt::format("part-{}.nc", i)), "x", global.slice(0, 3 * i, 3 * i + 3));
  for (const auto& split : every_split({12, 2}))
    CHECK(same(ht::io::load_netcdf(dir.path("part-*.nc"), "x", {.split = split}), global));
}

TEST_CASE("every layout is saved as netCDF", "[io][netcdf]") {
  const TempDir dir;
  const auto path = dir.path("a.nc");
  const ht::Shape shape = GENERATE(ht::Shape{7, 5}, ht::Shape{3, 4, 5}, ht::Shape{1}, ht::Shape{0, 3}, ht::Shape{});
  const auto global = counting(shape);
  for (const auto& layout : every_layout(shape))
    for (const auto& options : {ht::io::SaveNetcdfOptions{}, ht::io::SaveNetcdfOptions{.compression = 2},
                                ht::io::SaveNetcdfOptions{.unlimited = !shape.empty()}}) {
      ht::io::save_netcdf(distribute(global, layout), path, "group/x", options);

      CHECK(same(ht::io::load_netcdf(path, "group/x", {.split = layout.split()}), global));
      CHECK(same(ht::io::load_hdf5(path, "group/x"), global));
    }
  CHECK(dir.names() == std::vector<std::string>{"a.nc"});
}

TEST_CASE("dtypes of netCDF come back as they were", "[io][netcdf]") {
  const TempDir dir;
  const auto path = dir.path("a.nc");
  for (int i = 0; i < ht::dtype_count; ++i) {
    const auto dtype = static_cast<ht::Dtype>(i);
    const auto global = counting({4, 3}, at::kDouble).to(ht::to_torch(dtype));
    const auto x = distribute(global, ht::Layout({4, 3}, 1, ht::world().size()));
    const auto save = [&] { ht::io::save(x, path); };
    if (dtype == ht::float16 || dtype == ht::bfloat16 || dtype == ht::complex64 || dtype == ht::complex128) {
      CHECK_THAT(same_message<ht::TypeError>(save), Contains(std::string(ht::name(dtype))));
    } else {
      save();
      CHECK(same(ht::io::load(path, {.dataset = "data", .split = 0}), global));
    }
  }
}

TEST_CASE("variables are added to netCDF files, with named dimensions", "[io][netcdf]") {
  const TempDir dir;
  const auto path = dir.path("a.nc");
  const auto x = ht::arange(6, {.dtype = ht::float32, .split = 0});
  ht::io::save_netcdf(x, path, "x", {.dimension_names = {"x"}});
  ht::io::save_netcdf(ht::full({6}, 2.5, {.split = 0}), path, "y", {.dimension_names = {"x"}, .append = true});
  CHECK(same(ht::io::load_netcdf(path, "x", {.split = 0}), at::arange(6, at::kFloat)));
  CHECK(same(ht::io::load_netcdf(path, "", {.split = 0}), at::full({6}, 2.5f)));
  on_root([&] {
    int file = -1, dimension = -1, count = 0;
    nc_open(path.c_str(), NC_NOWRITE, &file);
    CHECK(nc_inq_dimid(file, "x", &dimension) == NC_NOERR);
    nc_inq_ndims(file, &count);
    CHECK(count == 1);
    nc_close(file);
  });
  const auto again = [&] { ht::io::save_netcdf(x, path, "y", {.append = true}); };
  const auto growing = [&] { ht::io::save_netcdf(ht::ones({4, 0}), path, "z", {.unlimited = true, .append = true}); };
  CHECK_THAT(same_message<ht::ValueError>(growing), Contains("(4, 0)"));
  CHECK_THAT(same_message<ht::ValueError>(again), Contains("\"y\"") && Contains("has already"));
  const auto longer = [&] {
    ht::io::save_netcdf(ht::zeros({7}), path, "z", {.dimension_names = {"x"}, .append = true});
  };
  CHECK_THAT(same_message<ht::ValueError>(longer), Contains("got 7") && Contains("length 6"));
  const auto endless = [&] {
    ht::io::save_netcdf(ht::zeros({6}), path, "z", {.dimension_names = {"x"}, .unlimited = true, .append = true});
  };
  CHECK_THAT(same_message<ht::ValueError>(endless), Contains("\"x\"") && Contains("an end at 6"));
  CHECK(dir.names() == std::vector<std::string>{"a.nc"});
}

TEST_CASE("bad netCDF files and options are errors on all ranks", "[io][netcdf]") {
  const TempDir dir;
  write_netcdf(dir.path("a.nc"), "x", counting({4}));
  write_bytes(dir.path("text.nc"), "no netCDF");
  CHECK_THAT(load_error(dir.path("no.nc")), Contains("No such file"));
  CHECK_THAT(load_error("http://127.0.0.1/a.nc"), Contains("an address; expected a path"));
  CHECK_THAT(load_error(dir.path("text.nc")), Contains("text.nc"));
  CHECK_THAT(load_error(dir.path("a.nc"), "y"), Contains("\"y\"") && Contains("\"x\""));
  CHECK_THAT(load_error(dir.path("a.nc"), "g/x"), Contains("g/x"));
  const auto bytes = read_bytes(dir.path("a.nc"));
  write_bytes(dir.path("short.nc"), bytes.substr(0, bytes.size() / 2));
  CHECK_THAT(load_error(dir.path("short.nc")), Contains("short.nc"));
  const auto error = [&](const std::string& name, const ht::io::SaveNetcdfOptions& options) {
    return same_message<ht::ValueError>([&] {
      ht::io::save_netcdf(ht::zeros({4, 2}), dir.path("b.nc"), name, options);
    });
  };
  CHECK_THAT(error("", {}), Contains("name \"\""));
  CHECK_THAT(error("a//b", {}), Contains("a//b"));
  CHECK_THAT(error("x", {.dimension_names = {"a"}}), Contains("1 dimension names"));
  CHECK_THAT(error("x", {.compression = 11}), Contains("compression 11"));
  CHECK(ht::io::supports_netcdf());
}

TEST_CASE("netCDF's packed and missing numbers are decoded", "[io][netcdf]") {
  const TempDir dir;
  const auto path = dir.path("packed.nc");
  const auto with = [&](const at::Tensor& values, const auto& attributes) {
    write_netcdf(path, "x", values, {.mode = NC_64BIT_OFFSET});
    on_root([&] {
      int file = -1;
      nc_open(path.c_str(), NC_WRITE, &file);
      nc_redef(file);
      attributes(file);
      CHECK(nc_close(file) == NC_NOERR);
    });
  };
  const auto stored = counting({5, 3}, at::kShort);
  const auto expected = [&](at::ScalarType type, int missing) {
    return (stored.to(type) * 0.5 + 10).masked_fill(stored == missing, NAN);
  };

  for (const auto& split : every_split({5, 3})) {
    with(stored, [](int file) {
      const float scale = 0.5, offset = 10;
      const short fill = 4;
      CHECK(nc_put_att_float(file, 0, "scale_factor", NC_FLOAT, 1, &scale) == NC_NOERR);
      CHECK(nc_put_att_float(file, 0, "add_offset", NC_FLOAT, 1, &offset) == NC_NOERR);
      CHECK(nc_put_att_short(file, 0, "_FillValue", NC_SHORT, 1, &fill) == NC_NOERR);
    });
    CHECK(same(ht::io::load_netcdf(path, "x", {.split = split}), expected(at::kFloat, 4)));
    CHECK(same(ht::io::load_netcdf(path, "x", {.split = split, .slices = {ht::slice(1, 4)}, .dtype = ht::float64}),
               expected(at::kDouble, 4).slice(0, 1, 4)));

    with(stored, [](int file) {
      const double scale = 0.5, offset = 10;
      const short missing[] = {7, 99};
      CHECK(nc_put_att_double(file, 0, "scale_factor", NC_DOUBLE, 1, &scale) == NC_NOERR);
      CHECK(nc_put_att_double(file, 0, "add_offset", NC_DOUBLE, 1, &offset) == NC_NOERR);
      CHECK(nc_put_att_short(file, 0, "missing_value", NC_SHORT, 2, missing) == NC_NOERR);
    });
    CHECK(same(ht::io::load_netcdf(path, "x", {.split = split}), expected(at::kDouble, 7)));

    const auto floats = counting({5, 3}, at::kFloat);
    with(floats, [](int file) {
      const float fill = 2;
      CHECK(nc_put_att_float(file, 0, "_FillValue", NC_FLOAT, 1, &fill) == NC_NOERR);
    });
    CHECK(same(ht::io::load_netcdf(path, "x", {.split = split}), floats.masked_fill(floats == 2, NAN)));
  }

  with(stored, [](int file) {
    const short fill = 4;
    CHECK(nc_put_att_short(file, 0, "_FillValue", NC_SHORT, 1, &fill) == NC_NOERR);
  });
  CHECK(same(ht::io::load_netcdf(path, "x", {.split = 0}), stored.to(at::kFloat).masked_fill(stored == 4, NAN)));
  CHECK(same(ht::io::load_netcdf(path, "x", {.split = 0, .decode = false}), stored));
  with(stored, [](int file) {
    const float scales[] = {1, 2};
    CHECK(nc_put_att_float(file, 0, "scale_factor", NC_FLOAT, 2, scales) == NC_NOERR);
  });
  CHECK_THAT(load_error(path), Contains("2 numbers in scale_factor"));
}
