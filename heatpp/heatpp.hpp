#pragma once

// Everything on arrays: distributed arrays and NumPy's functions on them.
#include <heatpp/comm/communicator.hpp>
#include <heatpp/comm/environment.hpp>
#include <heatpp/comm/log.hpp>
#include <heatpp/comm/topology.hpp>
#include <heatpp/core/dndarray.hpp>
#include <heatpp/core/factories.hpp>
#include <heatpp/core/printing.hpp>
#include <heatpp/core/promotion.hpp>
#include <heatpp/core/redistribute.hpp>
#include <heatpp/ops/convolve.hpp>
#include <heatpp/ops/elementwise.hpp>
#include <heatpp/ops/halo.hpp>
#include <heatpp/ops/index.hpp>
#include <heatpp/ops/map.hpp>
#include <heatpp/ops/moments.hpp>
#include <heatpp/ops/nonzero.hpp>
#include <heatpp/ops/order.hpp>
#include <heatpp/ops/reduce.hpp>
#include <heatpp/ops/reshape.hpp>
#include <heatpp/ops/scan.hpp>
#include <heatpp/random/random.hpp>
