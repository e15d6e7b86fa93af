#include "engine/cpu/openmp.h"

namespace glass {

bool openmp_present() { return false; }
int openmp_cores() { return 1; }
bool openmp_inside() { return false; }
int openmp_thread() { return 0; }

}  // namespace glass
