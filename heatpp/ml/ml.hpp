#pragma once

// All estimators.
#include <heatpp/ml/pca.hpp>
