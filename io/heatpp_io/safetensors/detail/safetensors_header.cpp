#include <heatpp_io/safetensors/detail/safetensors_header.hpp>

#include <ATen/ATen.h>

#include <heatpp/comm/detail/raise.hpp>
#include <heatpp/core/detail/torch.hpp>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace heatpp::io::detail {
namespace {

using c10::ScalarType;
using heatpp::detail::formatted;
using heatpp::detail::raise;
using nlohmann::json;

constexpr std::int64_t longest_header = 100'000'000;  // limit of the reference implementation
constexpr std::int64_t before_header = 8, alignment = 8;

struct Known {
  std::string_view name;
  ScalarType type;
  ElementType element;
};
constexpr std::array known{
    Known{"BOOL", ScalarType::Bool, {bool_}},
    Known{"U8", ScalarType::Byte, {uint8}},
    Known{"I8", ScalarType::Char, {int8}},
    Known{"F8_E5M2", ScalarType::Float8_e5m2, {float32}},
    Known{"F8_E4M3", ScalarType::Float8_e4m3fn, {float32}},
    Known{"F8_E5M2FNUZ", ScalarType::Float8_e5m2fnuz, {float32}},
    Known{"F8_E4M3FNUZ", ScalarType::Float8_e4m3fnuz, {float32}},
    Known{"F8_E8M0", ScalarType::Float8_e8m0fnu, {float32}},
    Known{"I16", ScalarType::Short, {int16}},
    Known{"U16", ScalarType::UInt16, {int32}},
    Known{"F16", ScalarType::Half, {float16}},
    Known{"BF16", ScalarType::BFloat16, {bfloat16}},
    Known{"I32", ScalarType::Int, {int32}},
    Known{"U32", ScalarType::UInt32, {int64}},
    Known{"F32", ScalarType::Float, {float32}},
    Known{"C64", ScalarType::ComplexFloat, {complex64}},
    Known{"F64", ScalarType::Double, {float64}},
    Known{"I64", ScalarType::Long, {int64}},
    Known{"U64", ScalarType::UInt64, {int64, true}},
};

std::int64_t itemsize(ScalarType type) { return static_cast<std::int64_t>(c10::elementSize(type)); }

/// Reads the entries of a header, which is not checked yet.
class HeaderReader {
 public:
  HeaderReader(const std::string& path, const char* op, std::int64_t data_at, std::int64_t data_bytes)
      : path_(path), op_(op), data_at_(data_at), data_bytes_(data_bytes) {}

  SafeTensors read(const std::string& text) const {
    const auto header = json::parse(text, nullptr, false);
    if (!header.is_object()) fail("a header that is no JSON object");
    SafeTensors contents;
    for (const auto& [name, entry] : header.items())
      if (name == "__metadata__") read_metadata(entry, contents);
      else contents.tensors.push_back(tensor(name, entry));
    std::ranges::sort(contents.tensors, {}, [](const auto& t) { return std::pair(t.offset, t.bytes); });
    check_cover(contents.tensors);
    return contents;
  }

 private:
  [[noreturn]] void fail(const std::string& why) const {
    raise<IoError>(op_, "got \"{}\" with {}; expected a complete file in safetensors format", path_, why);
  }

  std::int64_t number(const json& value, const std::string& name) const {
    const bool fits = value.is_number_unsigned() && value.get<std::uint64_t>() <= std::uint64_t{INT64_MAX};
    if (!fits) fail(formatted("{} in the entry of \"{}\"", value.dump().substr(0, 100), name));
    return value.get<std::int64_t>();
  }

  void read_metadata(const json& entry, SafeTensors& contents) const {
    if (entry.is_null()) return;
    if (!entry.is_object()) fail("metadata that are no JSON object");
    for (const auto& [key, value] : entry.items()) {
      if (!value.is_string()) fail(formatted("metadata \"{}\" that is no text", key));
      contents.metadata[key] = value.get<std::string>();
    }
  }

