#pragma once

#include <heatpp_nn/models/loaded_module.hpp>
#include <heatpp_nn/training/detail/agreement.hpp>
#include <heatpp_nn/training/inference.hpp>

#include "measures.hpp"

// Networks, losses and transforms that Python has exported or scripted.
namespace heatpp::python {

class Training;
/// A module from a file that all ranks of a communicator read: a network, or a loss, a metric or a transform.
struct Network {
  std::shared_ptr<nn::LoadedModule> module;
  Communicator comm;
  std::shared_ptr<Training*> training = std::make_shared<Training*>(nullptr);  ///< the training that has its replica
};

/// What a scripted loss gets in addition to tensors: the names of the dataset's fields.
using FieldsInUse = std::shared_ptr<nn::FieldNames>;

/// A name, or a scripted function of (outputs, targets) or (outputs, targets, inputs), each a tensor, a list, a tuple
/// or a dict. Local. Throws ValueError for other parameters, for a function with weights, because these would not
/// be trained, and for settings that the loss does not have.
using MeasureChoice = std::variant<std::string, const Network*>;
struct LossChoice {
  MeasureChoice measure;
  std::optional<LossSettings> settings;  ///< settings of a loss that is given by name
  bool returns_weight;                   ///< whether a script also returns the weight of the loss
};
[[nodiscard]] nn::Loss loss_of(const LossChoice& choice, const Network& network, const FieldsInUse& fields);
/// Returns the name of the loss and its options, as texts that must be equal on all ranks.
[[nodiscard]] std::vector<nn::detail::Setting> settings_of(const LossChoice& choice);
[[nodiscard]] nn::Metrics metrics_of(const std::map<std::string, MeasureChoice>& choices,
                                     const std::optional<LossSettings>& settings, const Network& network,
                                     const FieldsInUse& fields);

/// A transform of heatpp.
struct MadeTransform {
  nn::Transform call;
};
/// One of these, or a scripted function of (inputs, targets) that returns both after its changes.
using TransformChoice = std::variant<const MadeTransform*, const Network*>;
[[nodiscard]] std::vector<nn::Transform> transforms_of(const std::vector<TransformChoice>& choices);

void bind_networks(nb::module_& m);

}  // namespace heatpp::python
