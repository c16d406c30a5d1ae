#include <heatpp_nn/models/detail/exported/graph/arguments.hpp>
#include <heatpp_nn/models/detail/exported/malformed.hpp>
#include <heatpp_nn/models/detail/exported/tensor_info.hpp>

#include <ATen/ATen.h>
#include <ATen/core/List.h>
#include <ATen/core/jit_type.h>

#include <nlohmann/json.hpp>

namespace heatpp::nn::detail {

using c10::IValue;
using c10::TypeKind;
using nlohmann::json;

namespace {

Operand constant(IValue value) { return {.constant = std::move(value)}; }

/// Returns the type of a parameter, without "or None"; nullptr if it is unknown.
c10::TypePtr type_of(const c10::Argument* formal) {
  if (!formal) return nullptr;
  const auto optional = formal->type()->cast<c10::OptionalType>();
  return optional ? optional->getElementType() : formal->type();
}

c10::TypePtr element_of(const c10::TypePtr& type) {
  const auto list = type ? type->cast<c10::ListType>() : nullptr;
  return list ? list->getElementType() : nullptr;
}

bool is(const c10::TypePtr& type, TypeKind kind) { return type && type->kind() == kind; }

/// Reads one argument.
class Reader {
 public:
  Reader(const Names& names, const c10::Argument* formal, const std::string& where)
      : names_(names), formal_(formal), type_(type_of(formal)), element_(element_of(type_)), where_(where) {}

  [[nodiscard]] Operand read(const json& argument) const {
    const auto choice = choice_of(argument, where_);
    const auto& value = choice.value;
    const std::string_view kind = choice.kind;
    if (kind == "as_tensor") return named(value, "name");
    if (kind == "as_int") return number(whole_of(value, where_));
    if (kind == "as_float") return number(real_of(value, where_));
    if (kind == "as_bool") return number(truth_of(value, where_));
    if (kind == "as_complex") return number(complex(value));
    if (kind == "as_none") return constant({});
    if (kind == "as_string") return constant(text_of(value, where_));
    if (kind == "as_device") return {.kind = Operand::Kind::device};
    if (kind == "as_scalar_type") return constant(static_cast<std::int64_t>(dtype_of(value, where_)));
    if (kind == "as_layout") return constant(static_cast<std::int64_t>(layout_of(value, where_)));
    if (kind == "as_memory_format") return constant(static_cast<std::int64_t>(memory_format_of(value, where_)));
    if (kind == "as_optional_tensor") return read(value);
    if (kind.starts_with("as_sym_") && !kind.ends_with('s')) return symbolic(value);
    return list(kind, value);
  }

 private:
  [[nodiscard]] Operand list(std::string_view kind, const json& values) const {
    using Kind = Operand::Kind;
    if (kind == "as_tensors") {
      const bool optional = is(element_, TypeKind::OptionalType);
      return listed(optional ? Kind::optional_tensors : Kind::tensors, values,
                    [&](const json& part) { return named(part, "name"); });
    }
    if (kind == "as_optional_tensors")
      return listed(Kind::optional_tensors, values, [&](const json& part) { return read(part); });
    if (kind == "as_strings") return strings(values);
    if (kind == "as_ints" || kind == "as_floats" || kind == "as_bools")
      return fixed(listed(kind_of_list(kind), values, [&](const json& part) { return element(part); }));
    if (kind == "as_sym_ints" || kind == "as_sym_floats" || kind == "as_sym_bools")
      return listed(kind_of_list(kind), values, [&](const json& part) { return symbolic(part); });
    malformed("{} of the kind \"{}\"", where_, kind);
  }

  /// Returns the kind of a list: whole numbers convert to other types, and an empty list has no type of its own.
  [[nodiscard]] Operand::Kind kind_of_list(std::string_view kind) const {
    using Kind = Operand::Kind;
    if (is(element_, TypeKind::FloatType)) return Kind::floats;
    if (is(element_, TypeKind::TensorType)) return Kind::tensors;
    if (is(element_, TypeKind::OptionalType)) return Kind::optional_tensors;
    if (kind.ends_with("bools")) return Kind::bools;
    return kind.ends_with("floats") ? Kind::floats : Kind::ints;
  }

