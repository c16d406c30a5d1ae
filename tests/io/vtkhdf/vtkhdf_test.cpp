#include "../files.hpp"

#include <cstdlib>

namespace {

using Catch::Contains;

constexpr auto point_data = "VTKHDF/PointData/";

ht::DNDarray cut(const at::Tensor& values, std::optional<int> split) {
  const ht::Shape shape(values.sizes().begin(), values.sizes().end());
  return distribute(values, ht::Layout(shape, split, ht::world().size()));
}

at::Tensor stored(const std::string& path, const std::string& dataset) {
  return gathered(ht::io::load_hdf5(path, dataset, {.split = 0, .decode = false}));
}

at::Tensor whole(std::vector<std::int64_t> numbers) { return at::tensor(numbers, at::kLong); }

/// Returns the numbers of a list that is an attribute of VTKHDF, on every rank.
template <class T>
std::vector<T> attribute(const std::string& path, const char* name) {
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  const hid_t found = H5Aopen_by_name(file, "VTKHDF", name, H5P_DEFAULT, H5P_DEFAULT);
  const hid_t space = H5Aget_space(found);
  std::vector<T> numbers(static_cast<std::size_t>(H5Sget_simple_extent_npoints(space)));
  H5Aread(found, std::is_same_v<T, double> ? H5T_NATIVE_DOUBLE : H5T_NATIVE_INT64, numbers.data());
  H5Sclose(space);
  H5Aclose(found);
  H5Fclose(file);
  return numbers;
}

/// A cloud of n points. Clouds with another `number` have other values.
struct Cloud {
  at::Tensor points, mass, velocity;
  Cloud(std::int64_t n, double number)
      : points(counting({n, 3}, at::kDouble) + 1000 * number),
        mass(counting({n}) - number),
        velocity(counting({n, 2}, at::kDouble) * number) {}
};

std::string refused(const std::vector<ht::io::NamedArray>& arrays, const std::string& path,
                    const ht::io::SaveVtkhdfOptions& options = {}) {
  return same_message<ht::ValueError>([&] { ht::io::save_vtkhdf(arrays, path, options); });
}

}  // namespace

TEST_CASE("grids of one to three axes are stored from every layout", "[io][vtkhdf]") {
  const TempDir dir;
  const auto path = dir.path("a.vtkhdf");
  const ht::Shape shape = GENERATE(ht::Shape{7}, ht::Shape{3, 5}, ht::Shape{5, 2, 3}, ht::Shape{1, 3, 5});
  const auto x = counting(shape, at::kDouble);
  const auto vectors = at::stack({x, -x, x + 1}, -1).to(at::kFloat);
  const auto flat = shape[0] == 1;
  for (const auto& layout : every_layout(shape)) {
    ht::io::save_vtkhdf({{"x", distribute(x, layout)}, {"v", cut(vectors, layout.split())}}, path);
    CHECK(equals(stored(path, std::string(point_data) + "x"), flat ? x[0] : x));
    CHECK(equals(stored(path, std::string(point_data) + "v"), flat ? vectors[0] : vectors));
  }
  std::vector<std::int64_t> extent(6, 0);
  for (std::size_t axis = 0; axis < shape.size(); ++axis) extent[2 * axis + 1] = shape[shape.size() - 1 - axis] - 1;
  CHECK(attribute<std::int64_t>(path, "WholeExtent") == extent);
  CHECK(attribute<double>(path, "Spacing") == std::vector<double>{1, 1, 1});
  CHECK(dir.names() == std::vector<std::string>{"a.vtkhdf"});
}

