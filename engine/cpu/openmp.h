// What is asked of OpenMP, so that one file knows whether it is there: openmp.cpp, or openmp_none.cpp.
#pragma once

namespace glass {

bool openmp_present();
int openmp_cores();    // at most; OMP_NUM_THREADS counts
bool openmp_inside();  // the caller is one of several threads of a region
int openmp_thread();    // which of them it is, from 0 on

}  // namespace glass
