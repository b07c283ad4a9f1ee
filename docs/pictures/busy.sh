# What the recording of the pictures is of: a task every second or so, and another one, larger, every few seconds.
every_second() {
	for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36; do
		./work hot 260
		sleep 1
	done
}
every_second &
for _ in 1 2 3 4 5 6 7 8 9; do
	./tree 3500
	sleep 3
done
wait
