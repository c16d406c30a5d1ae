#pragma once

#include <heatpp/core/detail/fields.hpp>
#include <heatpp_nn/training/detail/training_archive.hpp>

#include <charconv>
#include <map>
#include <sstream>

namespace heatpp::detail {

template <>
inline constexpr std::tuple fields_of<nn::detail::EpochLoss> = {Field{"sum", &nn::detail::EpochLoss::sum},
                                                                Field{"weight", &nn::detail::EpochLoss::weight}};
template <>
inline constexpr std::tuple fields_of<nn::DetectMetricPlateau::State> = {
    Field{"best", &nn::DetectMetricPlateau::State::best}, Field{"bad", &nn::DetectMetricPlateau::State::bad}};
template <>
inline constexpr std::tuple fields_of<nn::EarlyStopping::State> = {
    Field{"seen", &nn::EarlyStopping::State::seen}, Field{"best", &nn::EarlyStopping::State::best},
    Field{"stopped", &nn::EarlyStopping::State::stopped}, Field{"plateau", &nn::EarlyStopping::State::plateau}};
template <>
inline constexpr std::tuple fields_of<nn::GradScaler::State> = {Field{"scale", &nn::GradScaler::State::scale},
                                                                Field{"good", &nn::GradScaler::State::good}};
template <>
inline constexpr std::tuple fields_of<nn::detail::LoopState> = {
    Field{"losses", &nn::detail::LoopState::losses}, Field{"batch", &nn::detail::LoopState::batch},
    Field{"early", &nn::detail::LoopState::early}, Field{"scale", &nn::detail::LoopState::scale},
    Field{"least", &nn::detail::LoopState::least}};

}  // namespace heatpp::detail

namespace heatpp::nn::detail {

/// Returns the fields of a state, also of those inside, as lines "early.plateau.best 0.5".
[[nodiscard]] std::string lines_of(const heatpp::detail::Described auto& state) {
  std::string lines;
  for (const auto& [name, value] : heatpp::detail::settings_of(state)) lines += name + " " + value + "\n";
  return lines;
}

using Lines = std::map<std::string, std::string>;

/// Returns the values by name in a text of lines.
[[nodiscard]] inline Lines lines_in(const std::string& text) {
  Lines lines;
  std::istringstream words(text);
  for (std::string name, value; words >> name >> value;) lines[name] = value;
  return lines;
}

/// Sets the numbers that lines have; others keep their values, because a file of another version may lack them. Returns
/// false if a value is no number.
[[nodiscard]] bool read_fields(const Lines& lines, const std::string& prefix, heatpp::detail::Described auto& state) {
  bool right = true;
  heatpp::detail::for_each_field(state, [&]<class Value>(const auto& field, Value& value) {
    const auto name = prefix + field.name;
    if constexpr (heatpp::detail::Described<Value>) right = read_fields(lines, name + ".", value) && right;
    else if (const auto found = lines.find(name); found != lines.end()) {
      const auto& text = found->second;
      if constexpr (std::same_as<Value, bool>) {
        value = text == "true";
        right = right && (value || text == "false");
      } else {
        const auto* const last = text.data() + text.size();
        const auto [end, error] = std::from_chars(text.data(), last, value);
        right = right && error == std::errc() && end == last;
      }
    }
  });
  return right;
}

}  // namespace heatpp::nn::detail