TEST_CASE("a grid has spacing and origin in the order of its axes", "[io][vtkhdf]") {
  const TempDir dir;
  const auto path = dir.path("a.vtkhdf");
  ht::io::save_vtkhdf(cut(counting({2, 3}), 1), path,
                      {.name = "t", .spacing = {0.5, 0.25}, .origin = {3, -1}, .compression = 4});
  CHECK(attribute<double>(path, "Spacing") == std::vector{0.25, 0.5, 1.0});
  CHECK(attribute<double>(path, "Origin") == std::vector{-1.0, 3.0, 0.0});
  CHECK(equals(stored(path, "VTKHDF/PointData/t"), counting({2, 3})));

  ht::io::save(cut(counting({2, 3, 2}) > 3, 0), path);  // the file's name gives the format
  CHECK(equals(stored(path, "VTKHDF/PointData/data"), (counting({2, 3, 2}) > 3).to(at::kByte)));
  const auto contents = ht::io::contents(path);
  CHECK(contents.size() == 1);
  CHECK(contents[0].name == "VTKHDF/PointData/data");
}

TEST_CASE("a grid's time steps are rows of its arrays", "[io][vtkhdf]") {
  const TempDir dir;
  const auto path = dir.path("steps.vtkhdf");
  const auto x = counting({4, 3}, at::kDouble), v = counting({4, 3, 2});
  for (const auto& split : {std::optional<int>(), std::optional(0), std::optional(1)}) {
    const auto add = [&](double number, bool append) {
      ht::io::save_vtkhdf({{"x", cut(x + number, split)}, {"v", cut(v * number, split)}}, path,
                          {.spacing = {2, 1}, .time = number / 4, .append = append});
    };
    add(0, false);
    CHECK(equals(stored(path, "VTKHDF/PointData/x"), x));  // VTK reads these
    for (const double number : {1, 2, 3}) add(number, true);
    CHECK(equals(stored(path, "VTKHDF/PointData/x"), at::stack({x, x + 1, x + 2, x + 3})));
    CHECK(equals(stored(path, "VTKHDF/PointData/v"), at::stack({v * 0, v, v * 2, v * 3})));
    CHECK(equals(stored(path, "VTKHDF/Steps/Values"), counting({4}, at::kDouble) / 4));
    CHECK(equals(stored(path, "VTKHDF/Steps/PointDataOffsets/v"), whole({0, 1, 2, 3})));
    CHECK(attribute<double>(path, "Spacing") == std::vector<double>{1, 2, 1});
    CHECK_THAT(refused({{"x", cut(x, split)}, {"v", cut(v, split)}}, path, {.time = 0.75, .append = true}),
               Contains("time 0.75") && Contains("expected a later one"));
  }
  CHECK(dir.names() == std::vector<std::string>{"steps.vtkhdf"});
}

TEST_CASE("steps without a time are numbered", "[io][vtkhdf]") {
  const TempDir dir;
  const auto path = dir.path("steps.vtkhdf");
  for (int step = 0; step < 3; ++step) ht::io::save_vtkhdf(cut(counting({5}) + step, 0), path, {.append = true});
  CHECK(equals(stored(path, "VTKHDF/Steps/Values"), counting({3}, at::kDouble)));
  CHECK(equals(stored(path, "VTKHDF/PointData/data"), counting({5}) + counting({3, 1})));
}

TEST_CASE("clouds are stored from every layout", "[io][vtkhdf]") {
  const TempDir dir;
  const auto path = dir.path("cloud.vtkhdf");
  const Cloud cloud(6, 1);
  for (const auto& layout : every_layout({6, 3})) {
    ht::io::save_vtkhdf({{"mass", cut(cloud.mass, 0)}}, path, {.points = distribute(cloud.points, layout)});
    CHECK(equals(stored(path, "VTKHDF/Points"), cloud.points));
    CHECK(equals(stored(path, "VTKHDF/PointData/mass"), cloud.mass));
    CHECK(equals(stored(path, "VTKHDF/NumberOfPoints"), whole({6})));
    CHECK(equals(stored(path, "VTKHDF/Vertices/Connectivity"), counting({6}, at::kLong)));
    CHECK(equals(stored(path, "VTKHDF/Vertices/Offsets"), counting({7}, at::kLong)));
    CHECK(equals(stored(path, "VTKHDF/Lines/Offsets"), whole({0})));
  }
  for (const auto& split : {std::optional<int>(), std::optional(0), std::optional(1)}) {
    const auto plane = counting({5, 2}, at::kInt);
    ht::io::save_vtkhdf(std::vector<ht::io::NamedArray>{}, path, {.points = cut(plane, split)});
    CHECK(equals(stored(path, "VTKHDF/Points"), at::constant_pad_nd(plane.to(at::kDouble), {0, 1})));
  }
}

