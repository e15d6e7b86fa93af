# The first recorded session. run.sh starts each after engine/debug/lesson.gdb and shows each command behind "(gdb) ".
# A section begins with `echo == name`; docs/debugging.md quotes sections by that name.
set confirm off
set trace-commands on

echo == a teaching step\n
condition 1 $_streq(name, "Weights")
run
lesson
p X
p Q

echo == the tape\n
tape
node 9

echo == stop in an op\n
break SoftmaxOp::backward
continue
next
info locals

echo == the stack\n
tbreak CpuBackend::softmax_rows_backward
continue
bt
up
p dA
p s
p *this
tape

echo == save a core file\n
generate-core-file core

echo == who writes this gradient\n
lesson
node X
watch -l $node.grad.data[0]
continue
bt
continue
bt
continue
bt

echo == the fields of an op\n
delete $bpnum
tbreak CpuBackend::softmax_rows_backward
continue
up
p *this
p factor
tape

echo == matrices\n
condition 1 $_streq(name, "matrices")
continue
up
p bad
p big
p view
p nothing
p keep

echo == the first number that is not finite\n
break glass_nonfinite
continue
bt
frame function overflow
p x
tape

echo == the error messages\n
condition 1 $_streq(name, "rewound")
continue

echo == a stale handle\n
up
p Q
p tape
