# SPDX-License-Identifier: BSD-2-Clause
#
# What cases in the guest are made of. An actor (programs/actor.c) does one thing at a time and says
# how long it took by its own clocks; a snapshot before and one after say what the kernel counted:
#
#	sleeps_are_counted() {
#		actor sleeper
#		snap before
#		tell sleeper sleep 10 20000
#		snap after
#		moved voluntary_sleep_ns sleeper "$(said wall)" "$(percent "$(said wall)" 110)"
#	}
#	run_case "sleeps of known length are counted as sleep" sleeps_are_counted

. tests/cases.sh

declare -A tid to from
said=

# Another user, with no privileges.
as_somebody=(setpriv --reuid=1000 --regid=1000 --clear-groups)

# --- actors ---

# actor NAME [COMMAND...]: start one, by COMMAND if there is one, as in: actor idle chrt -i 0
actor() {
	local name=$1 in=$scratch/$1.in out=$scratch/$1.out w r

	shift
	rm -f "$in" "$out"
	mkfifo "$in" "$out"
	"$@" /bin/actor "$name" < "$in" > "$out" &
	tid[$name]=$!
	at_end "kill -KILL $! 2> /dev/null"
	exec {w}> "$in" {r}< "$out"
	to[$name]=$w from[$name]=$r
	hear "$name"
}

# order NAME WORDS...: tell it, and do not wait. hear NAME: wait for its answer.
order() {
	local name=$1

	shift
	echo "$*" >&"${to[$name]}"
}

hear() {
	read -r -t 100 said <&"${from[$1]}" || { echo "$1 does not answer"; return 1; }
}

tell() {
	order "$@"
	hear "$1"
}

# said KEY: of the last answer.
said() {
	local word

	for word in $said; do
		[ "${word%%=*}" != "$1" ] || { echo "${word#*=}"; return; }
	done
	echo "no '$1' in: $said" >&2
	return 1
}

# rivals: the actors hog and rival, who want CPU 1, where nobody else of us is.
rivals() {
	local name

	taskset -p 1 "$BASHPID"
	for name in hog rival; do
		actor $name
		tell $name pin 1
	done
}

# full_lives: the actors busy, rival, leader and urgent, who between them have done a bit of everything.
full_lives() {
	local disk words

	actor busy
	actor rival
	actor leader
	actor urgent
	exec {disk}< /dev/vda
	tell rival pin 1
	tell busy pin 1
	order rival compute 150
	while read -r words; do
		tell busy $words
	done <<- 'END'
		compute 150
		call 60
		sleep 20 1000
		hop 3
		vfork 20000
		read /dev/vda 100 65536
		dirty /dev/vda 5 4096
		discard /dev/vda 65536
		map 4
		copy
		fault /dev/vda 10
	END
	hear rival
	tell leader threads 2
	tell leader policy 3 5 0 0
	tell urgent policy 2 0 7 0
	tell urgent sleep 5 1000
}

# stop_all: every actor, until it stands.
stop_all() {
	local name

	for name in "${!tid[@]}"; do
		kill -STOP "${tid[$name]}"
		await T "${tid[$name]}"
	done
}

# --- snapshots ---

