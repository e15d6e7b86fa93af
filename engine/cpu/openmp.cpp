#include "engine/cpu/openmp.h"

#include <omp.h>

namespace glass {

bool openmp_present() { return true; }
int openmp_cores() { return omp_get_max_threads(); }
bool openmp_inside() { return omp_in_parallel(); }
int openmp_thread() { return omp_get_thread_num(); }

}  // namespace glass
