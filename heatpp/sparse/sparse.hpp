#pragma once

// All of sparse matrices.
#include <heatpp/sparse/construction.hpp>
#include <heatpp/sparse/conversion.hpp>
#include <heatpp/sparse/dcsr.hpp>
#include <heatpp/sparse/elementwise.hpp>
#include <heatpp/sparse/indexing.hpp>
#include <heatpp/sparse/product.hpp>
#include <heatpp/sparse/reductions.hpp>