  SafeTensor tensor(const std::string& name, const json& entry) const {
    const bool complete = entry.is_object() && entry.contains("dtype") && entry["dtype"].is_string() &&
                          entry.contains("shape") && entry["shape"].is_array() && entry.contains("data_offsets") &&
                          entry["data_offsets"].is_array() && entry["data_offsets"].size() == 2;
    if (!complete) fail(formatted("an entry of \"{}\" without dtype, shape or data_offsets", name));
    const auto type = entry["dtype"].get<std::string>();
    const auto* found = std::ranges::find(known, type, &Known::name);
    if (found == known.end()) fail(formatted("\"{}\" of the unknown dtype \"{}\"", name, type));
    SafeTensor tensor{name, found->type, {}};
    for (const auto& extent : entry["shape"]) tensor.shape.push_back(number(extent, name));
    tensor.bytes = checked_bytes(tensor.shape, itemsize(found->type), formatted("\"{}\" of \"{}\"", name, path_), op_);
    const auto begin = number(entry["data_offsets"][0], name), end = number(entry["data_offsets"][1], name);
    if (begin > end || end > data_bytes_ || end - begin != tensor.bytes)
      fail(formatted("\"{}\" of shape {} and dtype {} at bytes {} to {} of {}", name, to_string(tensor.shape), type,
                     begin, end, data_bytes_));
    tensor.offset = data_at_ + begin;
    return tensor;
  }

  void check_cover(const std::vector<SafeTensor>& tensors) const {
    auto end = data_at_;
    for (const auto& tensor : tensors) {
      if (tensor.offset != end)
        fail(formatted("\"{}\" at byte {} of the file, where another one ends at {}", tensor.name, tensor.offset, end));
      end += tensor.bytes;
    }
    if (end != data_at_ + data_bytes_)
      fail(formatted("{} bytes that belong to no tensor", data_at_ + data_bytes_ - end));
  }

  const std::string& path_;
  const char* op_;
  std::int64_t data_at_, data_bytes_;
};

std::string dumped(const json& header, const char* op) {
  try {
    return header.dump();
  } catch (const json::type_error& error) {
    raise<ValueError>(op, "got names or metadata that JSON does not have ({}); expected texts in UTF-8", error.what());
  }
}

}  // namespace

SafeTensors read_safetensors(ByteReader& file, const std::string& path, const char* op) {
  std::uint64_t length = 0;
  if (file.size() >= before_header) file.read(0, before_header, &length);
  const auto room = std::min(file.size() - before_header, longest_header);
  if (length == 0 || room < 0 || length > static_cast<std::uint64_t>(room))
    raise<IoError>(op,
                   "got \"{}\" of {} bytes with a header of {} bytes; expected a complete file in safetensors format",
                   path, file.size(), length);
  std::string text(length, '\0');
  file.read(before_header, std::ssize(text), text.data());
  const auto data_at = before_header + std::ssize(text);
  return HeaderReader(path, op, data_at, file.size() - data_at).read(text);
}

std::string safetensors_header(SafeTensors& contents, const char* op) {
  std::ranges::sort(contents.tensors, [](const auto& a, const auto& b) {
    return std::pair(-itemsize(a.type), std::string_view(a.name)) <
           std::pair(-itemsize(b.type), std::string_view(b.name));
  });
  auto header = json::object();
  if (!contents.metadata.empty()) header["__metadata__"] = contents.metadata;
  std::int64_t end = 0;
  for (auto& tensor : contents.tensors) {
    const auto* found = std::ranges::find(known, tensor.type, &Known::type);
    if (found == known.end())
      raise<TypeError>(op, "got \"{}\" of dtype {}; expected one that safetensors has", tensor.name,
                       name(heatpp::detail::from_torch(tensor.type)));
    tensor.offset = end;
    tensor.bytes = size_of(tensor.shape) * itemsize(tensor.type);
    end += tensor.bytes;
    header[tensor.name] = {{"dtype", found->name}, {"shape", tensor.shape}, {"data_offsets", {tensor.offset, end}}};
  }
  auto text = dumped(header, op);
  text.resize((text.size() + alignment - 1) / alignment * alignment, ' ');
  const auto length = static_cast<std::uint64_t>(text.size());
  std::string all(before_header, '\0');
  std::memcpy(all.data(), &length, sizeof length);
  all += text;
  for (auto& tensor : contents.tensors) tensor.offset += std::ssize(all);
  return all;
}

StoredType stored_type(const SafeTensor& tensor) {
  const auto& type = *std::ranges::find(known, tensor.type, &Known::type);
  // LibTorch supports few copies and comparisons of UInt64.
  const auto in_memory = tensor.type == ScalarType::UInt64 ? ScalarType::Long : tensor.type;
  return {type.element, in_memory, itemsize(tensor.type), 1};
}

at::Tensor read_tensor(ByteReader& file, const SafeTensor& tensor) {
  auto values = at::empty(tensor.shape, tensor.type);
  file.read(tensor.offset, tensor.bytes, values.data_ptr());
  if (tensor.type == ScalarType::Bool) to_native({{bool_}, ScalarType::Bool, 1, 1}, values.data_ptr(), values.numel());
  return values;
}

}  // namespace heatpp::io::detail
