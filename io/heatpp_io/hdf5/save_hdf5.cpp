#include <heatpp_io/hdf5/save_hdf5.hpp>

#include <ATen/ATen.h>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp_io/detail/elements/save_array.hpp>
#include <heatpp_io/detail/formats.hpp>
#include <heatpp_io/hdf5/detail/handle.hpp>
#include <heatpp_io/hdf5/detail/write.hpp>

namespace heatpp::io {
namespace {

constexpr auto op = "save_hdf5";

struct Target {
  const std::filesystem::path& path;
  const std::string& dataset;
  bool replace;
};

void save_to(const Target& target, const DNDarray& x, const SaveOptions& options) {
  const auto& [path, dataset, replace] = target;
  const detail::Recorder recorder(op);
  const detail::Hdf5Turn turn;
  auto named = options;
  named.dataset = dataset;
  heatpp::detail::check_agreed(op, x.comm(), detail::settings_of(path, named), [&, &dataset = dataset] {
    if (dataset.empty() || dataset.back() == '/')
      heatpp::detail::raise<ValueError>(op, "got dataset name \"{}\"; expected a name, or one in groups (\"a/b\")",
                                        dataset);
    detail::check_save_options(x.shape(), options, op);
  });
  const auto begin = options.append ? detail::AsideFile::Begin::copy : detail::AsideFile::Begin::empty;
  const detail::NewFile file{op, x.comm(), path, detail::bytes_of(x), begin};
  const auto write_shard = [&, &dataset = dataset](const detail::SaveJob& job, const at::Tensor& rows) {
    const detail::WriteJob shard{job, dataset, options};
    if (options.append) check_free_name(shard);
    write_alone(shard, rows);
  };
  const auto transfer = options.shards
                            ? save_shards(file, x, ".h5", write_shard)
                            : save_one(file, [&, &dataset = dataset, replace = replace](const detail::SaveJob& job) {
                                return detail::write_dataset({job, dataset, options, replace}, x);
                              });
  recorder.finish(detail::bytes_of(x), options.shards ? x.comm().size() : 1, transfer);
}

}  // namespace

void save_hdf5(const DNDarray& x, const std::filesystem::path& path, const std::string& dataset,
               const SaveOptions& options) {
  save_to({path, dataset, false}, x, options);
}

void detail::save_among_others(const DNDarray& x, const std::filesystem::path& path, const std::string& dataset,
                               const SaveOptions& options) {
  auto extended = options;
  extended.append = true;
  save_to({path, dataset, true}, x, extended);
}

}  // namespace heatpp::io
