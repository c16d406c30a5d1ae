#include <heatpp_io/safetensors/safetensors.hpp>

#include <ATen/ATen.h>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/torch.hpp>
#include <heatpp_io/detail/elements/flat_array.hpp>
#include <heatpp_io/detail/elements/save_array.hpp>
#include <heatpp_io/detail/files/look.hpp>
#include <heatpp_io/detail/shards/openers.hpp>
#include <heatpp_io/detail/shards/read.hpp>
#include <heatpp_io/safetensors/detail/safetensors_header.hpp>

#include <algorithm>
#include <set>

namespace heatpp::io {
namespace {

using heatpp::detail::formatted;
using heatpp::detail::raise;

constexpr auto load_op = "load_safetensors", save_op = "save_safetensors";

std::string listing(const std::vector<detail::SafeTensor>& tensors) {
  std::string text;
  for (const auto& tensor : tensors)
    if (text.size() < 200) text += formatted("{}\"{}\"", text.empty() ? "" : ", ", tensor.name);
  return text.empty() ? "nothing" : text;
}

detail::SafeTensor find_tensor(const detail::SafeTensors& contents, const std::string& name, const std::string& path) {
  const auto& tensors = contents.tensors;
  if (name.empty() && tensors.size() != 1)
    raise<ValueError>(load_op, "got no tensor's name, and {} tensors in \"{}\", which has {}; expected a name",
                      tensors.size(), path, listing(tensors));
  const auto found = name.empty() ? tensors.begin() : std::ranges::find(tensors, name, &detail::SafeTensor::name);
  if (found == tensors.end())
    raise<IoError>(load_op, "got no tensor \"{}\" in \"{}\", which has {}; expected a tensor of that name", name, path,
                   listing(tensors));
  return *found;
}

void check_arrays(const std::vector<NamedArray>& arrays) {
  if (arrays.empty()) raise<ValueError>(save_op, "got no arrays; expected at least one");
  std::set<std::string> names;
  for (const auto& [name, x] : arrays) {
    if (name.empty() || name == "__metadata__" || !names.insert(name).second)
      raise<ValueError>(save_op, "got the name \"{}\"; expected names of their own, not empty and not __metadata__",
                        name);
    if (!x.comm().same_ranks(arrays[0].second.comm()))
      raise<CommError>(save_op, "got arrays on different communicators; expected one");
  }
}

void write_tensor(const detail::FileWriter& file, const detail::SafeTensor& tensor, const DNDarray& x) {
  const auto blocks = detail::blocks_of(x);
  detail::each_run(blocks.layout, blocks.mine, x.comm(), [&](std::int64_t first, const at::Tensor& elements) {
    const auto bytes = elements.element_size();
    file.write(tensor.offset + first * bytes, elements.numel() * bytes, elements.const_data_ptr());
  });
}

detail::Transfer write_file(const detail::SaveJob& job, const std::vector<NamedArray>& arrays,
                            detail::SafeTensors& contents) {
  const auto& comm = arrays[0].second.comm();
  const auto header = detail::safetensors_header(contents, save_op);
  std::optional<detail::FileWriter> file;
  all_or_none(comm, [&] {
    file.emplace(job.path, job.shown, save_op);
    if (comm.rank() != 0) return;
    const auto& last = contents.tensors.back();
    detail::Room(job.path, job.shown, save_op).reserve(last.offset + last.bytes);
    file->write(0, std::ssize(header), header.data());
  });
  for (const auto& tensor : contents.tensors)
    write_tensor(*file, tensor, std::ranges::find(arrays, tensor.name, &NamedArray::first)->second);
  return {false, "independent: each rank writes its rows"};
}

}  // namespace

detail::OpenArray detail::open_safetensors(const std::string& path, const std::string& name) {
  auto file = std::make_shared<detail::FileReader>(path, load_op);
  const auto tensor = find_tensor(detail::read_safetensors(*file, path, load_op), name, path);
  const auto type = detail::stored_type(tensor);
  detail::FlatArray array{.type = type, .shape = tensor.shape, .offset = tensor.offset};
  return {{.shape = tensor.shape, .element = type.element},
          [file, path, array = std::move(array)](const auto& box, const auto& out) {
            detail::read_flat({*file, array, path, load_op}, box, out);
          }};
}

std::vector<std::string> detail::safetensors_names(const std::string& path) {
  FileReader file(path, load_op);
  std::vector<std::string> names;
  for (const auto& tensor : read_safetensors(file, path, load_op).tensors) names.push_back(tensor.name);
  return names;
}

DNDarray load_safetensors(const Source& source, const std::string& name, const LoadOptions& options) {
  const detail::Recorder recorder(load_op);
  const auto open = [&](const std::string& path) { return detail::open_safetensors(path, name); };
  return detail::load_files({load_op, source, name, open, ".safetensors"}, options, recorder);
}

std::vector<std::string> safetensors_names(const std::filesystem::path& path) {
  return detail::texts_seen_by_first(default_comm(), [&] { return detail::safetensors_names(path.string()); });
}

void save_safetensors(const std::vector<NamedArray>& arrays, const std::filesystem::path& path,
                      const SaveSafetensorsOptions& options) {
  const detail::Recorder recorder(save_op);
  check_arrays(arrays);
  detail::SafeTensors contents{{}, options.metadata};
  std::int64_t bytes = 0;
  for (const auto& [name, x] : arrays) {
    detail::check_uint64(options.uint64, x.dtype(), save_op);
    const auto type = options.uint64 ? c10::ScalarType::UInt64 : heatpp::detail::to_torch(x.dtype());
    contents.tensors.push_back({name, type, x.shape()});
    bytes += detail::bytes_of(x);
  }
  (void)detail::safetensors_header(contents, save_op);  // checks dtypes before a file is made
  const detail::NewFile file{save_op, arrays[0].second.comm(), path, bytes};
  const auto transfer = save_one(file, [&](const detail::SaveJob& job) { return write_file(job, arrays, contents); });
  recorder.finish(bytes, 1, transfer);
}

}  // namespace heatpp::io
