#include <heatpp_nn/training/detail/agreement.hpp>

#include <heatpp/comm/detail/raise.hpp>

namespace heatpp::nn::detail {

using heatpp::detail::raise;

void check_same_ranks(const char* op, const char* what, const Communicator& its, const Communicator& model) {
  if (!its.same_ranks(model))
    raise<CommError>(op,
                     "got {} on another communicator than the model's, of {} and {} ranks; expected the same ranks in "
                     "the same order",
                     what, its.size(), model.size());
}

}  // namespace heatpp::nn::detail
