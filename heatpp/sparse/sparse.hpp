#pragma once

// This includes all of sparse matrices, and the iterative methods that take them.
#include <heatpp/linalg/solvers/krylov.hpp>
#include <heatpp/sparse/construction.hpp>
#include <heatpp/sparse/conversion.hpp>
#include <heatpp/sparse/dcsc.hpp>
#include <heatpp/sparse/dcsr.hpp>
#include <heatpp/sparse/elementwise.hpp>
#include <heatpp/sparse/graph.hpp>
#include <heatpp/sparse/indexing.hpp>
#include <heatpp/sparse/preconditioners.hpp>
#include <heatpp/sparse/product.hpp>
#include <heatpp/sparse/reductions.hpp>
