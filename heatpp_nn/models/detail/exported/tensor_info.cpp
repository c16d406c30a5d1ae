#include <heatpp_nn/models/detail/exported/tensor_info.hpp>

#include <heatpp_nn/models/detail/exported/malformed.hpp>

#include <ATen/ATen.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>

namespace heatpp::nn::detail {

using nlohmann::json;

namespace {

struct Known {
  std::int64_t number;
  at::ScalarType type;
};
using Type = at::ScalarType;
constexpr std::array dtypes{
    Known{1, Type::Byte},
    Known{2, Type::Char},
    Known{3, Type::Short},
    Known{4, Type::Int},
    Known{5, Type::Long},
    Known{6, Type::Half},
    Known{7, Type::Float},
    Known{8, Type::Double},
    Known{9, Type::ComplexHalf},
    Known{10, Type::ComplexFloat},
    Known{11, Type::ComplexDouble},
    Known{12, Type::Bool},
    Known{13, Type::BFloat16},
    Known{28, Type::UInt16},
    Known{29, Type::Float8_e4m3fn},
    Known{30, Type::Float8_e5m2},
    Known{31, Type::Float8_e4m3fnuz},
    Known{32, Type::Float8_e5m2fnuz},
    Known{33, Type::Float8_e8m0fnu},
    Known{34, Type::UInt32},
    Known{35, Type::UInt64},
};

Expression size_of(const json& value, const std::string& where) {
  const auto choice = choice_of(value, where);
  if (choice.kind == "as_int") return {.number = whole_of(choice.value, where)};
  if (choice.kind == "as_expr") return expression_of(text_of(member(choice.value, "expr_str", where), where));
  malformed("{} of the kind \"{}\"", where, choice.kind);
}

std::vector<Expression> sizes_of(const json& values, const std::string& where) {
  std::vector<Expression> sizes;
  for (const auto& value : list_of(values, where)) sizes.push_back(size_of(value, where));
  return sizes;
}

/// Returns the number of elements from the first to the last, or nullopt if it overflows.
std::optional<std::int64_t> extent_of(const std::vector<std::int64_t>& sizes,
                                      const std::vector<std::int64_t>& strides) {
  std::int64_t last = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    std::int64_t step = 0;
    if (sizes[i] == 0) return 0;
    if (__builtin_mul_overflow(sizes[i] - 1, strides[i], &step) || __builtin_add_overflow(last, step, &last)) return {};
  }
  return last + 1;
}

}  // namespace

at::ScalarType dtype_of(const json& value, const std::string& where) {
  const auto number = whole_of(value, where);
  const auto found = std::ranges::find(dtypes, number, &Known::number);
  if (found == dtypes.end()) malformed("{} of the dtype {}, which LibTorch has not", where, number);
  return found->type;
}

at::Layout layout_of(const json& value, const std::string& where) {
  constexpr std::int64_t strided = 7;
  if (const auto number = whole_of(value, where); number != strided)
    malformed("{} of the layout {}, where dense tensors are read", where, number);
  return at::kStrided;
}

at::MemoryFormat memory_format_of(const json& value, const std::string& where) {
  constexpr std::array known{at::MemoryFormat::Contiguous, at::MemoryFormat::ChannelsLast,
                             at::MemoryFormat::ChannelsLast3d, at::MemoryFormat::Preserve};
  const auto number = whole_of(value, where);
  if (number < 1 || number > std::ssize(known)) malformed("{} of the memory format {}", where, number);
  return known[static_cast<std::size_t>(number - 1)];
}

TensorInfo tensor_info(const json& value, const std::string& where) {
  TensorInfo info{.dtype = dtype_of(member(value, "dtype", where), where),
                  .sizes = sizes_of(member(value, "sizes", where), where),
                  .strides = sizes_of(member(value, "strides", where), where),
                  .requires_grad = truth_of(member(value, "requires_grad", where), where)};
  static_cast<void>(layout_of(member(value, "layout", where), where));
  const auto offset = size_of(member(value, "storage_offset", where), where);
  info.offset = offset.number;
  if (info.sizes.size() != info.strides.size())
    malformed("{} of {} sizes and {} strides", where, info.sizes.size(), info.strides.size());
  return info;
}

std::string to_text(const std::vector<Expression>& sizes) {
  std::vector<std::string> texts;
  for (const auto& size : sizes) texts.push_back(to_text(size));
  return heatpp::detail::tuple_text(texts);
}

std::vector<std::int64_t> numbers_of(const std::vector<Expression>& sizes, const std::string& where) {
  std::vector<std::int64_t> numbers;
  for (const auto& size : sizes) {
    if (!size.is_number() || size.number < 0) malformed("{} with the sizes {}", where, to_text(sizes));
    numbers.push_back(size.number);
  }
  return numbers;
}

at::Tensor view_of(const at::Tensor& storage, const TensorInfo& info, const std::string& where) {
  const auto sizes = numbers_of(info.sizes, where), strides = numbers_of(info.strides, where);
  const auto extent = extent_of(sizes, strides);
  const auto itemsize = static_cast<std::int64_t>(c10::elementSize(info.dtype));
  const auto available = storage.numel() / itemsize;
  if (!extent || info.offset < 0 || info.offset > available || *extent > available - info.offset)
    malformed("{} of the shape {} and {} that begins at element {} of {} bytes", where, to_text(info.sizes),
              at::toString(info.dtype), info.offset, storage.numel());
  return at::empty({0}, storage.options().dtype(info.dtype)).set_(storage.storage(), info.offset, sizes, strides);
}

}  // namespace heatpp::nn::detail
