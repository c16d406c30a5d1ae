#pragma once

// All estimators, and data to try them.
#include <heatpp/ml/cluster/kmeans.hpp>
#include <heatpp/ml/datasets/clusters.hpp>
#include <heatpp/ml/datasets/matrixgallery.hpp>
#include <heatpp/ml/decomposition/pca.hpp>
#include <heatpp/ml/metrics/agreement.hpp>
#include <heatpp/ml/metrics/classification.hpp>
#include <heatpp/ml/metrics/regression.hpp>
#include <heatpp/ml/metrics/separation.hpp>
#include <heatpp/ml/model_selection/pipeline.hpp>
#include <heatpp/ml/model_selection/search.hpp>
#include <heatpp/ml/model_selection/splitting.hpp>
#include <heatpp/ml/preprocessing/encoders.hpp>
#include <heatpp/ml/preprocessing/imputer.hpp>
#include <heatpp/ml/preprocessing/polynomial.hpp>
#include <heatpp/ml/preprocessing/quantile_transformer.hpp>
#include <heatpp/ml/preprocessing/scalers.hpp>
