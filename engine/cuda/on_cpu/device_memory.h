// The memory of the device, on the CPU. In debug builds the host may not touch it: it can be read and written only
// while a kernel or a copy runs, so a forgotten to_host() is found on any laptop. (Not under AddressSanitizer, which
// watches its ends instead.)
#pragma once

#include <cstddef>

namespace cuda_on_cpu {

void* device_alloc(std::size_t bytes);  // 256-byte aligned, as on a GPU, and full of NaN; nullptr if there is no room
void device_free(void*);

struct DeviceIsOpen {  // while one of these lives
  DeviceIsOpen();
  ~DeviceIsOpen();
};

}  // namespace cuda_on_cpu
