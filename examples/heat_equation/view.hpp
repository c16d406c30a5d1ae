#pragma once

#include "solver.hpp"

#include <heatpp/heatpp.hpp>

/// Returns the solver's interior as a distributed array on the same memory, valid while the solver exists.
inline heatpp::DNDarray view_of(HeatSolver& solver, const heatpp::Communicator& comm) {
  const heatpp::Shape block{static_cast<std::int64_t>(solver.rows()), static_cast<std::int64_t>(solver.columns())};
  return heatpp::from_local(solver.interior(), block, heatpp::float64, {.split = 0, .comm = comm});
}
