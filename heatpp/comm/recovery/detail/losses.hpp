#pragma once

namespace heatpp::detail {

/// What an error of MPI says about the ranks of a communicator.
enum class Loss {
  none,          ///< another error
  of_rank,       ///< a rank has ended
  of_all_calls,  ///< a rank has revoked the communicator
};

/// The error classes of ULFM, which only an MPI with it has.
struct LossClasses {
  int failed = -1, pending = -1, revoked = -1;
};

/// Returns what an error of this class says. If ranks have ended, MPI gives other classes, too: for errors of several
/// requests at once, or from inside a collective. Then `noted` holds, what the communicator's error handler has found.
[[nodiscard]] Loss loss_by(int error_class, const LossClasses& classes, Loss noted);

/// What a rank does that waits in a call.
enum class Wait { go_on, leave };
/// A rank leaves if it knows that ranks of the communicator have ended, or if another rank has revoked it.
[[nodiscard]] Wait next_of(int lost_ranks, bool revoked);

/// Returns how the program fares if a rank ends, for `heatpp info`.
[[nodiscard]] const char* fate_of_others(bool has_ulfm, bool is_on);

}  // namespace heatpp::detail
