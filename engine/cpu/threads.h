// How many threads a kernel may use. With OpenMP, the number of cores; without it, always one.
#pragma once

namespace glass {

int threads();            // as set, else GLASS_THREADS, else the number of cores
void set_threads(int n);  // 1 to 1024; 0: back to the default; throws InputError
int parse_threads(const char* text, const char* where);  // the same limits for a word; throws InputError that names `where`

// 1 if the work (in numbers moved, or in FLOPs that take as long) is too little to wake another thread, or if the caller is one of several already.
int threads_for(double work);

}  // namespace glass
