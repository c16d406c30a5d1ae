#include <heatpp/comm/recovery/detail/losses.hpp>

namespace heatpp::detail {

Loss loss_by(int error_class, const LossClasses& classes, Loss noted) {
  if (classes.failed < 0) return Loss::none;
  if (error_class == classes.revoked) return Loss::of_all_calls;
  if (error_class == classes.failed || error_class == classes.pending) return Loss::of_rank;
  return noted;
}

Wait next_of(int lost_ranks, bool revoked) { return lost_ranks > 0 || revoked ? Wait::leave : Wait::go_on; }

const char* fate_of_others(bool has_ulfm, bool is_on) {
  if (is_on) return "goes on without it (ULFM)";
  return has_ulfm ? "ends; MPI has ULFM, by which it goes on: mpirun --with-ft ulfm" : "ends";
}

}  // namespace heatpp::detail
