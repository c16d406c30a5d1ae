#pragma once

// LibTorch's logging defines a CHECK of its own, which has to give way to the tests'.
#include <ATen/ATen.h>
#undef CHECK
#include <catch2/catch.hpp>
