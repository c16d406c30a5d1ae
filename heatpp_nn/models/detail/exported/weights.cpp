#include <heatpp_nn/models/detail/exported/weights.hpp>

#include <heatpp_nn/models/detail/exported/malformed.hpp>

#include <ATen/ATen.h>

#include <nlohmann/json.hpp>

#include <cstring>

namespace heatpp::nn::detail {
namespace {

std::string described(const TensorInfo& info) {
  return heatpp::detail::formatted("{} {} {} {} {}", at::toString(info.dtype), to_text(info.sizes),
                                   to_text(info.strides), info.offset, info.requires_grad);
}

/// Whether the elements along an axis are one that is stored once, e.g. after expand.
bool repeats(const TensorInfo& info, std::size_t axis) {
  const auto &stride = info.strides[axis], &size = info.sizes[axis];
  return stride.is_number() && stride.number == 0 && size.is_number() && size.number > 1;
}

/// Returns a tensor whose repeated elements are stored once.
at::Tensor without_repetition(at::Tensor tensor, const TensorInfo& info) {
  for (std::size_t axis = 0; axis < info.strides.size(); ++axis)
    if (repeats(info, axis)) tensor = tensor.narrow(static_cast<std::int64_t>(axis), 0, 1);
  return tensor;
}

bool repeats(const TensorInfo& info) {
  for (std::size_t axis = 0; axis < info.strides.size(); ++axis)
    if (repeats(info, axis)) return true;
  return false;
}

}  // namespace

/// The storages and tensors read so far.
struct ExportedWeights::Reading {
  ExportedArchive& archive;
  std::map<std::string, at::Tensor> storages = {};                       // bytes, by path
  std::map<std::pair<std::string, std::string>, at::Tensor> views = {};  // tensors, by path and kind

  const at::Tensor& storage(const std::string& path) {
    auto& bytes = storages[path];
    if (bytes.defined()) return bytes;
    const auto& contents = archive[path];
    bytes = at::empty({std::ssize(contents)}, at::kByte);
    if (!contents.empty()) std::memcpy(bytes.data_ptr(), contents.data(), contents.size());
    return bytes;
  }
  const at::Tensor& view(const std::string& path, const TensorInfo& info, const std::string& where) {
    auto& view = views[{path, described(info)}];
    if (!view.defined()) {
      view = view_of(storage(path), info, where);
      if (info.dtype == at::kBool) view = view.view(at::kByte).ne(0);
      else if (repeats(info)) view = view.clone(at::MemoryFormat::Contiguous);
    }
    return view;
  }
};

ExportedWeights::ExportedWeights(ExportedArchive& archive) {
  Reading reading{archive};
  weights_ = read(reading, "data/weights/", archive.model() + "_weights_config.json");
  constants_ = read(reading, "data/constants/", archive.model() + "_constants_config.json");
  for (const auto& [path, storage] : reading.storages) {
    bytes_[path] = storage.numel();
    archive.replace(path, "");
  }
}

ExportedWeights::Table ExportedWeights::read(Reading& reading, const std::string& folder, const std::string& config) {
  Table table;
  const auto all = parsed(reading.archive[folder + config], config);
  for (const auto& [name, entry] : object_of(member(all, "config", config), config).items()) {
    const auto where = "the tensor \"" + name + "\"";
    if (truth_of(member(entry, "use_pickle", where), where)) malformed("{} that is pickled", where);
    const auto path = folder + text_of(member(entry, "path_name", where), where);
    auto info = tensor_info(member(entry, "tensor_meta", where), where);
    auto tensor = reading.view(path, info, where);
    table[name] = {path, std::move(info), std::move(tensor)};
  }
  return table;
}

const at::Tensor& ExportedWeights::weight(const std::string& name) const {
  const auto found = weights_.find(name);
  if (found == weights_.end()) malformed("no weights of \"{}\"", name);
  return found->second.tensor;
}

const at::Tensor& ExportedWeights::constant(const std::string& name) const {
  const auto found = constants_.find(name);
  if (found == constants_.end()) malformed("no values of the constant \"{}\"", name);
  return found->second.tensor;
}

const TensorInfo& ExportedWeights::info(const std::string& name) const {
  static_cast<void>(weight(name));
  return weights_.at(name).info;
}

void ExportedWeights::store(ExportedArchive& archive) const {
  const at::NoGradGuard no_grad;
  std::map<std::string, at::Tensor> storages;
  for (const auto& [path, bytes] : bytes_) storages[path] = at::zeros({bytes}, at::kByte);
  for (const auto* table : {&weights_, &constants_})
    for (const auto& [name, stored] : *table) {
      const auto to = view_of(storages.at(stored.path), stored.info, name);
      without_repetition(to, stored.info).copy_(without_repetition(stored.tensor, stored.info));
    }
  for (const auto& [path, bytes] : storages)
    archive.replace(path, {static_cast<const char*>(bytes.const_data_ptr()), bytes.nbytes()});
}

}  // namespace heatpp::nn::detail