# One jq reads all snapshots: to start takes it longer than all else here. After each it says ".". It
# holds numbers as doubles: the greatest, of no limit, is made a text for it.
mkfifo "$scratch/json" "$scratch/lines"
jq --unbuffered -r "$(cat tests/recorded/facts.jq)
	threads, cgroups, (pressure | sub(\"^host \"; \"host psi.\")), \".\"" \
	< "$scratch/json" > "$scratch/lines" &
jq=$!
exec 8> "$scratch/json" 9< "$scratch/lines"
at_exit 'kill $jq; rm -rf "$scratch"'

# read_snapshot FILE: a line for each value that was measured: "TID METRIC VALUE", "/GROUP FIELD VALUE",
# "host psi.FIELD VALUE".
read_snapshot() {
	# jq waits for the end of the line; sed would for the line after the last.
	{ zstd -dcq "$1" | sed 's/:\(18446744073709551615\)\b/:"\1"/g'; echo; } >&8
	awk '$0 == "." { exit } 1' <&9
}

# facts_of FILE: those of its threads.
facts_of() {
	read_snapshot "$1" | grep '^[0-9]'
}

# processes_in FILE: how many a snapshot has.
processes_in() {
	zstd -dcq "$1" | jq '[.threads[].tgid] | unique | length'
}

# snap NAME: of all actors of this case, once they are at rest. catch NAME: whatever they do.
snap() {
	settle ${tid[*]}
	catch "$1"
}

catch() {
	local pids=${tid[*]}

	ctprof capture -q -p "${pids// /,}" -o "$scratch/$1.ctprof.zst"
	read_snapshot "$scratch/$1.ctprof.zst" > "$scratch/$1.all"
	grep '^[0-9]' "$scratch/$1.all" > "$scratch/$1.facts"
}

# but_waits: facts without the waits in progress, which grow while nothing happens.
but_waits() {
	awk '!/_in_progress_ns /'
}

# settle PID...: wait until they block.
settle() {
	local pid tries=0

	for pid; do
		until [ "$(stat_column "$pid" 3)" != R ]; do
			((++tries < 500)) || { echo "process $pid does not come to rest"; return 1; }
			sleep 0.01
		done
	done
}

# await STATE PID: until it is in this state.
await() {
	local tries=0

	until [ "$(stat_column "$2" 3)" = "$1" ]; do
		((++tries < 500)) || { echo "process $2 does not come to $1"; return 1; }
		sleep 0.01
	done
}

# value SNAPSHOT ACTOR METRIC: as ctprof has it; "-" when it was not measured.
value() {
	awk -v tid="${tid[$2]}" -v metric="$3" '
		$1 == tid && $2 == metric { print $3; found = 1 }
		END { if (!found) print "-" }' "$scratch/$1.facts"
}

# change ACTOR METRIC: from `before` to `after`.
change() {
	local old new

	old=$(value before "$1" "$2") new=$(value after "$1" "$2")
	[ "$old" != - ] && [ "$new" != - ] || { echo "$2 of $1 was not measured" >&2; return 1; }
	echo $((new - old))
}

# --- the kernel, read by other means ---

# stat_column PID N: counted from 1, as in proc(5).
stat_column() {
	sed -n '$s/.*) //p' "/proc/$1/stat" | cut -d ' ' -f $(($2 - 2))
}

schedstat_column() {
	cut -d ' ' -f "$2" "/proc/$1/schedstat"
}

# key_of PID FILE KEY: of the files that say "key: value" or "key : value".
key_of() {
	awk -v key="$3" '{ sub(":", " ") } $1 == key { print $2 }' "/proc/$1/$2"
}

# sched_ns PID KEY: a time of /proc/PID/sched, which is in ms with six decimals.
sched_ns() {
	key_of "$1" sched "$2" | awk '{ sub(/\./, ""); sub(/^0+/, ""); print $0 == "" ? 0 : $0 }'
}

# --- checks; each notes that this case proves the metric ---

# That nothing is there is right, but proves little.
is_nothing() {
	[ "$1" = 0 ] || [ "$1" = null ] || [ "$1" = - ]
}

proves() {
	printf '%s\n' "$@" >> "$facts"
}

# is METRIC GOT WANTED WHAT: exactly.
is() {
	echo "$1 is $2; $4: $3"
	[ "$2" = "$3" ]
	is_nothing "$2" || proves "$1"
}

# equals METRIC ACTOR WANTED WHAT: its value after.
equals() {
	is "$1" "$(value after "$2" "$1")" "$3" "$4"
}

# within METRIC GOT LOW HIGH WHAT
within() {
	echo "$1 is $2, ${5-the actor says} from $3 to $4"
	[ "$2" -ge "$3" ]
	[ "$2" -le "$4" ]
	is_nothing "$2" || proves "$1"
}

# moved METRIC ACTOR LOW HIGH [WHAT]: what it changed by.
moved() {
	within "$1" "$(change "$2" "$1")" "$3" "$4" "${5-the actor says}"
}

# percent N PERCENT: that part of it.
percent() {
	echo $(($1 * $2 / 100))
}

# lesser N N, greater N N: of the two.
lesser() {
	echo $(($1 < $2 ? $1 : $2))
}

greater() {
	echo $(($1 > $2 ? $1 : $2))
}

# Nothing in the kernel's log that should not be there.
log_is_clean() {
	! dmesg | grep -E -A 12 'WARNING|BUG:|Oops|general protection|Call Trace|PERCPU|stall|possible recursive|refcount'
}

# unmeasured METRIC ACTOR
unmeasured() {
	equal "$1" "$(value after "$2" "$1")" -
}
