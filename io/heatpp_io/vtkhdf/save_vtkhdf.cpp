#include <heatpp_io/vtkhdf/save_vtkhdf.hpp>

#include <ATen/ATen.h>

#include <fmt/ranges.h>
#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/alike.hpp>
#include <heatpp/core/factories.hpp>
#include <heatpp_io/detail/options/fields.hpp>
#include <heatpp_io/hdf5/detail/write.hpp>
#include <heatpp_io/stream/detail/growth.hpp>
#include <heatpp_io/vtkhdf/detail/vtkhdf_file.hpp>

#include <algorithm>
#include <array>

namespace heatpp::io {
namespace {

using detail::VtkFile;
using detail::VtkStep;
using heatpp::detail::formatted;
using heatpp::detail::raise;

constexpr auto op = detail::vtkhdf_op;

/// A call of save_vtkhdf, after its checks.
struct Job {
  const Communicator& comm;
  const std::filesystem::path& path;
  const SaveVtkhdfOptions& options;
  const VtkStep& step;
};

std::int64_t bytes_of(const VtkStep& step) {
  std::int64_t bytes = 0;
  for (const auto& array : step.arrays) bytes += detail::bytes_of(array.x);
  return bytes;
}

/// Returns the numbers first, first + 1, ..., stop - 1, split over the ranks.
DNDarray counting(std::int64_t first, std::int64_t stop, const Communicator& comm) {
  return arange(first, stop, {.dtype = int64, .split = 0, .comm = comm});
}

/// Makes a file of one step in `to`. If `grows`, it has an axis for steps, which in clouds is that of the points.
detail::Transfer write_first(const detail::SaveJob& to, const Job& job, std::optional<double> time, bool grows) {
  const auto& [comm, path, options, step] = job;
  all_or_none(comm, [&, &comm = comm, &step = step] {
    if (comm.rank() == 0) write_vtkhdf_head(to, step);
  });
  detail::Transfer transfer;
  SaveOptions how{.append = true, .grows = grows};
  if (options.compression) how.compression = *options.compression;
  const auto add = [&](const std::string& dataset, const DNDarray& x) {
    transfer = detail::write_dataset({to, dataset, how}, x);
  };
  for (const auto& [dataset, x] : step.arrays) add(dataset, x);
  if (step.cloud) add(detail::vtkhdf_connectivity, counting(0, step.points, comm));
  if (step.cloud) add(detail::vtkhdf_offsets, counting(0, step.points + 1, comm));
  const std::vector<std::int64_t> rows(step.arrays.size(), 0);
  all_or_none(comm, [&, &comm = comm, &step = step] {
    if (comm.rank() == 0) write_vtkhdf_books(to, step, {0, time, rows});
  });
  return transfer;
}

void make_file(const Job& job) {
  const auto& options = job.options;
  const auto time = options.append ? std::optional(options.time.value_or(0)) : options.time;
  const detail::NewFile file{op, job.comm, job.path, bytes_of(job.step)};
  save_one(file,
           [&](const detail::SaveJob& to) { return write_first(to, job, time, time.has_value() && job.step.cloud); });
}

/// Extends a dataset 0, 1, 2, ... to `count` numbers.
void grow_counting(const std::string& path, const std::string& dataset, std::int64_t count, const Communicator& comm) {
  std::array<std::int64_t, 1> has{0};
  all_or_none(comm, [&] {
    if (comm.rank() == 0) has[0] = detail::find_dataset(path, dataset, op).value().info.shape.at(0);
  });
  comm.broadcast(has, 0);
  if (has[0] < count) detail::append_rows_hdf5(counting(has[0], count, comm), path, {.dataset = dataset});
}

/// Adds the step after those in the file `to`, whose datasets have rows. If it fails half-way, it leaves rows to which
/// no step refers.
void add_step(const detail::SaveJob& to, const Job& job, const VtkFile& before) {
  const auto& [comm, path, options, step] = job;
  for (const auto& [dataset, x] : step.arrays)
    detail::append_rows_hdf5(step.cloud ? x : detail::with_time_axis(x), to.path, {.dataset = dataset});
  if (step.cloud) grow_counting(to.path, detail::vtkhdf_connectivity, step.points, comm);
  if (step.cloud) grow_counting(to.path, detail::vtkhdf_offsets, step.points + 1, comm);
  const auto time = options.time.value_or(static_cast<double>(before.steps));
  all_or_none(comm, [&, &comm = comm, &step = step] {
    if (comm.rank() == 0) write_vtkhdf_books(to, step, {before.steps, time, before.rows});
  });
}

/// Writes a grid's file of one step again, with an axis for time, and the second step after it.
void add_second_step(const Job& job, VtkFile before) {
  auto first = job.step;
  first.spacing = before.spacing;
  first.origin = before.origin;
  first.arrays.clear();
  for (const auto& array : job.step.arrays) {
    const auto stored = load_hdf5(job.path.string(), array.dataset, {.split = 0, .comm = job.comm, .decode = false});
    first.arrays.push_back({array.dataset, detail::with_time_axis(stored)});
  }
  before.rows.assign(first.arrays.size(), 1);
  const detail::NewFile file{op, job.comm, job.path, 2 * bytes_of(job.step)};
  save_one(file, [&](const detail::SaveJob& to) {
    auto transfer = write_first(to, {job.comm, job.path, job.options, first}, before.last_time, true);
    add_step(to, job, before);
    return transfer;
  });
}

/// Returns what rank 0 finds in the file to which a step is added; other ranks get the number of steps. Returns nothing
/// if there is no file. Collective.
std::optional<VtkFile> look(const Job& job) {
  std::optional<VtkFile> found;
  std::array<std::int64_t, 1> steps{0};
  all_or_none(job.comm, [&] {
    std::error_code ignored;
    if (!job.options.append || job.comm.rank() != 0 || !std::filesystem::exists(job.path, ignored)) return;
    found = look_at_vtkhdf(job.path.string(), job.step, job.options);
    steps[0] = found->steps;
  });
  job.comm.broadcast(steps, 0);
  if (steps[0] > 0 && !found) found.emplace().steps = steps[0];
  return found;
}

std::vector<heatpp::detail::Setting> settings_of(const std::vector<NamedArray>& arrays,
                                                 const std::filesystem::path& path, const SaveVtkhdfOptions& o) {
  std::vector<std::string> names;
  for (const auto& each : arrays) names.push_back(each.first);
  auto settings = detail::settings_to_write(path, o);
  settings.push_back({"arrays", heatpp::detail::field_text(names)});
  return settings;
}

/// Returns the communicator of all arrays. Throws CommError if there are several.
Communicator comm_of(const std::vector<NamedArray>& arrays, const SaveVtkhdfOptions& options) {
  if (arrays.empty() && !options.points) raise<ValueError>(op, "got no arrays and no points; expected some");
  const auto& comm = options.points ? options.points->comm() : arrays[0].second.comm();
  for (const auto& [name, x] : arrays)
    if (!x.comm().same_ranks(comm))
      raise<CommError>(op, "got \"{}\" on another communicator than \"{}\"; expected one", name,
                       options.points ? "points" : arrays[0].first);
  return comm;
}

}  // namespace

void save_vtkhdf(const std::vector<NamedArray>& arrays, const std::filesystem::path& path,
                 const SaveVtkhdfOptions& options) {
  const detail::Recorder recorder(op);
  const detail::Hdf5Turn turn;
  const auto comm = comm_of(arrays, options);
  heatpp::detail::check_agreed(op, comm, settings_of(arrays, path, options),
                               [&] { detail::check_vtkhdf(arrays, options); });
  const auto step = detail::vtk_step(arrays, options);
  const Job job{comm, path, options, step};
  const auto before = look(job);
  if (!before) make_file(job);
  else if (before->steps == 1 && !step.cloud) add_second_step(job, *before);
  else add_step({op, path.string(), path.string()}, job, *before);
  recorder.finish(bytes_of(step), 1, {comm.size() > 1, {}});
}

void save_vtkhdf(const DNDarray& x, const std::filesystem::path& path, const SaveVtkhdfOptions& options) {
  save_vtkhdf(std::vector<NamedArray>{{options.name.empty() ? "data" : options.name, x}}, path, options);
}

}  // namespace heatpp::io
