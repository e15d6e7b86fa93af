# Edge cases: what printers and commands say of unusual matrices, of handles to nothing, and in the middle of a record.
set confirm off
set trace-commands on

echo == odd matrices\n
condition 1 $_streq(name, "matrices")
run
up
p one
p special
p view
p wide
p column
p no_rows
p no_cols
p empty
p no_data
p negative
p crossed
p nowhere
p s
heat big
heat --ascii --plain special
heat view
heat no_data
diff big other
diff big big
diff view special
diff special nowhere

echo == handles to nothing\n
condition 1 $_streq(name, "lines")
continue
up
p nothing
p old
p first
p W
p store
node old
node nothing
node 99
node no such thing
tape
tape 1
node two words
parents "two words"
checkgrad y
why y[0,1]
why W_q[2,0]
why dx[0,0]
why x

echo == in the middle of a record\n
break Tape::push
continue
tape
delete $bpnum
tbreak SumOp::forward
continue
tape
p s
p *this

echo == swept\n
condition 1 $_streq(name, "swept")
continue
up
parents loss
node W_q
heat dW_q
diff W_q dW_q
checkgrad w
checkgrad u
