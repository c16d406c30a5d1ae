#pragma once

#include <heatpp/core/dndarray.hpp>
#include <map>
#include <string>

namespace heatpp {

/// What an estimator was told and has learnt, by names: what is written to a file and made an estimator again. All of
/// it is on every rank.
struct ModelState {
  std::string kind;                                 ///< the estimator's class, "KMeans"
  std::map<std::string, std::string> options = {};  ///< numbers as text that reads back the same, "true" and "false"
  std::map<std::string, DNDarray> arrays = {};      ///< what was learnt
};

}  // namespace heatpp
