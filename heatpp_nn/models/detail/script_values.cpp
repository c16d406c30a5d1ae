#include <heatpp_nn/models/detail/script_values.hpp>

#include <heatpp/comm/detail/raise.hpp>

#include <ATen/ATen.h>
#include <ATen/core/Dict.h>
#include <ATen/core/List.h>
#include <ATen/core/jit_type.h>

namespace heatpp::nn::detail {

using heatpp::detail::formatted;
using heatpp::detail::raise;

namespace {

void unpack(const char* op, const c10::IValue& value, const std::string& name, ModuleOutputs& found) {
  const auto part = [&](const auto& key) {
    return name.empty() ? formatted("{}", key) : formatted("{}.{}", name, key);
  };
  const auto each = [&](const auto& values) {
    std::size_t i = 0;
    for (const c10::IValue& one : values) unpack(op, one, part(i++), found);
  };
  if (value.isTensor()) {
    found.tensors.push_back(value.toTensor());
    found.names.push_back(name);
  } else if (value.isTuple()) {
    each(value.toTupleRef().elements());
  } else if (value.isList()) {
    each(value.toListRef());
  } else if (value.isGenericDict()) {
    for (const auto& item : value.toGenericDict())
      unpack(op, item.value(), part(item.key().isString() ? item.key().toStringRef() : item.key().tagKind()), found);
  } else {
    raise<TypeError>(op, "got a script that gives {}; expected tensors, or lists, tuples and dicts of them",
                     value.tagKind());
  }
}

bool is_tensor(const c10::TypePtr& type) { return type->isSubtypeOf(*c10::TensorType::get()); }

c10::IValue tuple_of(const char* op, const ModuleArgument& argument, const std::string& parameter,
                     const c10::TupleType& type) {
  const auto count = type.elements().size();
  if (count != argument.tensors.size())
    raise<ValueError>(op, "got {} {} for the parameter {} of {}; expected as many", argument.tensors.size(),
                      argument.what, parameter, type.annotation_str());
  return c10::ivalue::Tuple::create(std::vector<c10::IValue>(argument.tensors.begin(), argument.tensors.end()));
}

c10::IValue dict_of(const char* op, const ModuleArgument& argument, const std::string& parameter) {
  if (argument.names.size() != argument.tensors.size())
    raise<ValueError>(op, "got {} without names for the parameter {}, a dict; expected a list or a tuple as parameter",
                      argument.what, parameter);
  c10::Dict<std::string, at::Tensor> dict;
  for (std::size_t i = 0; i < argument.names.size(); ++i) dict.insert(argument.names[i], argument.tensors[i]);
  return dict;
}

bool is_dict_of_tensors(const c10::TypePtr& type) {
  const auto dict = type->cast<c10::DictType>();
  return dict && dict->getKeyType()->kind() == c10::TypeKind::StringType && is_tensor(dict->getValueType());
}

bool is_tuple_of_tensors(const c10::TypePtr& type) {
  const auto tuple = type->cast<c10::TupleType>();
  return tuple && std::ranges::all_of(tuple->elements(), is_tensor);
}

}  // namespace

ModuleOutputs unpacked(const char* op, const c10::IValue& value) {
  ModuleOutputs found{.is_dict = value.isGenericDict()};
  unpack(op, value, "", found);
  return found;
}

c10::IValue packed(const char* op, const ModuleArgument& argument, const std::string& parameter,
                   const c10::TypePtr& type) {
  if (is_tensor(type)) {
    if (argument.tensors.size() == 1) return argument.tensors.front();
    raise<ValueError>(op,
                      "got {} {} for the parameter {}, one tensor; expected it to be annotated as List[Tensor], "
                      "Tuple[Tensor, ...] or Dict[str, Tensor]",
                      argument.tensors.size(), argument.what, parameter);
  }
  if (is_dict_of_tensors(type)) return dict_of(op, argument, parameter);
  if (is_tuple_of_tensors(type)) return tuple_of(op, argument, parameter, type->expectRef<c10::TupleType>());
  if (const auto list = type->cast<c10::ListType>(); list && is_tensor(list->getElementType()))
    return c10::List<at::Tensor>(argument.tensors);
  raise<TypeError>(op,
                   "got the parameter {} of {}; expected Tensor, List[Tensor], a tuple of tensors or Dict[str, Tensor]",
                   parameter, type->annotation_str());
}

}  // namespace heatpp::nn::detail
