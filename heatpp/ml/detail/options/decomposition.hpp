#pragma once

#include <heatpp/ml/detail/options/fields.hpp>
#include <heatpp/ml/decomposition/dmdc.hpp>
#include <heatpp/ml/decomposition/incremental_pca.hpp>
#include <heatpp/ml/decomposition/nmf.hpp>
#include <heatpp/ml/decomposition/pca.hpp>
#include <heatpp/ml/decomposition/truncated_svd.hpp>

namespace heatpp::ml::detail {

using AskedComponents = decltype(PcaOptions::n_components);

}  // namespace heatpp::ml::detail

namespace heatpp::detail {

template <>
inline constexpr std::array choice_names<PcaSolver> = {"automatic", "covariance", "full", "randomized", "hierarchical"};
template <>
inline constexpr std::array choice_names<SvdSolver> = {"automatic", "gram", "full", "randomized"};
template <>
inline constexpr std::array choice_names<NmfInit> = {"nndsvda", "nndsvd", "random"};
template <>
inline constexpr std::array choice_names<NmfSolver> = {"coordinate_descent", "multiplicative"};
template <>
inline constexpr std::array choice_names<DmdModes> = {"exact", "projected"};
template <>
struct FieldText<ml::detail::AskedComponents> {
  static std::string of(const ml::detail::AskedComponents& asked) {
    if (!asked) return "none";
    if (const auto* count = std::get_if<std::int64_t>(&*asked)) return field_text(*count);
    const auto* share = std::get_if<double>(&*asked);
    return share ? formatted("a share of {}", *share) : "mle";
  }
};
template <>
inline constexpr std::tuple fields_of<PcaOptions> = {Field{"n_components", &PcaOptions::n_components},
                                                     Field{"whiten", &PcaOptions::whiten},
                                                     Field{"solver", &PcaOptions::solver},
                                                     Field{"oversamples", &PcaOptions::oversamples},
                                                     Field{"power_iterations", &PcaOptions::power_iterations},
                                                     Field{"seed", &PcaOptions::seed}};
template <>
inline constexpr std::tuple fields_of<IncrementalPcaOptions> = {
    Field{"n_components", &IncrementalPcaOptions::n_components}, Field{"whiten", &IncrementalPcaOptions::whiten},
    Field{"batch_size", &IncrementalPcaOptions::batch_size}};
template <>
inline constexpr std::tuple fields_of<TruncatedSvdOptions> = {
    Field{"n_components", &TruncatedSvdOptions::n_components}, Field{"solver", &TruncatedSvdOptions::solver},
    Field{"oversamples", &TruncatedSvdOptions::oversamples},
    Field{"power_iterations", &TruncatedSvdOptions::power_iterations}, Field{"seed", &TruncatedSvdOptions::seed}};
template <>
inline constexpr std::tuple fields_of<NmfOptions> = {Field{"n_components", &NmfOptions::n_components},
                                                     Field{"init", &NmfOptions::init},
                                                     Field{"solver", &NmfOptions::solver},
                                                     Field{"tol", &NmfOptions::tol},
                                                     Field{"max_iterations", &NmfOptions::max_iterations},
                                                     Field{"alpha_w", &NmfOptions::alpha_w},
                                                     Field{"alpha_h", &NmfOptions::alpha_h},
                                                     Field{"l1_ratio", &NmfOptions::l1_ratio},
                                                     Field{"seed", &NmfOptions::seed},
                                                     own_field("progress", &NmfOptions::progress)};
template <>
inline constexpr std::tuple fields_of<DmdOptions> = {Field{"rank", &DmdOptions::rank}, Field{"rtol", &DmdOptions::rtol},
                                                     Field{"dt", &DmdOptions::dt}, Field{"modes", &DmdOptions::modes}};
template <>
inline constexpr std::tuple fields_of<DmdcOptions> = {
    Field{"rank", &DmdcOptions::rank}, Field{"system_rank", &DmdcOptions::system_rank},
    Field{"rtol", &DmdcOptions::rtol}, Field{"dt", &DmdcOptions::dt}, Field{"modes", &DmdcOptions::modes}};

}  // namespace heatpp::detail

namespace heatpp::ml::detail {

/// "asked" is what n_components is; older states lack it.
template <>
struct StateField<AskedComponents> {
  static void write(Texts& texts, const char* name, const AskedComponents& asked) {
    const auto* count = asked ? std::get_if<std::int64_t>(&*asked) : nullptr;
    const auto* share = asked ? std::get_if<double>(&*asked) : nullptr;
    if (count) texts.emplace(name, text_of(*count));
    if (share) texts.emplace(name, text_of(*share));
    texts.emplace("asked", count ? "count" : share ? "share" : asked ? "mle" : "none");
  }
  static AskedComponents read(const StateReader& read, const char* name) {
    const auto text = read.has_option("asked") ? read.text("asked") : "none";
    if (text == "none") return std::nullopt;
    if (text == "mle") return MinkaMle{};
    if (text == "count") return read.option<std::int64_t>(name);
    if (text == "share") return read.option<double>(name);
    heatpp::detail::raise<ValueError>(read.op(), "got \"{}\" for the components; expected none, mle, count or share",
                                      text);
  }
};

}  // namespace heatpp::ml::detail
