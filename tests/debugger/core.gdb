# The second half of the recorded session: the core file that session.gdb saved, without a running program.
set trace-commands on

echo == read a core file\n
bt
lesson
p words
tape
node Y
