#pragma once

#include <heatpp_nn/training/detail/agreement.hpp>
#include <heatpp_nn/training/detail/options/fields.hpp>
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

template <>
inline constexpr std::array choice_names<nn::DasoEvent::Kind> = {"phase", "interval", "start", "merge", "drain"};
template <>
struct FieldText<nn::Phase> {
  static std::string of(nn::Phase phase) { return std::string(to_string(phase)); }
};

// The own fields of these states are not stored: options give them, or they are stored elsewhere.
template <>
inline constexpr std::tuple fields_of<nn::Position> = {
    Field{"seed", &nn::Position::seed}, Field{"epoch", &nn::Position::epoch}, Field{"batch", &nn::Position::batch},
    Field{"rows", &nn::Position::rows}};
template <>
inline constexpr std::tuple fields_of<nn::Flight> = {Field{"started", &nn::Flight::started},
                                                     Field{"wait", &nn::Flight::wait}};
template <>
inline constexpr std::tuple fields_of<nn::SyncState> = {Field{"phases", &nn::SyncState::phases},
                                                        Field{"interval", &nn::SyncState::interval},
                                                        own_field("review_every", &nn::SyncState::review_every),
                                                        own_field("fragments", &nn::SyncState::fragments),
                                                        own_field("nodes", &nn::SyncState::nodes),
                                                        own_field("alone", &nn::SyncState::alone),
                                                        Field{"last_sync", &nn::SyncState::last_sync},
                                                        Field{"flight", &nn::SyncState::flight}};
template <>
inline constexpr std::tuple fields_of<nn::SyncCosts> = {
    Field{"transfer", &nn::SyncCosts::transfer}, Field{"batch", &nn::SyncCosts::batch},
    Field{"waited", &nn::SyncCosts::waited}, Field{"drift", &nn::SyncCosts::drift}};
template <>
inline constexpr std::tuple fields_of<nn::Tuning> = {
    own_field("interval", &nn::Tuning::interval),  // that of SyncState
    Field{"wire", &nn::Tuning::wire}, Field{"policy", &nn::Tuning::policy}, Field{"costs", &nn::Tuning::costs},
    Field{"fragments", &nn::Tuning::fragments}};
template <>
inline constexpr std::tuple fields_of<nn::LossWindow> = {
    Field{"sum", &nn::LossWindow::sum}, Field{"count", &nn::LossWindow::count},
    Field{"pooled_sum", &nn::LossWindow::pooled_sum}, Field{"pooled_count", &nn::LossWindow::pooled_count}};
template <>
inline constexpr std::tuple fields_of<nn::DasoEvent> = {
    Field{"batch", &nn::DasoEvent::batch}, Field{"kind", &nn::DasoEvent::kind},
    Field{"phase", &nn::DasoEvent::phase}, Field{"interval", &nn::DasoEvent::interval},
    Field{"age", &nn::DasoEvent::age},     Field{"fragment", &nn::DasoEvent::fragment}};
template <>
inline constexpr std::tuple fields_of<nn::DasoState> = {
    Field{"batch", &nn::DasoState::batch},   Field{"sync", &nn::DasoState::sync},
    Field{"wanted", &nn::DasoState::wanted}, Field{"needed", &nn::DasoState::needed},
    Field{"tuning", &nn::DasoState::tuning}, Field{"plateau", &nn::DasoState::plateau},
    Field{"losses", &nn::DasoState::losses}, own_field("events", &nn::DasoState::events),
    Field{"failed", &nn::DasoState::failed}, own_field("memory", &nn::DasoState::memory),
    Field{"asked", &nn::DasoState::asked},   Field{"scaler", &nn::DasoState::scaler}};

}  // namespace heatpp::detail

namespace heatpp::nn::detail {

/// Returns settings as lines "early.plateau.best 0.5".
[[nodiscard]] inline std::string lines_of(const std::vector<Setting>& settings) {
  std::string lines;
  for (const auto& [name, value] : settings) lines += name + " " + value + "\n";
  return lines;
}
/// Returns the fields of a state, also of those inside, as lines.
[[nodiscard]] std::string lines_of(const heatpp::detail::Described auto& state) {
  return lines_of(heatpp::detail::settings_of(state));
}

using Lines = std::map<std::string, std::string>;

/// Returns the values by name in a text of lines.
[[nodiscard]] inline Lines lines_in(const std::string& text) {
  Lines lines;
  std::istringstream words(text);
  for (std::string name, value; words >> name >> value;) lines[name] = value;
  return lines;
}

/// The number of values of an enumeration, for those that name their values by a function.
template <class Enumeration>
inline constexpr std::size_t choices = heatpp::detail::choice_names<Enumeration>.size();
template <>
inline constexpr std::size_t choices<Wire> = 1 + static_cast<std::size_t>(Wire::float4);
template <>
inline constexpr std::size_t choices<MergePolicy> = 1 + static_cast<std::size_t>(MergePolicy::outer);
template <>
inline constexpr std::size_t choices<Phase> = 1 + static_cast<std::size_t>(Phase::cooldown);

/// Sets a value from its text, as field_text writes it. Returns false if the text is no such value.
template <class Value>
[[nodiscard]] bool read_value(const std::string& text, Value& value) {
  using heatpp::detail::field_text;
  if constexpr (requires { value.has_value(); }) {
    if (text != "none") return read_value(text, value.emplace());
    value.reset();
    return true;
  } else if constexpr (std::same_as<Value, bool>) {
    value = text == "true";
    return value || text == "false";
  } else if constexpr (std::is_enum_v<Value>) {
    std::size_t i = 0;
    while (i < choices<Value> && field_text(static_cast<Value>(i)) != text) ++i;
    if (i < choices<Value>) value = static_cast<Value>(i);
    return i < choices<Value>;
  } else {
    const auto* const last = text.data() + text.size();
    const auto [end, error] = std::from_chars(text.data(), last, value);
    return error == std::errc() && end == last;
  }
}

/// Sets the fields that lines have; others keep their values, because a file of another version may lack them. Returns
/// false if a text is no value of its field.
[[nodiscard]] bool read_fields(const Lines& lines, const std::string& prefix, heatpp::detail::Described auto& state) {
  bool right = true;
  heatpp::detail::for_each_field(state, [&]<class Value>(const auto& field, Value& value) {
    const auto name = prefix + field.name;
    const auto found = lines.find(name);
    if constexpr (std::remove_cvref_t<decltype(field)>::own) return;
    else if constexpr (heatpp::detail::Described<Value>) right = read_fields(lines, name + ".", value) && right;
    else if (found == lines.end()) return;
    else if constexpr (heatpp::detail::DescribedOptional<Value>) {
      value.reset();
      if (found->second != "none")
        right = found->second == "some" && read_fields(lines, name + ".", value.emplace()) && right;
    } else right = read_value(found->second, value) && right;
  });
  return right;
}

}  // namespace heatpp::nn::detail
