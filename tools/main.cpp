#include "tool.hpp"

#include <heatpp/comm/environment.hpp>

int main(int argc, char** argv) {
  return heatpp::run(argc, argv, [&] { return tools::run(argc, argv); });
}
