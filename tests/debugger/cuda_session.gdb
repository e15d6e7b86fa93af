# The recorded walk through a CUDA kernel on the CPU; run.sh replays it after engine/debug/lesson.gdb. docs/cuda.md quotes its
# sections. {some text} stands for the number of the first line of flash_2() in flash.cu with that text.
set confirm off
set trace-commands on
delete

echo == one thread stops\n
tbreak flash.cu:{nobody sees anybody} if threadIdx.x == 5
run
p i
p/t seen
cuda threads

echo == over the barrier\n
next
next
p threadIdx.x
cuda threads

echo == shared memory\n
tbreak flash.cu:{++visited} if threadIdx.x == 5
continue
p q[5 * q_pitch]@x.d
p k[0]@x.d
p k[3 * x.d]@x.d

echo == the other threads\n
tbreak flash.cu:{float top} if threadIdx.x == 5
continue
p P[0]@7
cuda print 4-7 seen
next
cuda bt 6

echo == what it found\n
tbreak flash.cu:{for (int k_v = 0} if threadIdx.x == 5
continue
p m
p l
p P[0]@8
cuda print 3,4 l