  template <class Read>
  [[nodiscard]] Operand listed(Operand::Kind kind, const json& values, const Read& read) const {
    Operand operand{.kind = kind};
    for (const auto& part : detail::list_of(values, where_)) operand.parts.push_back(read(part));
    return operand;
  }

  [[nodiscard]] Operand element(const json& value) const {
    if (value.is_boolean()) return constant(value.get<bool>());
    if (value.is_number_integer()) return constant(whole_of(value, where_));
    return constant(real_of(value, where_));
  }

  /// Returns an operand of constants as one constant, which is made once.
  [[nodiscard]] Operand fixed(const Operand& operand) const {
    try {
      return constant(value_of(operand, {}));
    } catch (const c10::Error&) {
      malformed("{} with elements of several types", where_);
    }
  }

  [[nodiscard]] Operand strings(const json& values) const {
    c10::List<std::string> list;
    for (const auto& value : detail::list_of(values, where_)) list.push_back(text_of(value, where_));
    return constant(list);
  }

  [[nodiscard]] c10::complex<double> complex(const json& value) const {
    return {real_of(member(value, "real", where_), where_), real_of(member(value, "imag", where_), where_)};
  }

  /// Returns a number in the form of the parameter: a number, a tensor, or a list of one number.
  [[nodiscard]] Operand number(const IValue& value) const {
    if (is(type_, TypeKind::TensorType)) return constant(tensor_of_number(value));
    if (is(type_, TypeKind::FloatType) && value.isInt()) return constant(static_cast<double>(value.toInt()));
    if (is(element_, TypeKind::IntType) && value.isInt()) return constant(c10::List<std::int64_t>({value.toInt()}));
    if (is(element_, TypeKind::FloatType) && value.isDouble()) return constant(c10::List<double>({value.toDouble()}));
    return constant(value);
  }

  [[nodiscard]] Operand named(const json& value, const char* key) const {
    const auto& found = names_.at(text_of(member(value, key, where_), where_), where_);
    const auto as = is(type_, TypeKind::FloatType) || is(element_, TypeKind::FloatType) ? Operand::As::real
                    : is(type_, TypeKind::TensorType)                                   ? Operand::As::tensor
                                                                                        : Operand::As::same;
    if (!element_) check(found.kind);
    return {.kind = Operand::Kind::value, .value = found.number, .as = as};
  }

  [[nodiscard]] Operand symbolic(const json& value) const {
    if (optional_member(value, "as_name")) return named(value, "as_name");
    const auto choice = choice_of(value, where_);
    if (element_) return element(choice.value);
    return number(element(choice.value).constant);
  }

  /// Throws before the graph runs for a tensor instead of a number, or a number instead of a tensor.
  void check(Names::Kind kind) const {
    if (!type_) return;
    const bool takes_tensor = is(type_, TypeKind::TensorType), is_tensor = kind == Names::Kind::tensor;
    if (is_tensor && !takes_tensor)
      malformed("{} that is a tensor, where {} is taken", where_, formal_->type()->annotation_str());
  }

  const Names& names_;
  const c10::Argument* formal_;
  c10::TypePtr type_, element_;
  const std::string& where_;
};

}  // namespace

std::size_t Names::add(const std::string& name, Kind kind, const std::string& where) {
  if (!values_.emplace(name, Value{count_, kind}).second) malformed("{} that gives \"{}\" once more", where, name);
  return count_++;
}

const Names::Value& Names::at(const std::string& name, const std::string& where) const {
  const auto found = values_.find(name);
  if (found == values_.end()) malformed("{} that takes \"{}\", which nothing before it gives", where, name);
  return found->second;
}

Operand operand_of(const json& argument, const Names& names, const c10::Argument* formal, const std::string& where) {
  auto operand = Reader(names, formal, where).read(argument);
  if (!formal || operand.kind != Operand::Kind::constant) return operand;
  if (!operand.constant.type()->isSubtypeOf(*formal->type()))
    malformed("{} of the type {}, where {} is taken", where, operand.constant.type()->annotation_str(),
              formal->type()->annotation_str());
  return operand;
}

}  // namespace heatpp::nn::detail
