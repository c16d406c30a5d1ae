#pragma once

#include <heatpp_nn/training/checkpoint.hpp>

namespace heatpp::nn {

/// Continues a training on the ranks that are left, after a call on its ranks threw ProcessFailure: in forward,
/// backward, `step`, `drain`, a checkpoint, or a batch of the loader. Needs `mpirun --with-ft ulfm`
/// (`survives_failures`).
///
/// The weights become the mean of those that the remaining nodes have, by their numbers of ranks, and so does the
/// optimizer's state. So what is lost is the work of the lost ranks since they last synchronised. DASO's groups and the
/// shares of the optimizer are made for the ranks that are left; the others of a node that lost some go on as a smaller
/// node. Transfers under way are dropped, and the memory of the merge rule and of narrow wires begins again. If no rank
/// is left with some share of a node's weights, all begin with the weights alone, and so does a replica whose optimizer
/// all ranks shared.
///
/// `position` and `extras` are those of this rank. Returns those of the remaining rank that is least far, with which
/// all continue: make the loader again, on `Dataset::on_remaining`. The new ranks are in `replica.topology()`.
///
/// Collective over the ranks that are left, and again if others end meanwhile. Communication: that of `survivors`, of
/// Topology, and all-reduces of the weights and the optimizer's state. Throws as `survivors`.
Resumed continue_without_lost(DASO& daso, const Position& position = {}, const Extras& extras = {});
Resumed continue_without_lost(Replica& replica, torch::optim::Optimizer& optimizer, const Position& position = {},
                              const Extras& extras = {});

}  // namespace heatpp::nn
