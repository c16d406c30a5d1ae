// Links heatpp::core and nothing else.
#include <heatpp/comm/environment.hpp>
#include <heatpp/core/factories.hpp>

int main(int argc, char** argv) {
  heatpp::Environment env(argc, argv);
  return heatpp::arange(10, {.split = 0}).shape() == heatpp::Shape{10} ? 0 : 1;
}