TEST_CASE("a cloud may have other points in each step", "[io][vtkhdf]") {
  const TempDir dir;
  const auto path = dir.path("cloud.vtkhdf");
  const std::vector<std::int64_t> sizes{5, 2, 0, 8};
  std::vector<at::Tensor> points, masses;
  for (std::size_t step = 0; step < sizes.size(); ++step) {
    const Cloud cloud(sizes[step], static_cast<double>(step));
    points.push_back(cloud.points);
    masses.push_back(cloud.mass);
    ht::io::save_vtkhdf({{"mass", cut(cloud.mass, 0)}, {"velocity", cut(cloud.velocity, 1)}}, path,
                        {.points = cut(cloud.points, 0), .time = static_cast<double>(step), .append = true});
  }
  CHECK(equals(stored(path, "VTKHDF/Points"), at::cat(points)));
  CHECK(equals(stored(path, "VTKHDF/PointData/mass"), at::cat(masses)));
  CHECK(equals(stored(path, "VTKHDF/NumberOfPoints"), whole(sizes)));
  CHECK(equals(stored(path, "VTKHDF/Steps/PointOffsets"), whole({0, 5, 7, 7})));
  CHECK(equals(stored(path, "VTKHDF/Steps/PointDataOffsets/velocity"), whole({0, 5, 7, 7})));
  CHECK(equals(stored(path, "VTKHDF/Vertices/Connectivity"), counting({8}, at::kLong)));
  CHECK(equals(stored(path, "VTKHDF/Vertices/Offsets"), counting({9}, at::kLong)));
}

TEST_CASE("arrays and options that do not fit are errors on all ranks", "[io][vtkhdf]") {
  const TempDir dir;
  const auto path = dir.path("a.vtkhdf");
  const auto x = cut(counting({4, 3}), 0), row = cut(counting({4}), 0), none = cut(at::zeros({0, 3}), 0);
  CHECK_THAT(refused({}, path), Contains("no arrays and no points"));
  CHECK_THAT(refused({{"x", x}, {"y", row}}, path, {.axes = 2}), Contains("\"y\" of shape (4,)"));
  CHECK_THAT(refused({{"x", x}}, path, {.axes = 4}), Contains("4 axes; expected"));
  CHECK_THAT(refused({{"x", none}}, path), Contains("extents (0, 3)"));
  CHECK_THAT(refused({{"x", cut(counting({4, 1, 3}), 0)}}, path), Contains("extents (4, 1, 3)"));
  CHECK_THAT(refused({{"x", x}}, path, {.spacing = {1, 2, 3}}), Contains("spacing (1, 2, 3) for a grid of 2 axes"));
  CHECK_THAT(refused({{"x", x}, {"x", x}}, path), Contains("name \"x\""));
  CHECK_THAT(refused({{"a/x", x}}, path), Contains("name \"a/x\""));
  CHECK_THAT(refused({{"x", x}}, path, {.time = NAN}), Contains("time nan"));
  CHECK_THAT(refused({{"x", x}}, path, {.points = row}), Contains("points of shape (4,)"));
  CHECK_THAT(refused({{"x", cut(counting({5}), 0)}}, path, {.points = x}), Contains("for 4 points"));
  CHECK_THAT(refused({{"x", row}}, path, {.origin = {1}, .points = x}), Contains("expected none"));
  CHECK_THAT(same_message<ht::TypeError>([&] { ht::io::save_vtkhdf(x.astype(ht::complex64), path); }),
             Contains("got complex64 for \"data\""));
  CHECK_THAT(same_message<ht::IoError>([&] { ht::io::save_vtkhdf(x, dir.path("none/a.vtkhdf")); }), Contains("none"));
  CHECK(dir.names().empty());
}

