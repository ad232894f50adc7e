# SPDX-License-Identifier: BSD-2-Clause
#
# For the tests that are bash: one function is one case.
#
#	. tests/cases.sh
#	adds_up() { equal sum "$((1 + 1))" 2; }
#	run_case "one and one are two" adds_up
#	end_cases
#
# A function's first command that fails ends it, and the case has failed; what it printed is shown. So is what
# still runs after CASE_SECONDS, and it is ended. Cases and what they started end with their runner, however that ends.

set -u -o pipefail
# What is made here belongs to who runs this.
unset SUDO_UID SUDO_GID

SKIPPED=77
# Far more than any case takes on a busy host. Without limit if 0.
CASE_SECONDS=${CASE_SECONDS:-600}
# The process that started all cases. A `run` that another one starts belongs to that.
export CASES_RUNNER=${CASES_RUNNER:-$$}
failures=0
scratch=$(mktemp -d "${TMPDIR:-/tmp}/ctprof-test.XXXXXX")
chmod 755 "$scratch"

# at_exit COMMAND: runs when this process ends. A background process that gets a signal right after its fork runs the
# traps of its parent in bash, with wrong statuses, and must not remove what the parent uses.
at_exit() {
	trap "case \$BASHPID in $BASHPID) $1 ;; esac" EXIT
}

at_exit 'rm -rf "$scratch"'
trap 'exit 130' INT TERM HUP

# at_end COMMAND: runs when the case ends, the last one named first.
at_end() {
	endings=("$1" "${endings[@]}")
}

run_endings() {
	local ending

	set +e
	trap - ERR
	for ending in "${endings[@]}"; do
		eval "$ending"
	done 2> /dev/null
}

# descendants_of PID EXCEPT: the processes below PID, with their parents and arguments, but for EXCEPT and what
# is below that.
descendants_of() {
	ps -eo pid=,ppid=,args= | awk -v top="$1" -v except="$2" '
		{ parent[$1] = $2; line[$1] = $0 }
		function is_below(pid) {
			return pid in parent && pid != except && (parent[pid] == top || is_below(parent[pid]))
		}
		END { for (pid in parent) if (is_below(pid)) print line[pid] }'
}

# end_all PID...: and what still runs after five seconds, by SIGKILL.
end_all() {
	local signal

	trap '' TERM
	for signal in TERM KILL; do
		kill -"$signal" "$@"
		sleep 5
	done
}

# watch_case PID DETAILS: when CASE_SECONDS have passed, write down and end what runs below PID. When the runner has
# ended, end PID and the case, too. It waits without a child of its own.
watch_case() {
	local never running began=$SECONDS

	exec {never}<> <(:)
	while [ -e "/proc/$CASES_RUNNER" ]; do
		if ((CASE_SECONDS > 0 && SECONDS - began >= CASE_SECONDS)); then
			running=$(descendants_of "$1" "$BASHPID")
			printf 'not over after %s s; still running:\n%s\n' "$CASE_SECONDS" "$running" >> "$2"
			end_all $(awk '{ print $1 }' <<< "$running")
			return
		fi
		read -r -t 1 -u "$never"
	done
	# The case is no longer below PID if that has ended.
	set -- "$1" $(cat "$2.case")
	end_all "$@" $(for pid; do descendants_of "$pid" "$BASHPID"; done | awk '{ print $1 }')
}

# With CASE_TIMES in the environment, that file gets a line for each case: its seconds, the CPU seconds of its
# processes, and its name.
write_times() {
	local now=${EPOCHREALTIME/./}

	times >> "$scratch/times"
	awk -v name="$1" -v us=$((now - $2)) '
		NR % 2 == 0 { for (i = 1; i <= 2; i++) { split($i, t, /[ms]/); cpu[NR] += t[1] * 60 + t[2] } }
		END { printf "%.1f\t%.1f\t%s\n", us / 1e6, cpu[4] - cpu[2], name }' "$scratch/times" >> "$CASE_TIMES"
}

# print_details DETAILS: the end of what a case that failed printed.
print_details() {
	tail -n 30 "$1" | sed 's/^/    /'
}

