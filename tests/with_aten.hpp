#pragma once

#include <ATen/ATen.h>
// LibTorch's logging defines a CHECK of its own, which has to give way to the tests', unless theirs came first.
#ifndef CATCH_VERSION_MAJOR
#undef CHECK
#endif
#include "catch.hpp"
