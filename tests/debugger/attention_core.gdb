# The second half of the recorded session: the core file that attention.gdb saved, without a running program.
set trace-commands on

echo == read a core file\n
bt
lesson
p words
tape
node Y
parents Y
heat dA
diff Q K
why dA[0,1]
why Q[1,0]
checkgrad Y
