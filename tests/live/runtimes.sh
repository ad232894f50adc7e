# SPDX-License-Identifier: BSD-2-Clause
#
# Stacks of runtimes that compile or interpret: functions of a program's own, under what calls them, up to
# the outer end. Part of tests/live/run.

. tests/live/profiles.sh
. tests/programs/unwind/cases.sh

sources=$PWD/tests/programs/runtimes
runtimes=build/tests/programs/runtimes
mkdir -p "$runtimes"
tools/install-packages runtimes >&2 || :

has_command() {
	command -v "$1" > /dev/null || skip "no $1"
}

# start_NAME ACT: it calls one() to five(), and does so in the last.

start_go() {
	has_command go
	GO111MODULE=off CGO_ENABLED=0 go build -o "$runtimes/chain-go" "$sources/chain.go"
	start "$runtimes/chain-go" "$1"
}

start_node() {
	has_command node
	# In the map its functions have names, and those that are interpreted have code of their own.
	start node --perf-basic-prof --interpreted-frames-native-stack --no-opt --no-logfile-per-isolate \
		--logfile="$scratch/v8.log" "$sources/chain.js" "$1"
	at_end 'rm -f "/tmp/perf-$pid.map"'
}

start_java() {
	has_command javac
	[ "$runtimes/Chain.class" -nt "$sources/Chain.java" ] || javac -d "$runtimes" "$sources/Chain.java"
	start java -XX:+PreserveFramePointer -XX:TieredStopAtLevel=1 -Xcomp \
		-XX:CompileCommand=quiet -XX:CompileCommand=dontinline,Chain.* -cp "$runtimes" Chain "$1"
	at_end 'rm -f "/tmp/perf-$pid.map"'
	# All of it is compiled when it has been called once.
	sleep 0.2
	jcmd "$pid" Compiler.perfmap > /dev/null
}

start_python() {
	[ -x /usr/bin/python3 ] || skip "no python3"
	start /usr/bin/python3 "$sources/chain.py" "$1"
}

# Names as they stand in the source: those of V8 without the tier and the place, of Java without types.
plain='def plain: sub("^JS:[*~^+]?(?<name>[^ ]*) .*"; "\(.name)") |
	sub("^[a-z]+ (?<name>[^(]*)\\(.*\\)$"; "\(.name)");'

counts() {
	awk '{ sum += $NF } END { print sum + 0 }'
}

# acts_below RUNTIME ACT CLASS CALLERS CHAIN: there is that chain, and all stacks with the innermost of the
# callers begin with them, but for those that a sample hit as a function began.
acts_below() {
	local all whole

	"start_$1" "$2"
	take profile --mode both -F 199 -d 700ms -p "$pid"
	ask "$plain"' samples | select(.class == $class) | "\(.stack | map(plain) | join(";")); \(.count)"' \
		--arg class "$3" | grep -F ";${4##*;};" > "$flame"
	has_chain "$flame" "$4;$5"
	all=$(counts < "$flame")
	whole=$(grep -E -- "$(chain_pattern "$4")" "$flame" | counts)
	between "stacks with all callers" $((all * 95 / 100)) "$whole" "$all"
	between "stacks" 10 "$all" 1000
}

both_cases() {
	run_case "runtimes: $1, on the CPU" needs_profiles acts_below "$1" spin on-cpu "$2" "$3"
	run_case "runtimes: $1, off the CPU" needs_profiles acts_below "$1" nap interruptible "$2" "$4"
}

# ends_with_names RUNTIME FUNCTION COMMAND...: most of its time is in the function, though it has ended before
# names are looked up.
ends_with_names() {
	local all named

	has_command "$1"
	take profile --mode on -F 199 -- "${@:3}"
	ask '.threads[].tgid | "/tmp/perf-\(.).map"' | sort -u | xargs rm -f
	ask "$plain"' samples | "\(.stack | map(plain) | join(";")); \(.count)"' > "$flame"
	all=$(counts < "$flame")
	named=$(grep -F "$2;" "$flame" | counts)
	between "stacks with its function" $((all / 2)) "$named" "$all"
}

