# The five demonstrations of docs/debugging.md, played one after the other.
set confirm off
set trace-commands on

echo == 1 stop at a step\n
delete
break glass_step if $_streq(name, "Weights")
run
up
p X
node A
heat A
heat Q

echo == 2 who writes this gradient\n
tbreak SoftmaxOp::backward
continue
frame function attend
watch -l tape.nodes[0].grad.data[0]
continue
node
continue
node
continue
node

echo == 2 step back\n
delete
tbreak glass_step
continue
up
node X
node Q
node S
why dX[0,0]

echo == 3 where was the NaN born\n
break glass_nonfinite
continue
frame function weights_by_hand
tape
p E
p m

echo == 3 the trap\n
delete
tbreak glass_step if $_streq(name, "Masked")
run
trap
continue
p x
p c

echo == 3 the instruction\n
delete
tbreak SubColOp::forward
run
set var $cell = &s.y.data[3]
watch *$cell if *$cell != *$cell
continue
bt 2
p x
p c

echo == 4 which rule is wrong\n
delete
break glass_step if $_streq(name, "Careless")
continue
up
tape
checkgrad Y
checkgrad A
checkgrad E
parents E
why dE[0,0]

echo == 4 inside the rule\n
tbreak CarelessSoftmaxOp::backward
run
next
next
p A
p dA

echo == 5 two forms of one thing\n
delete
break glass_step if $_streq(name, "Three forms")
continue
up
diff steps:Y tiles:Y
diff steps:dQ tiles:dQ
diff steps:Y wrong:Y
diff steps:A wrong:A
diff steps:E wrong:E
diff steps:S wrong:S
node steps:E
node wrong:E
heat steps:A
heat wrong:A
