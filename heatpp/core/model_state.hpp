#pragma once

#include <heatpp/core/dndarray.hpp>
#include <map>
#include <string>

namespace heatpp {

/// The options of an estimator and its fitted state, by names. It is written to a file, and an estimator can be made
/// of it again. Every rank holds all of it.
struct ModelState {
  std::string kind;                                 ///< class of the estimator, "KMeans"
  std::map<std::string, std::string> options = {};  ///< numbers as text that reads back exactly; "true" and "false"
  std::map<std::string, DNDarray> arrays = {};      ///< the arrays of the fitted state
};

}  // namespace heatpp
