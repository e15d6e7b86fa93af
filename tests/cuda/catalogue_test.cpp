// Every op of the catalogue on the CUDA backend, values and gradients, against the CPU's plain loops and the reference
// in double.
#include "tests/catch.h"
#include "tests/op_trial.h"

using namespace glass;

TEST_CASE("every op gives the same on every backend as on the CPU") {
  Backend* be = cuda_backend();
  REQUIRE(be);
  for (const OpCase& c : op_cases()) {
    DYNAMIC_SECTION(c.name) {
      INFO("on " << be->name());
      Trial cpu(c), device(c, Sizes().shapes(c), ~c.targets, *be);
      CHECK(difference(HostView(*be, device.y.value()), cpu.y.value(), kRounding) == "");
      if (c.constant) continue;
      cpu.tape.backward(cpu.y, cpu.seed);
      device.tape.backward(device.y, device.seed);
      for (std::size_t i = 0; i < cpu.x.size(); ++i) {
        if (!c.sends_to(i)) continue;
        CHECK(difference(HostView(*be, device.x[i].grad()), cpu.x[i].grad(), kRounding) == "");
      }
    }
  }
}
