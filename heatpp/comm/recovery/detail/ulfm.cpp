#include <heatpp/comm/recovery/detail/ulfm.hpp>

#include <mpi-ext.h>

#include <algorithm>
#include <numeric>

namespace heatpp::detail::ulfm {
namespace {

std::vector<int> ranks_of(MPI_Group group, MPI_Comm comm) {
  int size = 0;
  MPI_Group_size(group, &size);
  std::vector<int> inside(static_cast<std::size_t>(size)), ranks(inside.size());
  if (size == 0) return ranks;
  std::iota(inside.begin(), inside.end(), 0);
  MPI_Group all = MPI_GROUP_NULL;
  MPI_Comm_group(comm, &all);
  MPI_Group_translate_ranks(group, size, inside.data(), all, ranks.data());
  MPI_Group_free(&all);
  std::ranges::sort(ranks);
  return ranks;
}

}  // namespace

bool is_there() { return true; }

bool is_on() {
  static const bool on = [] {
    int* value = nullptr;
    int found = 0;
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPIX_FT, static_cast<void*>(&value), &found);
    return found && *value;
  }();
  return on;
}

LossClasses classes() { return {MPIX_ERR_PROC_FAILED, MPIX_ERR_PROC_FAILED_PENDING, MPIX_ERR_REVOKED}; }

void revoke(MPI_Comm comm) { MPIX_Comm_revoke(comm); }

bool is_revoked(MPI_Comm comm) {
  int revoked = 0;
  MPIX_Comm_is_revoked(comm, &revoked);
  return revoked != 0;
}

std::vector<int> lost_ranks(MPI_Comm comm) {
  MPI_Group failed = MPI_GROUP_NULL;
  if (MPIX_Comm_get_failed(comm, &failed) != MPI_SUCCESS) return {};
  auto ranks = ranks_of(failed, comm);
  MPI_Group_free(&failed);
  return ranks;
}

bool all_at_the_end() {
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  int all_there = lost_ranks(MPI_COMM_WORLD).empty(), size = 0, known = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (;;) {
    MPIX_Comm_ack_failed(MPI_COMM_WORLD, size, &known);
    if (MPIX_Comm_agree(MPI_COMM_WORLD, &all_there) == MPI_SUCCESS) break;
    all_there = 0;
  }
  return all_there != 0;
}

int shrink(MPI_Comm comm, MPI_Comm* made) { return MPIX_Comm_shrink(comm, made); }
int agree(MPI_Comm comm, int* flags) { return MPIX_Comm_agree(comm, flags); }

}  // namespace heatpp::detail::ulfm
