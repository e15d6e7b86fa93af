#include "layers/attention_residuals.h"
#include "tutorials/page/page.h"
using namespace glass;
int main(int argc, char** argv) try {
  Page page(argc, argv, "32");
  return page.done();
} catch (const std::exception& e) {
  return fail("32", e);
}
