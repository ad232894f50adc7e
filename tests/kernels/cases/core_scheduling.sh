# SPDX-License-Identifier: BSD-2-Clause
#
# Core scheduling: who may not share a core keeps its other threads idle.

# Two that spin beside each other, on what may be the two threads of one core; sets ran[NAME] and wall.
declare -A ran

spin_beside() {
	snap before
	order two spin 2000
	tell one spin 2000
	ran[one]=$(said cpu) wall=$(said wall)
	hear two
	ran[two]=$(said cpu)
	snap after
}

start_two() {
	actor one
	actor two
	tell one pin 0
	tell two pin 1
}

strangers_keep_a_core_idle() {
	local wall name

	start_two
	tell one cookie
	if [ "$(said failed)" -ne 0 ]; then
		snap after
		unmeasured core_forceidle_sum one
		return
	fi
	tell two cookie
	spin_beside
	# While one of them runs, the other's CPU must not.
	for name in one two; do
		moved core_forceidle_sum $name "$(percent "${ran[$name]}" 50)" "$(percent "$wall" 120)"
		equals core_forceidle_sum $name "$(sched_ns "${tid[$name]}" core_forceidle_sum)" "/proc has"
	done
	within "core_forceidle_sum" \
		$(($(change one core_forceidle_sum) + $(change two core_forceidle_sum))) \
		"$(percent "$wall" 60)" "$(percent "$wall" 150)" "both together, of the time that passed,"
}

friends_do_not() {
	local wall

	start_two
	spin_beside
	[ "$(value after one core_forceidle_sum)" != - ] || return 0
	moved core_forceidle_sum one 0 "$(percent "${ran[one]}" 20)" "none is forced:"
}

run_case "threads that may not share a core keep it idle for each other" strangers_keep_a_core_idle
run_case "threads that may share a core do not" friends_do_not
