#pragma once

// The version of the headers. CMake takes the project's version from here.
#define HEATPP_VERSION_MAJOR 0
#define HEATPP_VERSION_MINOR 1
#define HEATPP_VERSION_PATCH 0
#define HEATPP_VERSION "0.1.0"
