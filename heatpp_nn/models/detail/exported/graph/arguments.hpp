#pragma once

#include <heatpp_nn/models/detail/exported/graph/operand.hpp>

#include <ATen/core/function_schema.h>

#include <nlohmann/json_fwd.hpp>

#include <map>
#include <string>

namespace heatpp::nn::detail {

/// The names of a graph's values so far. A node that takes any other value is damaged or part of a cycle.
class Names {
 public:
  enum class Kind { tensor, whole, real, truth };
  struct Value {
    std::size_t number = 0;
    Kind kind = Kind::tensor;
  };
  /// Throws Malformed if the name is taken.
  std::size_t add(const std::string& name, Kind kind, const std::string& where);
  /// Throws Malformed if no earlier node has this output.
  [[nodiscard]] const Value& at(const std::string& name, const std::string& where) const;
  [[nodiscard]] std::size_t count() const { return count_; }

 private:
  std::map<std::string, Value> values_;
  std::size_t count_ = 0;
};

/// Returns the operand in an argument's JSON, converted for the parameter `formal`, which may be nullptr. Throws
/// Malformed with `where` for values that no earlier node has computed, and for values of another type.
[[nodiscard]] Operand operand_of(const nlohmann::json& argument, const Names& names, const c10::Argument* formal,
                                 const std::string& where);

}  // namespace heatpp::nn::detail
