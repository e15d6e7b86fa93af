#pragma once

extern "C" void cuda_on_cpu_switch(void** save, void* load);  // parks this stack at *save and goes on with `load`

namespace cuda_on_cpu {

void* first_frame(char* top,
                  void (*entry)());  // a stack that ends at `top`, ready to be switched to: it begins with entry()

}  // namespace cuda_on_cpu