TEST_CASE("a step that does not fit its file leaves it as it is", "[io][vtkhdf]") {
  const TempDir dir;
  const auto path = dir.path("a.vtkhdf"), other = dir.path("b.h5");
  const auto x = cut(counting({4, 3}), 0);
  ht::io::save_vtkhdf(x, path);
  CHECK_THAT(refused({{"data", x}}, path, {.append = true}), Contains("no time"));
  ht::io::save_vtkhdf(x, path, {.spacing = {1, 2}, .time = 0});
  const auto before = stored(path, "VTKHDF/PointData/data");
  CHECK_THAT(refused({{"y", x}}, path, {.append = true}), Contains("no such array"));
  CHECK_THAT(refused({{"data", x}, {"y", x}}, path, {.append = true}), Contains("got 2 arrays"));
  CHECK_THAT(refused({{"data", cut(counting({4, 2}), 0)}}, path, {.append = true}), Contains("expected those of its"));
  CHECK_THAT(refused({{"data", x.astype(ht::float64)}}, path, {.append = true}), Contains("float64"));
  CHECK_THAT(refused({{"data", x}}, path, {.spacing = {1, 3}, .append = true}), Contains("Spacing (3, 1, 1)"));
  CHECK_THAT(refused({{"data", cut(counting({4}), 0)}}, path, {.points = x, .append = true}), Contains("ImageData"));
  CHECK(equals(stored(path, "VTKHDF/PointData/data"), before));

  ht::io::save_hdf5(x, other, "data");
  CHECK_THAT(refused({{"data", x}}, other, {.append = true}), Contains("expected a VTKHDF file"));
}

TEST_CASE("files for VTK", "[.vtk]") {
  const std::filesystem::path folder(std::getenv("HEATPP_VTKHDF_FILES"));
  const auto x = counting({2, 3, 4}, at::kDouble), v = at::stack({x, -x, x * 2}, -1).to(at::kFloat);
  const std::vector<double> spacing{0.5, 0.25, 0.125}, origin{3, 2, 1};
  ht::io::save_vtkhdf({{"x", cut(x, 1)}, {"v", cut(v, 0)}, {"small", cut(x.to(at::kShort), 2)}}, folder / "grid.vtkhdf",
                      {.spacing = spacing, .origin = origin, .compression = 3});
  ht::io::save_vtkhdf({{"x", cut(x[0], 1)}, {"v", cut(v[0], 0)}}, folder / "plane.vtkhdf", {.spacing = {0.5, 0.25}});
  ht::io::save_vtkhdf(cut(x[0][0], 0), folder / "line.vtkhdf");
  for (int step = 0; step < 3; ++step) {
    const ht::io::SaveVtkhdfOptions grid{
        .spacing = spacing, .origin = origin, .time = 0.5 * step + 1, .append = step > 0};
    ht::io::save_vtkhdf({{"x", cut(x + 100 * step, 0)}, {"v", cut(v - step, 2)}}, folder / "steps.vtkhdf", grid);
    ht::io::save_vtkhdf(cut(x[0] + step, 0), folder / "plane_steps.vtkhdf", {.time = step, .append = step > 0});
    if (step == 0) ht::io::save_vtkhdf(cut(x, 0), folder / "one_step.vtkhdf", grid);
    const Cloud cloud(step == 1 ? 3 : 5 + step, step);
    ht::io::save_vtkhdf({{"mass", cut(cloud.mass, 0)}, {"velocity", cut(cloud.velocity, 0)}},
                        folder / "cloud_steps.vtkhdf",
                        {.points = cut(cloud.points, 0), .time = 0.5 * step + 1, .append = true});
    if (step == 0) ht::io::save_vtkhdf(cut(cloud.mass, 0), folder / "cloud.vtkhdf", {.points = cut(cloud.points, 1)});
  }
}
