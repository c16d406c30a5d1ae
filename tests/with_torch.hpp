#pragma once

// LibTorch's logging defines a CHECK of its own, which has to give way to the tests'.
#include <torch/torch.h>
#undef CHECK
#include "catch.hpp"