# reason_of DETAILS: why the case failed, in one line: what it printed before its first command that failed.
reason_of() {
	awk '/^failed: / && reason != "" { exit } NF { reason = $0 } END { print reason }' "$1" | tr -s '\t ' ' ' | cut -c 1-200
}

# What a folder of tests replaces: is_due NAME FUNCTION [ARGUMENTS...], whether the case is to be run now; has_passed
# NAME, and has_failed NAME DETAILS, which say so.
is_due() { :; }

has_passed() {
	echo "ok - $1"
}

has_failed() {
	echo "not ok - $1"
	print_details "$2"
	failures=$((failures + 1))
}

# run_case NAME FUNCTION [ARGUMENTS...]
run_case() {
	local name=$1 details=$scratch/details status parent=$BASHPID watchdog began=${EPOCHREALTIME/./}

	is_due "$@" || return 0
	shift
	: > "$details"
	times > "$scratch/times"
	: > "$details.case"
	watch_case "$parent" "$details" > /dev/null 2>&1 &
	watchdog=$!
	(
		echo "$BASHPID" > "$details.case"
		endings=()
		trap run_endings EXIT
		trap 'echo "failed: $BASH_COMMAND (line ${BASH_LINENO[0]})"' ERR
		set -eE
		"$@"
	) >> "$details" 2>&1 < /dev/null
	status=$?
	{ kill "$watchdog"; wait "$watchdog"; } 2> /dev/null
	[ -z "${CASE_TIMES-}" ] || write_times "$name" "$began"
	case $status in
	0) has_passed "$name" ;;
	$SKIPPED) echo "skip - $name: $(tail -n 1 "$details")" ;;
	*) has_failed "$name" "$details" ;;
	esac
}

# How many at_once runs at the same time.
at_most=$(nproc)

# at_once FUNCTION WORD...: run the cases of FUNCTION for each word, $at_most words at once, and print their lines in
# the order of the words. Each word has a scratch folder of its own. A word whose process ends before FUNCTION returns
# has failed.
at_once() {
	local function=$1 all=$scratch/at_once word number=0

	shift
	mkdir -p "$all"
	for word; do
		[ "$(jobs -rp | wc -l)" -lt "$at_most" ] || wait -n
		(
			scratch=$all/$number.scratch
			mkdir "$scratch"
			"$function" "$word" > "$all/$number"
			touch "$all/$number.returned"
			rm -rf "$scratch"
		) &
		number=$((number + 1))
	done
	wait
	number=0
	for word; do
		[ -e "$all/$number.returned" ] ||
			echo "not ok - $function $word: ended before its last case" >> "$all/$number"
		cat "$all/$number"
		failures=$((failures + $(grep -c '^not ok' "$all/$number")))
		number=$((number + 1))
	done
	rm -rf "$all"
}

# The last command of a `run`.
end_cases() {
	exit $((failures > 0))
}

# skip REASON: ends the case.
skip() {
	echo "$*"
	exit $SKIPPED
}

# equal WHAT GOT WANTED
equal() {
	[ "$2" = "$3" ] || { echo "$1 is '$2', not '$3'"; return 1; }
}

# between WHAT LOW GOT HIGH: numbers, ends included.
between() {
	[ "$2" -le "$3" ] && [ "$3" -le "$4" ] || { echo "$1 is $3, not from $2 to $4"; return 1; }
}

# has WHAT TEXT PIECE
has() {
	[[ $2 == *"$3"* ]] || { echo "$1 has no '$3': $2"; return 1; }
}

has_not() {
	[[ $2 != *"$3"* ]] || { echo "$1 has '$3': $2"; return 1; }
}

# fails STATUS COMMAND...: it must end with this status, and its output is in $output.
fails() {
	local wanted=$1 status=0

	shift
	output=$("$@" 2>&1) || status=$?
	[ "$status" -eq "$wanted" ] || { echo "'$*' ended with $status, not $wanted: $output"; return 1; }
}

# full COMMAND...: standard output takes no byte.
full() {
	"$@" > /dev/full
}
