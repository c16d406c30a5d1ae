#pragma once

// The elementwise functions, by subject. Functions of one array are local and keep its layout. Functions of two
// operands broadcast them as NumPy does and take any mix of layouts: the operands that are cheapest to move are
// redistributed (counted in comm_report(), refused under Redistribution::forbid). Equal or replicated layouts cost no
// communication. The result is split as the operand that stayed, or as the options say. Errors, on all ranks:
// ValueError for shapes that do not broadcast, CommError for different communicators, TypeError for a dtype without the
// operation.
#include <heatpp/ops/elementwise/arithmetic.hpp>
#include <heatpp/ops/elementwise/bits.hpp>
#include <heatpp/ops/elementwise/choosing.hpp>
#include <heatpp/ops/elementwise/comparisons.hpp>
#include <heatpp/ops/elementwise/complex.hpp>
#include <heatpp/ops/elementwise/exponentials.hpp>
#include <heatpp/ops/elementwise/floats.hpp>
#include <heatpp/ops/elementwise/in_place.hpp>
#include <heatpp/ops/elementwise/operators.hpp>
#include <heatpp/ops/elementwise/out.hpp>
#include <heatpp/ops/elementwise/rounding.hpp>
#include <heatpp/ops/elementwise/trigonometry.hpp>
