#include <heatpp/comm/recovery/detail/losses.hpp>

#include <heatpp/comm/recovery/recovery.hpp>
#include <heatpp/interop/mpi.hpp>
#include <string>

#include "../../catch.hpp"

namespace ht = heatpp;

using ht::detail::Loss;
using ht::detail::loss_by;

namespace {

constexpr int truncated = 15, of_many = 18;
constexpr ht::detail::LossClasses ulfm{75, 76, 77}, none;

}  // namespace

TEST_CASE("error classes of ULFM tell that a rank has ended", "[comm][recovery]") {
  CHECK(loss_by(75, ulfm, Loss::none) == Loss::of_rank);
  CHECK(loss_by(76, ulfm, Loss::none) == Loss::of_rank);
  CHECK(loss_by(77, ulfm, Loss::of_rank) == Loss::of_all_calls);
  CHECK(loss_by(truncated, ulfm, Loss::none) == Loss::none);
}

TEST_CASE("another error is what the error handler has found", "[comm][recovery]") {
  CHECK(loss_by(of_many, ulfm, Loss::none) == Loss::none);
  CHECK(loss_by(of_many, ulfm, Loss::of_rank) == Loss::of_rank);
  CHECK(loss_by(of_many, ulfm, Loss::of_all_calls) == Loss::of_all_calls);
}

TEST_CASE("without ULFM no error tells of ranks", "[comm][recovery]") {
  for (const int error_class : {-1, 0, truncated, 75, 76, 77})
    CHECK(loss_by(error_class, none, Loss::of_rank) == Loss::none);
}

TEST_CASE("a waiting rank leaves its call if ranks have ended or the communicator is revoked", "[comm][recovery]") {
  using ht::detail::next_of;
  using ht::detail::Wait;
  CHECK(next_of(0, false) == Wait::go_on);
  CHECK(next_of(1, false) == Wait::leave);
  CHECK(next_of(0, true) == Wait::leave);
}

TEST_CASE("info says how a program fares if a rank ends", "[comm][recovery]") {
  using ht::detail::fate_of_others;
  CHECK(fate_of_others(false, false) == std::string("ends"));
  CHECK(fate_of_others(true, false) == std::string("ends; MPI has ULFM, by which it goes on: mpirun --with-ft ulfm"));
  CHECK(fate_of_others(true, true) == std::string("goes on without it (ULFM)"));
}

TEST_CASE("a communicator of survivors needs a program that survives failures", "[comm][recovery]") {
  const auto comm = ht::from_mpi(MPI_COMM_WORLD);  // of no family with others, because survivors() revokes it
  CHECK(ht::lost_ranks(comm).empty());
  if (ht::survives_failures()) CHECK(ht::survivors(comm).size() == comm.size());
  else CHECK_THROWS_WITH(ht::survivors(comm), Catch::StartsWith("[survivors] got "));
}