# The first Python on this host that tells names of its functions.
python_with_maps() {
	local python

	for python in python3 python3.{12..20} "$HOME"/.pyenv/versions/3.1[2-9]*/bin/python3; do
		if "$python" -X perf -c 'import sys; sys.exit(not sys.is_stack_trampoline_active())'; then
			echo "$python"
			return
		fi
	done 2> /dev/null
	skip "no python3 that has -X perf (3.12)"
}

functions_of_python() {
	local python

	python=$(python_with_maps) || skip "no python3 that has -X perf (3.12)"
	take profile --mode on -F 199 -- "$python" -X perf -c '
import time
def spins(end):
    while time.monotonic() < end:
        sum(range(1000))
def one(end):
    spins(end); return 1
one(time.monotonic() + 1)'
	ask '.threads[].tgid | "/tmp/perf-\(.).map"' | sort -u | xargs rm -f
	ask '[samples | "\(.stack | join(";")) 1"] | unique[]' > "$flame"
	has_chain "$flame" "_start;*;py::<module>:<string>;*;py::one:<string>;*;py::spins:<string>;*"
}

# Without the option nothing has names of what it compiles, and the report says which one it is, with the number of the
# process; with it, it does not.
node_without_map_is_told() {
	local options

	has_command node
	for options in "" "--perf-basic-prof --interpreted-frames-native-stack"; do
		# shellcheck disable=SC2086
		start node $options --no-logfile-per-isolate --logfile="$scratch/v8.log" "$sources/chain.js" spin
		at_end "rm -f '/tmp/perf-$pid.map'"
		"$ctprof" profile -F 199 -d 1s -p "$pid" > "$scratch/text" || return 1
		grep -A1 "^ node $pid (.*has no perf map" "$scratch/text" > "$scratch/hint" || :
		equal "the hint with '$options'" "$(sed -n '2s/^ *//p' "$scratch/hint")" \
			"$([ -n "$options" ] || echo "node --perf-basic-prof --interpreted-frames-native-stack")"
		kill "$pid"
	done
}

spin='function spins(end) { while (Date.now() < end); } spins(Date.now() + 1500)'

cases_of() {
	profile=$scratch/profile.json
	flame=$scratch/profile.folded
	told=$scratch/told
	warned=$scratch/warned
	case $1 in
	go)
		five="runtime.goexit*;runtime.main;main.main;main.one;main.two;main.three;main.four;main.five"
		both_cases go "$five" "main.spin" "main.nap;syscall.Nanosleep"
		;;
	node)
		# C++, what V8 made when it was built, and what it made now.
		five="_start;*;node::Start*;*;Builtins_JSEntry;Builtins_JSEntryTrampoline;*;one;two;three;four;five"
		both_cases node "$five" "spin" "nap;*;v8::internal::Builtin_AtomicsWait;*;pthread_cond_timedwait"
		;;
	java)
		five="*;start_thread;*;JavaMain;*;Chain.main;Chain.one;Chain.two;Chain.three;Chain.four;Chain.five"
		both_cases java "$five" "*;Chain.spin" "*;Chain.nap;java.lang.Thread.sleep;JVM_Sleep*;*;pthread_cond_timedwait"
		;;
	python)
		# The interpreter's own functions: before 3.12 nobody says those of the program.
		both_cases python "_start;*;Py_BytesMain;*;PyEval_EvalCode" "_PyEval_EvalFrameDefault" "*;clock_nanosleep"
		;;
	esac
}

at_once cases_of node java go python
run_case "runtimes: node that has ended" needs_profiles ends_with_names node spins node --perf-basic-prof \
	--no-logfile-per-isolate --logfile="$scratch/v8.log" -e "$spin"
run_case "runtimes: node without a perf map is told" needs_profiles node_without_map_is_told
run_case "runtimes: functions of Python, by its trampolines" needs_profiles functions_of_python
