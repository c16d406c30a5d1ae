#include <heatpp_io/vtkhdf/detail/vtkhdf_file.hpp>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp_io/hdf5/detail/dataset.hpp>
#include <heatpp_io/hdf5/detail/dataset_attributes.hpp>

#include <algorithm>
#include <array>
#include <string_view>

namespace heatpp::io::detail {
namespace {

using heatpp::detail::formatted;
using heatpp::detail::raise;

constexpr auto op = vtkhdf_op;
constexpr auto cells = std::to_array<std::string_view>({"Vertices", "Lines", "Polygons", "Strips"});
constexpr hsize_t rows_in_a_chunk = 256;

/// An open file in which the datasets that describe steps are written.
class Books {
 public:
  Books(const SaveJob& job, Handle file) : job_(job), file_(std::move(file)) { expect(static_cast<bool>(file_)); }
  ~Books() = default;
  Books(const Books&) = delete;
  Books& operator=(const Books&) = delete;

  void close() { expect(file_.close()); }
  void expect(bool done) const {
    if (!done)
      raise<IoError>(op, "got an error while writing \"{}\" ({}); expected a place for an HDF5 file, and room",
                     job_.shown, innermost_error());
  }

  Handle group(const std::string& name) const {
    Handle made(has(name) ? H5Gopen2(file_.get(), name.c_str(), H5P_DEFAULT)
                          : H5Gcreate2(file_.get(), name.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    expect(static_cast<bool>(made));
    return made;
  }

  /// Writes the row with that number of a dataset whose rows have one or several numbers. Makes the dataset if it is
  /// missing.
  template <class T>
  void put(const std::string& name, std::int64_t row, const std::vector<T>& numbers) const {
    const auto type = std::is_same_v<T, double> ? H5T_NATIVE_DOUBLE : H5T_NATIVE_INT64;
    const auto dataset = rows_of(name, numbers.size(), type);
    grow(dataset, static_cast<hsize_t>(row) + 1);
    const std::vector<hsize_t> first{static_cast<hsize_t>(row), 0}, count{1, numbers.size()};
    const Handle in_file(H5Dget_space(dataset.get())), in_memory(H5Screate_simple(1, &count[1], nullptr));
    H5Sselect_hyperslab(in_file.get(), H5S_SELECT_SET, first.data(), nullptr, count.data(), nullptr);
    expect(H5Dwrite(dataset.get(), type, in_memory.get(), in_file.get(), H5P_DEFAULT, numbers.data()) >= 0);
  }
  /// Makes a dataset without rows.
  void make(const std::string& name) const { static_cast<void>(rows_of(name, 1, H5T_NATIVE_INT64)); }

  void put_number(const Handle& object, const char* name, std::int64_t number) const {
    const bool there = H5Aexists(object.get(), name) > 0;
    const Handle space(H5Screate(H5S_SCALAR));
    const Handle made(there ? H5Aopen(object.get(), name, H5P_DEFAULT)
                            : H5Acreate2(object.get(), name, H5T_NATIVE_INT64, space.get(), H5P_DEFAULT, H5P_DEFAULT));
    expect(H5Awrite(made.get(), H5T_NATIVE_INT64, &number) >= 0);
  }
  /// Writes a text in ASCII with fixed length, as VTK requires.
  void put_text(const Handle& object, const char* name, const std::string& text) const {
    const Handle type(H5Tcopy(H5T_C_S1)), space(H5Screate(H5S_SCALAR));
    H5Tset_size(type.get(), text.size());
    H5Tset_strpad(type.get(), H5T_STR_NULLPAD);
    const Handle made(H5Acreate2(object.get(), name, type.get(), space.get(), H5P_DEFAULT, H5P_DEFAULT));
    expect(H5Awrite(made.get(), type.get(), text.data()) >= 0);
  }

 private:
  [[nodiscard]] bool has(const std::string& name) const {
    return H5Lexists(file_.get(), name.c_str(), H5P_DEFAULT) > 0;
  }
  /// Sets the number of rows of a dataset, unless it has this many.
  void grow(const Handle& dataset, hsize_t rows) const {
    const Handle space(H5Dget_space(dataset.get()));
    std::array<hsize_t, 2> extents{};
    expect(H5Sget_simple_extent_dims(space.get(), extents.data(), nullptr) >= 0);
    extents[0] = std::max(extents[0], rows);
    expect(H5Dset_extent(dataset.get(), extents.data()) >= 0);
  }
  [[nodiscard]] Handle rows_of(const std::string& name, std::size_t columns, hid_t type) const {
    if (has(name)) return Handle(H5Dopen2(file_.get(), name.c_str(), H5P_DEFAULT));
    const std::vector<hsize_t> none{0, columns}, most{H5S_UNLIMITED, columns}, chunk{rows_in_a_chunk, columns};
    const int axes = columns > 1 ? 2 : 1;
    const Handle space(H5Screate_simple(axes, none.data(), most.data())), storage(H5Pcreate(H5P_DATASET_CREATE));
    H5Pset_chunk(storage.get(), axes, chunk.data());
    H5Pset_alloc_time(storage.get(), H5D_ALLOC_TIME_EARLY);
    Handle made(H5Dcreate2(file_.get(), name.c_str(), type, space.get(), H5P_DEFAULT, storage.get(), H5P_DEFAULT));
    expect(static_cast<bool>(made));
    return made;
  }

  const SaveJob& job_;
  Handle file_;
};

Handle open_file_to_read(const std::string& path) {
  Handle file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT));
  if (!file)
    raise<IoError>(op, "got \"{}\" to add a time step to, which cannot be opened ({}); expected a VTKHDF file", path,
                   innermost_error());
  return file;
}

std::string kind_of(const VtkStep& step) { return step.cloud ? "PolyData" : "ImageData"; }

Attributes head_of(const VtkStep& step) {
  Attributes head{{"Version", std::vector<std::int64_t>{2, 0}}};
  if (step.cloud) return head;
  const auto list = [](const auto& numbers) { return std::vector(numbers.begin(), numbers.end()); };
  head["WholeExtent"] = list(step.extent);
  head["Spacing"] = list(step.spacing);
  head["Origin"] = list(step.origin);
  head["Direction"] = std::vector<double>{1, 0, 0, 0, 1, 0, 0, 0, 1};
  return head;
}

/// Writes where the first point, cell, ... of a step is in a cloud's arrays.
void put_cloud(const Books& books, const VtkStep& step, const VtkPlace& place) {
  const auto put = [&](const std::string& name, std::vector<std::int64_t> numbers) {
    books.put("VTKHDF/" + name, place.number, numbers);
  };
  put("NumberOfPoints", {step.points});
  for (const auto kind : cells) {
    const auto count = kind == cells[0] ? step.points : 0;
    put(formatted("{}/NumberOfCells", kind), {count});
    put(formatted("{}/NumberOfConnectivityIds", kind), {count});
  }
  if (!place.time) return;
  put("Steps/PartOffsets", {place.number});
  put("Steps/NumberOfParts", {1});
  put("Steps/PointOffsets", {place.rows.back()});
  put("Steps/CellOffsets", {0, 0, 0, 0});  // all steps have the same vertices; each new point adds one
  put("Steps/ConnectivityIdOffsets", {0, 0, 0, 0});
}

std::string offsets_name(const std::string& dataset) {
  constexpr std::string_view before = "VTKHDF/PointData/";
  return "VTKHDF/Steps/PointDataOffsets/" + dataset.substr(before.size());
}

template <class T>
T attribute(const Attributes& all, const char* name) {
  const auto found = all.find(name);
  const auto* value = found == all.end() ? nullptr : std::get_if<T>(&found->second);
  return value ? *value : T{};
}

Attributes attributes_of_group(const Handle& file, const char* name, const std::string& path) {
  const Handle group(H5Gopen2(file.get(), name, H5P_DEFAULT));
  if (!group) return {};
  return read_annotations(group.get(), formatted("group \"{}\" of \"{}\"", name, path), op).attributes;
}

double time_of(const std::string& path, std::int64_t step) {
  const auto values = open_dataset(path, {"VTKHDF/Steps/Values"}, op);
  std::vector<double> all(static_cast<std::size_t>(size_of(values.info.shape)));
  if (static_cast<std::size_t>(step) >= all.size() ||
      H5Dread(values.id.get(), H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, all.data()) < 0)
    raise<IoError>(op, "got \"{}\" with {} times, of which {} cannot be read; expected one for each step", path,
                   all.size(), step);
  return all[static_cast<std::size_t>(step)];
}

hsize_t arrays_in(const Handle& file) {
  const Handle group(H5Gopen2(file.get(), "VTKHDF/PointData", H5P_DEFAULT));
  H5G_info_t info{};
  if (group) H5Gget_info(group.get(), &info);
  return info.nlinks;
}

/// Returns what must be equal in all steps: for a cloud, whose rows are points, all extents except the first.
Shape of_each_step(Shape shape, bool rows) {
  if (rows && !shape.empty()) shape.erase(shape.begin());
  return shape;
}

/// Returns the number of rows of an array's dataset. Throws ValueError if the array does not fit it.
std::int64_t checked_rows(const std::string& path, const VtkArray& array, const VtkStep& step, std::int64_t steps) {
  const auto found = find_dataset(path, array.dataset, op);
  if (!found)
    raise<ValueError>(op, "got \"{}\" for \"{}\", which has no such array; expected those of its first step",
                      array.dataset, path);
  const auto& info = found->info;
  const auto has = of_each_step(info.shape, step.cloud || steps > 1),
             wanted = of_each_step(array.x.shape(), step.cloud);
  if (has != wanted || info.element.dtype != array.x.dtype())
    raise<ValueError>(op,
                      "got \"{}\" of {} {} in each row for \"{}\", which has {} {}; expected those of its first step",
                      array.dataset, heatpp::to_string(wanted), name(array.x.dtype()), path, heatpp::to_string(has),
                      name(info.element.dtype));
  return info.shape.at(0);
}

void check_same_grid(const std::string& path, const Attributes& head, const VtkStep& step,
                     const SaveVtkhdfOptions& options) {
  const auto check = [&](const char* name, const auto& wanted, bool given) {
    using T = std::vector<typename std::decay_t<decltype(wanted)>::value_type>;
    const auto has = attribute<T>(head, name);
    if (given && !std::ranges::equal(has, wanted))
      raise<ValueError>(op, "got {} {} along x, y and z for \"{}\", which has {}; expected those of its first step",
                        name, heatpp::detail::tuple_text(wanted), path, heatpp::detail::tuple_text(has));
  };
  check("WholeExtent", step.extent, true);
  check("Spacing", step.spacing, !options.spacing.empty());
  check("Origin", step.origin, !options.origin.empty());
}

void check_kind(const std::string& path, const Handle& file, const VtkStep& step) {
  const auto head = attributes_of_group(file, "VTKHDF", path);
  const auto kind = attribute<std::string>(head, "Type");
  const auto wanted = kind_of(step);
  if (kind != wanted)
    raise<ValueError>(op, "got {} to add to \"{}\", which holds {:?}; expected a VTKHDF file of the same kind", wanted,
                      path, kind);
  const auto own = static_cast<hsize_t>(
      std::ranges::count_if(step.arrays, [](const auto& array) { return array.dataset != vtkhdf_points; }));
  if (arrays_in(file) != own)
    raise<ValueError>(op, "got {} arrays to add to \"{}\", which has {}; expected those of its first step", own, path,
                      arrays_in(file));
}

}  // namespace

VtkFile look_at_vtkhdf(const std::string& path, const VtkStep& step, const SaveVtkhdfOptions& options) {
  const auto file = open_file_to_read(path);
  check_kind(path, file, step);
  VtkFile found;
  found.steps = attribute<std::int64_t>(attributes_of_group(file, "VTKHDF/Steps", path), "NSteps");
  if (found.steps < 1)
    raise<ValueError>(op,
                      "got a time step for \"{}\", which has no time; expected a file that began with a time or "
                      "append",
                      path);
  found.last_time = time_of(path, found.steps - 1);
  if (options.time && *options.time <= found.last_time)
    raise<ValueError>(op, "got time {} for \"{}\", whose last step is at {}; expected a later one", *options.time, path,
                      found.last_time);
  for (const auto& array : step.arrays) found.rows.push_back(checked_rows(path, array, step, found.steps));
  if (step.cloud) return found;
  const auto head = attributes_of_group(file, "VTKHDF", path);
  check_same_grid(path, head, step, options);
  std::ranges::copy(attribute<std::vector<double>>(head, "Spacing"), found.spacing.begin());
  std::ranges::copy(attribute<std::vector<double>>(head, "Origin"), found.origin.begin());
  return found;
}

void write_vtkhdf_head(const SaveJob& job, const VtkStep& step) {
  Books books(job, Handle(H5Fcreate(job.path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT)));
  const auto root = books.group("VTKHDF");
  books.put_text(root, "Type", kind_of(step));
  write_annotations(root.get(), {{}, head_of(step)}, formatted("\"{}\"", job.shown), op);
  books.group("VTKHDF/PointData");
  for (const auto kind : cells) {
    if (!step.cloud) break;
    books.group(formatted("VTKHDF/{}", kind));
    if (kind == cells[0]) continue;
    books.make(formatted("VTKHDF/{}/Connectivity", kind));
    books.put(formatted("VTKHDF/{}/Offsets", kind), 0, std::vector<std::int64_t>{0});
  }
  books.close();
}

void write_vtkhdf_books(const SaveJob& job, const VtkStep& step, const VtkPlace& place) {
  Books books(job, Handle(H5Fopen(job.path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT)));
  const auto steps = place.time ? books.group("VTKHDF/Steps") : Handle();
  if (step.cloud) put_cloud(books, step, place);
  if (place.time) {
    books.group("VTKHDF/Steps/PointDataOffsets");
    for (std::size_t i = 0; i < step.arrays.size(); ++i)
      if (step.arrays[i].dataset != vtkhdf_points)
        books.put(offsets_name(step.arrays[i].dataset), place.number, std::vector{place.rows[i]});
    books.put("VTKHDF/Steps/Values", place.number, std::vector{*place.time});
    books.put_number(steps, "NSteps", place.number + 1);
  }
  books.close();
}

}  // namespace heatpp::io::detail
