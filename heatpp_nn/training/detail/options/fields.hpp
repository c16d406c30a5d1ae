#pragma once

#include <heatpp/core/detail/fields.hpp>
#include <heatpp_nn/training/trainer.hpp>

#include <array>

namespace heatpp::detail {

template <>
inline constexpr std::array choice_names<nn::Scope> = {"node", "all"};
template <>
inline constexpr std::array choice_names<nn::BufferPolicy> = {"average", "rank0"};
template <>
inline constexpr std::array choice_names<nn::Carriers> = {"all", "rotating"};
template <>
inline constexpr std::array choice_names<nn::Partners> = {"all", "pairs"};
template <>
inline constexpr std::array choice_names<nn::PlateauMode> = {"min", "max"};
template <>
inline constexpr std::array choice_names<nn::ThresholdMode> = {"relative", "absolute"};
template <>
inline constexpr std::array choice_names<nn::Shuffle> = {"none", "local", "blocks", "global"};
template <>
inline constexpr std::array choice_names<nn::Remainder> = {"drop", "pad", "join"};
template <>
inline constexpr std::array choice_names<nn::Reduction> = {"mean", "sum"};

template <>
inline constexpr std::tuple fields_of<nn::GradientOptions> = {
    Field{"bucket_bytes", &nn::GradientOptions::bucket_bytes}, Field{"wire", &nn::GradientOptions::wire},
    Field{"reproducible", &nn::GradientOptions::reproducible}};
template <>
inline constexpr std::tuple fields_of<nn::ReplicaOptions> = {
    Field{"broadcast", &nn::ReplicaOptions::broadcast}, Field{"gradients", &nn::ReplicaOptions::gradients},
    Field{"buffers", &nn::ReplicaOptions::buffers}, Field{"shard", &nn::ReplicaOptions::shard},
    Field{"shard_weights", &nn::ReplicaOptions::shard_weights}};

template <>
inline constexpr std::tuple fields_of<nn::PlateauOptions> = {
    Field{"mode", &nn::PlateauOptions::mode}, Field{"patience", &nn::PlateauOptions::patience},
    Field{"threshold", &nn::PlateauOptions::threshold}, Field{"threshold_mode", &nn::PlateauOptions::threshold_mode}};
template <>
inline constexpr std::tuple fields_of<nn::TuningOptions> = {
    Field{"exposed", &nn::TuningOptions::exposed},    Field{"late", &nn::TuningOptions::late},
    Field{"drift", &nn::TuningOptions::drift},        Field{"shortest", &nn::TuningOptions::shortest},
    Field{"longest", &nn::TuningOptions::longest},    Field{"narrowest", &nn::TuningOptions::narrowest},
    Field{"fragments", &nn::TuningOptions::fragments}};
template <>
inline constexpr std::tuple fields_of<nn::MergeOptions> = {
    Field{"policy", &nn::MergeOptions::policy}, Field{"alpha", &nn::MergeOptions::alpha},
    Field{"beta", &nn::MergeOptions::beta}, Field{"outer_rate", &nn::MergeOptions::outer_rate},
    Field{"outer_momentum", &nn::MergeOptions::outer_momentum}};
template <>
inline constexpr std::tuple fields_of<nn::Interval> = {
    Field{"batches", &nn::Interval::batches}, Field{"wait", &nn::Interval::wait}, Field{"local", &nn::Interval::local}};
template <>
inline constexpr std::tuple fields_of<nn::IntervalOptions> = {
    Field{"first", &nn::IntervalOptions::first}, Field{"longest", &nn::IntervalOptions::longest},
    Field{"factor", &nn::IntervalOptions::factor}, Field{"local_skips", &nn::IntervalOptions::local_skips},
    Field{"measured", &nn::IntervalOptions::measured}};
template <>
inline constexpr std::tuple fields_of<nn::PhasePlan> = {Field{"warmup", &nn::PhasePlan::warmup},
                                                        Field{"cooldown", &nn::PhasePlan::cooldown},
                                                        Field{"total", &nn::PhasePlan::total}};
template <>
inline constexpr std::tuple fields_of<nn::DasoOptions> = {
    Field{"phases", &nn::DasoOptions::phases},
    Field{"interval", &nn::DasoOptions::interval},
    Field{"review_every", &nn::DasoOptions::review_every},
    Field{"plateau", &nn::DasoOptions::plateau},
    Field{"merge", &nn::DasoOptions::merge},
    Field{"carriers", &nn::DasoOptions::carriers},
    Field{"partners", &nn::DasoOptions::partners},
    Field{"fragments", &nn::DasoOptions::fragments},
    Field{"patience", &nn::DasoOptions::patience},
    Field{"quorum", &nn::DasoOptions::quorum},
    Field{"nodes_count_alike", &nn::DasoOptions::nodes_count_alike},
    Field{"wire", &nn::DasoOptions::wire},
    Field{"max_norm", &nn::DasoOptions::max_norm},
    Field{"tuning", &nn::DasoOptions::tuning},
    Field{"scaler", &nn::DasoOptions::scaler}};

template <>
inline constexpr std::tuple fields_of<nn::LossOptions> = {Field{"reduction", &nn::LossOptions::reduction},
                                                          Field{"ignore_index", &nn::LossOptions::ignore_index},
                                                          Field{"class_weights", &nn::LossOptions::class_weights},
                                                          Field{"label_smoothing", &nn::LossOptions::label_smoothing},
                                                          Field{"delta", &nn::LossOptions::delta},
                                                          Field{"pos_weight", &nn::LossOptions::pos_weight}};
template <>
inline constexpr std::tuple fields_of<nn::PhaseShares> = {Field{"warmup", &nn::PhaseShares::warmup},
                                                          Field{"cooldown", &nn::PhaseShares::cooldown}};
template <>
inline constexpr std::tuple fields_of<nn::TrainerOptions> = {
    Field{"epochs", &nn::TrainerOptions::epochs},
    Field{"batch_size", &nn::TrainerOptions::batch_size},
    Field{"shuffle", &nn::TrainerOptions::shuffle},
    Field{"seed", &nn::TrainerOptions::seed},
    Field{"remainder", &nn::TrainerOptions::remainder},
    own_field("transforms", &nn::TrainerOptions::transforms),
    own_field("evaluation_transforms", &nn::TrainerOptions::evaluation_transforms),
    own_field("prefetch", &nn::TrainerOptions::prefetch),
    own_field("loss_options", &nn::TrainerOptions::loss_options),  // compared with the loss's name
    Field{"loss_returns_weight", &nn::TrainerOptions::loss_returns_weight},
    Field{"rate", &nn::TrainerOptions::rate},
    Field{"daso", &nn::TrainerOptions::daso},
    Field{"phases", &nn::TrainerOptions::phases},
    Field{"autocast", &nn::TrainerOptions::autocast},
    Field{"max_norm", &nn::TrainerOptions::max_norm},
    Field{"ema", &nn::TrainerOptions::ema},
    Field{"metrics", &nn::TrainerOptions::metrics},
    Field{"stop", &nn::TrainerOptions::stop},
    Field{"folder", &nn::TrainerOptions::folder},
    Field{"resume", &nn::TrainerOptions::resume},
    Field{"keep", &nn::TrainerOptions::keep},
    Field{"checkpoint_every", &nn::TrainerOptions::checkpoint_every},
    own_field("progress", &nn::TrainerOptions::progress)};

}  // namespace heatpp::detail
