# SPDX-License-Identifier: BSD-2-Clause
#
# Moves from CPU to CPU: by their own will, and by the load balancer, which does not move everybody.
#
# kernels: 6.1 7.2

hops_are_counted() {
	actor hopper
	tell hopper pin 0
	snap before
	tell hopper hop 20
	snap after
	moved nr_migrations hopper 40 40
	moved nr_wakeups_migrate hopper 0 0
	equals processor hopper 0 "the last hop was to"
}

# all_are_hot: from now on a thread that ran not long ago is one that ran ever, unless it is SCHED_IDLE.
all_are_hot() {
	local debug=$scratch/debug file cost

	mkdir -p "$debug"
	mount -t debugfs debugfs "$debug"
	at_end "umount $debug"
	file=$debug/sched/migration_cost_ns
	[ -e "$file" ] || skip "this kernel does not say when a thread is hot"
	cost=$(< "$file")
	at_end "echo $cost > $file"
	echo 4294967295 > "$file"
}

# crowd POLICY CPUS NAME...: they want CPU 1 all at once, and then may go where this mask says. CPU 0
# has nothing to do.
crowd() {
	local policy=$1 mask=$2 name

	shift 2
	for name; do
		actor "$name"
		tell "$name" policy "$policy" 0 0 0
		tell "$name" pin 1
	done
	snap before
	for name; do
		order "$name" spin 1000
	done
	for name; do
		taskset -p "$mask" "${tid[$name]}"
	done
	for name; do
		hear "$name"
	done
	snap after
}

# sum METRIC: what all of them moved by.
sum() {
	local name total=0

	for name in "${!tid[@]}"; do
		total=$((total + $(change "$name" "$1")))
	done
	echo $total
}

# same_as_in_proc: of all of them, what the balancer counted.
same_as_in_proc() {
	local name metric

	for name in "${!tid[@]}"; do
		for metric in nr_forced_migrations nr_failed_migrations_{affine,running,hot}; do
			equals "$metric" "$name" "$(key_of "${tid[$name]}" sched "$metric")" "/proc/<tid>/sched has"
		done
	done
}

prisoners_stay() {
	local name

	all_are_hot
	crowd 0 2 one other third
	same_as_in_proc
	for name in one other third; do
		moved nr_failed_migrations_affine "$name" 1 2000 "the balancer tries for a second:"
		# That is what it looks at first.
		moved nr_failed_migrations_running "$name" 0 0 "not asked:"
		moved nr_failed_migrations_hot "$name" 0 0 "not asked:"
		moved nr_forced_migrations "$name" 0 0 "it stays:"
		moved nr_migrations "$name" 0 0 "it stays:"
	done
}

# What there was not this time, there is the next time.
the_hot_go_in_the_end() {
	local try name metric forced missing

	all_are_hot
	for try in {1..5}; do
		crowd 0 3 one other third
		same_as_in_proc
		missing=
		for name in "${!tid[@]}"; do
			forced=$(change "$name" nr_migrations)
			moved nr_forced_migrations "$name" 0 "$forced" "of its migrations:"
		done
		for metric in nr_forced_migrations nr_failed_migrations_{running,hot}; do
			[ "$(sum $metric)" -gt 0 ] || missing+=" $metric"
		done
		[ -n "$missing" ] || return 0
	done
	echo "none of:$missing"
	false
}

the_idle_are_never_hot() {
	all_are_hot
	crowd 5 3 one other third
	same_as_in_proc
	within nr_migrations "$(sum nr_migrations)" 1 1000 "some must have left:"
	within nr_forced_migrations "$(sum nr_forced_migrations)" 0 0 "nobody was hot:"
	within nr_failed_migrations_hot "$(sum nr_failed_migrations_hot)" 0 0 "nobody was hot:"
}

run_case "each hop is a migration" hops_are_counted
run_case "a thread that is bound to a CPU is refused for that, and never moved" prisoners_stay
run_case "the cache-hot are refused at first, and moved by force in the end" the_hot_go_in_the_end
run_case "SCHED_IDLE is moved without force" the_idle_are_never_hot
