// All headers that Python gets functions from.
#include <heatpp/heatpp.hpp>
#include <heatpp/ml/ml.hpp>
#include <heatpp/sparse/io/files.hpp>
#include <heatpp/sparse/sparse.hpp>
#include <heatpp_io/heatpp_io.hpp>
