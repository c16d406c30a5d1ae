#include <heatpp_io/hdf5/load_hdf5.hpp>

#include <ATen/ATen.h>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/torch.hpp>
#include <heatpp_io/detail/files/byte_file.hpp>
#include <heatpp_io/detail/shards/decoded_array.hpp>
#include <heatpp_io/detail/shards/openers.hpp>
#include <heatpp_io/detail/shards/read.hpp>
#include <heatpp_io/hdf5/detail/box_io.hpp>
#include <heatpp_io/hdf5/detail/dataset_attributes.hpp>
#include <heatpp_io/hdf5/detail/elements/elements.hpp>
#include <heatpp_io/hdf5/detail/shared_access.hpp>

#include <unistd.h>

#include <algorithm>
#include <array>

namespace heatpp::io {
namespace {

using namespace detail;  // this format consists of them

constexpr auto op = "load_hdf5";

/// Returns the number of transfers of the rank that needs most.
std::size_t most_calls(std::size_t mine, const Communicator& comm) {
  std::array<std::int64_t, 1> calls{static_cast<std::int64_t>(mine)};
  comm.allreduce(calls, ReduceOp::max);
  return static_cast<std::size_t>(calls[0]);
}

/// Throws on all ranks if one does not see the file: the others would wait for it in HDF5.
void check_seen(const std::string& path, const ReadJob& job) {
  all_or_none(job.comm, [&] {
    if (::access(path.c_str(), R_OK) != 0) raise_not_opened(job.op, path, "a file that all ranks see");
  });
}

void read_together(const Wanted& wanted, const ReadJob& job, const Layout& layout, const at::Tensor& block) {
  const auto& path = job.shards.paths[0];
  Dataset dataset;
  check_seen(path, job);
  all_or_none(job.comm, [&] {
    dataset = open_dataset(path, wanted, job.op, shared_access(job.comm));
    check_same(dataset.info, job.shards, 0, job.op);
  });
  const auto box = own_box(job, layout);
  const auto dtype = heatpp::detail::from_torch(block.scalar_type());
  const auto calls = most_calls(read_plan(dataset, box, dtype).size(), job.comm);
  const bool one_run = is_one_run(dataset.info, job.box, layout);
  const auto transfer = shared_transfer(one_run ? MpiIo::own_runs : MpiIo::collective);
  all_or_none(job.comm, [&] { read_box(dataset, box, block, {job.op, path, transfer.get(), calls}); });
}

OpenArray open_array(const std::string& path, const Wanted& wanted) {
  auto dataset = std::make_shared<Dataset>(open_dataset(path, wanted, op));
  auto info = dataset->info;
  // Attributes of records do not describe one of their fields.
  const bool records = !dataset->constant && has_fields(dataset->id.get());
  auto decoding = records ? Decoding() : read_decoding(*dataset, path, op);
  if (decoding.is_active()) dataset->info.element.may_overflow = false;  // checked after decoding
  return {std::move(info),
          [dataset, path](const Selection& box, const at::Tensor& out) {
            read_box(*dataset, box, out, {op, path});
          },
          std::move(decoding)};
}

}  // namespace

OpenArray detail::open_hdf5(const std::string& path, const std::string& name) { return open_array(path, {name}); }

std::vector<std::string> detail::hdf5_names(const std::string& path) {
  const Hdf5Turn turn;
  return dataset_names(path, op);
}

detail::Annotations detail::hdf5_annotations(const std::string& path, const std::string& name) {
  const Hdf5Turn turn;
  const auto dataset = open_dataset(path, {name}, op);
  auto found =
      read_annotations(dataset.id.get(), heatpp::detail::formatted("dataset \"{}\" of \"{}\"", name, path), op);
  if (found.dimension_names.size() != dataset.info.shape.size() ||
      std::ranges::all_of(found.dimension_names, &std::string::empty))
    found.dimension_names.clear();
  return found;
}

DNDarray load_hdf5(const Source& source, const std::string& dataset, const LoadOptions& options) {
  const Recorder recorder(op);
  const Hdf5Turn turn;
  const Wanted wanted{dataset, options.field, options.missing_sources};
  const auto open = [&](const std::string& path) {
    return with_numbers(open_array(path, wanted), numbers_for(options.decode), path, op);
  };
  const auto together = [&](const ReadJob& job, const Layout& layout, const at::Tensor& block) {
    read_together(wanted, job, layout, block);
  };
  return load_files({op, source, dataset, open, {}, options.collective, together, true}, options, recorder);
}

}  // namespace heatpp::io
