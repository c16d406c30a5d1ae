#pragma once

// All estimators, and data to try them.
#include <heatpp/ml/cluster/dbscan.hpp>
#include <heatpp/ml/cluster/kmeans.hpp>
#include <heatpp/ml/datasets/clusters.hpp>
#include <heatpp/ml/datasets/matrixgallery.hpp>
#include <heatpp/ml/decomposition/pca.hpp>
#include <heatpp/ml/linear/elastic_net.hpp>
#include <heatpp/ml/linear/logistic_regression.hpp>
#include <heatpp/ml/linear/poisson_regressor.hpp>
#include <heatpp/ml/linear/ridge.hpp>
#include <heatpp/ml/naive_bayes/discrete_nb.hpp>
#include <heatpp/ml/naive_bayes/gaussian_nb.hpp>
#include <heatpp/ml/neighbors/kneighbors.hpp>
#include <heatpp/ml/neighbors/nearest_neighbors.hpp>
#include <heatpp/ml/neighbors/spatial.hpp>
#include <heatpp/ml/preprocessing/scalers.hpp>
