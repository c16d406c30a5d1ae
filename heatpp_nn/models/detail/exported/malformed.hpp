#pragma once

#include <heatpp/comm/detail/raise.hpp>

#include <nlohmann/json_fwd.hpp>

#include <stdexcept>
#include <string>

// Reads the JSON of an exported program, which is not trusted.
namespace heatpp::nn::detail {

/// An error in an exported program. ExportedModule throws it as an IoError with the file's name.
class Malformed : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};
template <class... Args>
[[noreturn]] void malformed(fmt::format_string<Args...> text, Args&&... args) {
  throw Malformed(heatpp::detail::formatted(text, std::forward<Args>(args)...));
}

/// These read values; all throw Malformed with `where` if the value is of another kind.
[[nodiscard]] nlohmann::json parsed(const std::string& text, const std::string& where);
[[nodiscard]] const nlohmann::json& member(const nlohmann::json& object, const char* key, const std::string& where);
/// Returns a member, or nullptr if there is none or it is null.
[[nodiscard]] const nlohmann::json* optional_member(const nlohmann::json& object, const char* key);
[[nodiscard]] const nlohmann::json& list_of(const nlohmann::json& value, const std::string& where);
[[nodiscard]] const nlohmann::json& object_of(const nlohmann::json& value, const std::string& where);
[[nodiscard]] std::string text_of(const nlohmann::json& value, const std::string& where);
[[nodiscard]] std::int64_t whole_of(const nlohmann::json& value, const std::string& where);
/// Returns a number; "Infinity", "-Infinity" and "NaN" are numbers, as torch.export writes them.
[[nodiscard]] double real_of(const nlohmann::json& value, const std::string& where);
[[nodiscard]] bool truth_of(const nlohmann::json& value, const std::string& where);

/// A value of one of several kinds: an object with one member, {"as_int": 3}.
struct Choice {
  std::string kind;
  const nlohmann::json& value;
};
[[nodiscard]] Choice choice_of(const nlohmann::json& value, const std::string& where);

}  // namespace heatpp::nn::detail
