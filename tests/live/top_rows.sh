# SPDX-License-Identifier: BSD-2-Clause
#
# Which rows windows of ctprof top have, and when it ends. Part of tests/live/run.

# Without BPF there are no windows of states.
rows_need_top() {
	is_root
	output=$("$ctprof" top --batch -n 1 -i 50ms --format none --record "$scratch/rows.none" -p $$ 2>&1) || skip "$output"
	"$@"
}

# A zombie: its parent has not reaped it.
is_dead() {
	[ "$(sed 's/.*) //' "/proc/$1/stat" | cut -d' ' -f1)" = Z ]
}

# Two children that nobody reaps: one that is dead before, and one that dies meanwhile. Only the second is there, and
# ends once.
dead_are_not_alive() {
	local engine dead dying tops=()

	start bash -c 'sleep 0.3 & dead=$!; sleep 6 & echo ready $dead $!; exec sleep 1000'
	read -r dead dying <<< "$ready"
	until is_dead "$dead"; do sleep 0.05; done
	for engine in exact counters taskstats; do
		"$ctprof" top --batch -n 18 -i 500ms -e $engine --format json -f "pid:$dead|$dying" > "$scratch/rows.$engine" &
		tops+=($!)
	done
	wait "${tops[@]}"
	is_dead "$dying"
	for engine in exact counters taskstats; do
		equal "rows of the dead one ($engine)" "$(jq -c "select(.tid == $dead)" "$scratch/rows.$engine" | wc -l)" 0
		equal "how the dying one ends ($engine)" "$(jq -sr "[.[] | select(.tid == $dying).ended] |
			if length > 1 and all(.[:-1][]; not) then .[-1] else \"alive in \(map(select(not)) | length) windows\" end" \
			"$scratch/rows.$engine")" true
	done
}

# One that ends while it is read is told as ended then, and not in the window after with nothing in it.
ends_are_told_once() {
	start "$programs/churn" 100 20
	"$ctprof" top --batch -n 100 -i 50ms --format json -p "$pid" > "$scratch/rows.churn"
	between "threads that ended" 1000 "$(jq -c 'select(.ended)' "$scratch/rows.churn" | wc -l)" 100000
	equal "ends of nothing" "$(jq -c 'select(.ended and .window_ns == 0)' "$scratch/rows.churn" | wc -l)" 0
}

# Threads of a millisecond, while programs are attached one after another: none is there for half a second but main().
ends_while_it_starts_are_ends() {
	local i

	start "$programs/churn" 40 1
	for i in 1 2 3 4 5; do
		"$ctprof" top --batch -n 3 -i 250ms --format json -p "$pid" > "$scratch/rows.started" || return 1
		equal "threads there at the end that were there in the first window" "$(jq -sc 'map(select(.ended | not)) |
			(map(select(.window == 0).tid)) as $first | map(select(.window == 2).tid | select(IN($first[])))' \
			"$scratch/rows.started")" "[$pid]"
	done
}

run_case "top: a thread that ends while top starts is not alive" slow rows_need_top ends_while_it_starts_are_ends
run_case "top: a zombie ends once, and is not alive" rows_need_top dead_are_not_alive
run_case "top: a thread that ends during a reading is reported once" rows_need_top ends_are_told_once

# --- recordings ---

# A disk of one page takes no capture.
full_disk() {
	mkdir -p "$scratch/disk"
	mount -t tmpfs -o size=8k none "$scratch/disk" || skip "no tmpfs can be mounted"
	at_end 'umount -l "$scratch/disk"'
}

# While it goes on, not when it ends.
failing_recorder_says_so() {
	full_disk
	"$ctprof" top --batch -i 100ms --format none --record "$scratch/disk/rec" -p $$ 2> "$scratch/rows.told" &
	at_end "kill $! && wait $!"
	until grep -q 'cannot record a capture: .*No space left on device' "$scratch/rows.told"; do
		kill -0 $! || { cat "$scratch/rows.told"; return 1; }
		sleep 0.1
	done
}

# on_screen TEXT OPTIONS...: the screen with these shows it.
on_screen() {
	command -v tmux > /dev/null || skip "needs tmux"
	tmux -S "$scratch/rows.tmux" -f /dev/null new-session -d -x 150 -y 50 \
		"TZ=XYZ-5 XDG_CONFIG_HOME=$scratch/rows.config CTPROF_PAGER=cat $ctprof top ${*:2} 2> $scratch/rows.told"
	at_end 'tmux -S "$scratch/rows.tmux" kill-server'
	on_screen_still "$1"
}

# on_screen_still TEXT: it comes to show that, too.
on_screen_still() {
	local tries

	for ((tries = 0; tries < 300; tries++)); do
		tmux -S "$scratch/rows.tmux" capture-pane -p > "$scratch/rows.seen" || break
		! grep -qE "$1" "$scratch/rows.seen" || return 0
		sleep 0.1
	done
	cat "$scratch/rows.seen" "$scratch/rows.told"
	return 1
}

failing_recorder_is_on_the_screen() {
	full_disk
	on_screen '[0-9]+ of [0-9]+ captures failed: .*No space left on device' -i 100ms --record "$scratch/disk/rec" -p $$
}

recorder_is_on_the_screen() {
	on_screen 'recording, [1-9][0-9]* captures?' -i 100ms --record "$scratch/rows.rec" -p $$
}

# A capture that was cut to nothing is left out, on standard error and on the screen, which goes on to the end.
damaged_capture_is_left_out() {
	local files windows

	"$ctprof" top --batch -n 6 -i 300ms --format none --record "$scratch/rows.cut" -p $$ 2> /dev/null
	files=("$scratch/rows.cut"/*)
	# One that takes longer than a window leaves the next one out.
	between "captures" 4 ${#files[@]} 7
	windows=$((${#files[@]} - 2))
	truncate -s 0 "${files[2]}"
	"$ctprof" top --batch --replay "$scratch/rows.cut" --format json > "$scratch/rows.replayed" 2> "$scratch/rows.told"
	equal "windows" "$(jq .window "$scratch/rows.replayed" | sort -u | wc -l)" $windows
	grep -q "1 capture skipped: .*${files[2]##*/}" "$scratch/rows.told"
	on_screen "window $windows/$windows .* the last .*1 capture skipped: .*" --replay "$scratch/rows.cut"
}

# Times are those that DIR@TIME takes, wherever the screen is.
times_are_of_utc() {
	on_screen "($(date -u +'%F %H')|$(date -u -d '1 minute' +'%F %H')):[0-9]{2}:[0-9]{2} UTC" -i 100ms -p $$
}

run_case "top: times on the screen are of UTC" rows_need_top times_are_of_utc
run_case "top: a recorder that fails reports it at once" rows_need_top failing_recorder_says_so
run_case "top: that it fails is on the screen" rows_need_top failing_recorder_is_on_the_screen
run_case "top: that it records is on the screen" rows_need_top recorder_is_on_the_screen
run_case "top: a damaged capture is left out of a replay" rows_need_top damaged_capture_is_left_out

# --- what was asked for ---

# By each engine: the last window has its end, and there is none after.
batch_ends_with_its_target() {
	local engine

	for engine in exact counters taskstats; do
		start bash -c 'echo ready; read -t 2 < <(sleep 9); exit 3'
		"$ctprof" top --batch -i 200ms -e $engine --format json -p "$pid" > "$scratch/rows.target" 2> "$scratch/rows.told"
		equal "what is said ($engine)" "$(< "$scratch/rows.told")" "ctprof: process $pid (bash) ended"
		equal "windows after its end ($engine)" "$(jq -s "(map(.window) | max) - (map(select(.tid == $pid and .ended).window) | max)" \
			"$scratch/rows.target")" 0
	done
}

target_is_on_the_screen() {
	start bash -c 'echo ready; read -t 5 < <(sleep 9); exit 3'
	on_screen "  process $pid \(bash\)" -i 200ms -p "$pid"
	on_screen_still 'has ended'
}

# cgroup_of PID: of version 2; if that is the root, the first other one of version 1 that says more.
cgroup_of() {
	local path controller

	path=$(sed -n 's/^0:://p' "/proc/$1/cgroup")
	for controller in name=systemd cpu cpuacct memory pids; do
		[ "$path" = / ] || break
		path=$(awk -F: -v name="$controller" '{ n = split($2, all, ",")
			for (i = 1; i <= n; i++) if (all[i] == name) { sub(/^[^:]*:[^:]*:/, ""); print } }' "/proc/$1/cgroup")
		path=${path:-/}
	done
	echo "$path"
}

csv_and_tables_say_who() {
	local who

	start "$programs/churn" 20 50
	"$ctprof" top --batch -n 3 -i 200ms -p "$pid" --format csv > "$scratch/rows.csv"
	equal "the end of the head" "$(head -n 1 "$scratch/rows.csv" | rev | cut -d, -f 1-4 | rev)" "switches,process,user,cgroup"
	who=$(awk -F, 'NR > 1 { print $(NF - 2) "," $(NF - 1) "," $NF }' "$scratch/rows.csv" | sort -u)
	equal "who it is" "$who" "churn,root,$(cgroup_of "$pid")"
	"$ctprof" top --batch -n 3 -i 200ms --all -p "$pid" > "$scratch/rows.table"
	grep -qE ' ended +[0-9]+  churn' "$scratch/rows.table" || { cat "$scratch/rows.table"; return 1; }
}

# press KEY...: on the screen that is there.
press() {
	tmux -S "$scratch/rows.tmux" send-keys "$@"
}

# --- what /proc says of rows ---

# field FILE NAME: of /proc/PID.
proc_field() {
	sed -n "s/^$2:[[:space:]]*//p" "/proc/$pid/$1"
}

# A niced process that writes all the time, with a command line that says something to terminals. What it wrote in the
# windows is at most what it wrote from before to after them, by the lengths of both readings.
facts_are_those_of_proc() {
	local before written read rows=$scratch/rows.facts columns=memory,priority,nice,write,rchar,wchar,command

	start nice -n 5 bash -c 'echo ready; exec -a "$(printf "dd\033[2J")" dd if=/dev/zero of=/dev/null bs=1k'
	until [ "$(< "/proc/$pid/comm")" = dd ]; do
		sleep 0.01
	done
	before=$(proc_field io wchar)
	read=$(proc_field io rchar)
	"$ctprof" top --batch -n 3 -i 300ms --format json -b process -p "$pid" --columns "$columns" > "$rows"
	equal "rows" "$(jq -s length "$rows")" 3
	between "bytes written" 1 "$(jq -s 'map(.wchar_per_s * .window_ns / 1e9) | add | floor' "$rows")" \
		$((($(proc_field io wchar) - before) * 3 / 2))
	between "bytes read" 1 "$(jq -s 'map(.rchar_per_s * .window_ns / 1e9) | add | floor' "$rows")" \
		$((($(proc_field io rchar) - read) * 3 / 2))
	equal "bytes to storage" "$(jq -s 'map(.write_bytes_per_s) | add' "$rows")" 0
	equal "nice" "$(jq -s 'map(.nice) | unique | .[]' "$rows")" "$(sed 's/.*) //' "/proc/$pid/stat" | cut -d' ' -f17)"
	equal "priority" "$(jq -s 'map(.priority) | unique | .[]' "$rows")" \
		"$(sed 's/.*) //' "/proc/$pid/stat" | cut -d' ' -f16)"
	equal "the command line" "$(jq -sr 'map(.command) | unique | .[]' "$rows")" \
		"$(tr '\0' ' ' < "/proc/$pid/cmdline" | sed 's/ $//')"
	between "memory" $(($(awk '/^VmRSS/ { print $2 }' "/proc/$pid/status") * 512)) \
		"$(jq -s '.[-1].memory_bytes' "$rows")" $(($(awk '/^VmRSS/ { print $2 }' "/proc/$pid/status") * 2048))
	"$ctprof" top --batch -n 1 -i 100ms -b process -p "$pid" --columns command > "$rows"
	has "the table" "$(< "$rows")" 'if=/dev/zero of=/dev/null'
	has_not "the table" "$(< "$rows")" $'\033'
	# Without a column of files, there is no member.
	equal "members of other rows" "$("$ctprof" top --batch -n 1 -i 100ms -p "$pid" --format json |
		jq 'has("command") or has("memory_bytes") or has("last_exit")')" false
}

# The last line of a table is the command that goes on from its first row; one of two processes ended.
batch_goes_on() {
	local waits ended told=$scratch/rows.told

	start bash -c 'exec 9<> <(:); echo ready; read -r -u 9'
	waits=$pid
	start bash -c 'echo ready; read -t 0.3 < <(sleep 9)'
	ended=$pid
	"$ctprof" top --batch -n 4 -i 200ms -b process -p "$waits,$ended" > "$scratch/rows.next" 2> "$told"
	equal "the last line" "$(tail -n 1 "$scratch/rows.next")" "bash: what does it wait for? ctprof top --inspect $waits"
	equal "what is said" "$(< "$told")" "ctprof: process $ended has ended"
	equal "for programs" "$("$ctprof" top --batch -n 1 -i 100ms -b process -p "$waits" --format csv | tail -n 1 | cut -d, -f3)" bash
}

# Of two shells one has a variable of 8 MiB more, and a lower priority; the order of rows is that of both.
facts_order_rows() {
	local small large key rows=$scratch/rows.order

	start bash -c 'exec 9<> <(:); echo ready; read -t 1000 -u 9'
	small=$pid
	start nice bash -c 'x=$(printf %08388608d 0); exec 9<> <(:); echo ready; read -t 1000 -u 9'
	large=$pid
	for key in memory -priority PRI -MEM; do
		"$ctprof" top --batch -n 1 -i 100ms --format csv -b process -p "$large,$small" "--sort=$key" > "$rows"
		case $key in
		memory | -priority) equal "the order by $key" "$(awk -F, 'NR > 1 { print $5 }' "$rows" | xargs)" "$large $small" ;;
		*) equal "the order by $key" "$(awk -F, 'NR > 1 { print $5 }' "$rows" | xargs)" "$small $large" ;;
		esac
	done
}

# Bytes of the processes of others are not known; names and memory are.
facts_of_strangers() {
	local row

	start_sleep
	chmod 755 "$ctprof"
	row=$(setpriv --reuid 65534 --regid 65534 --clear-groups "$ctprof" top --batch -n 2 -i 200ms --engine procfs \
		-p "$pid" -b process --format json --columns memory,rchar,command | tail -n 1)
	equal "what is known" "$(jq -c '[.rchar_per_s, .memory_bytes > 0, .command]' <<< "$row")" '[null,true,"sleep 1000"]'
}

# One of two processes of a name is killed; the other one's row says so from then on.
exits_stay_in_sight() {
	local mortal immortal rows=$scratch/rows.exits

	cp "$(command -v sleep)" "$scratch/mortal"
	start bash -c '"$0" 1000 & a=$!; "$0" 1000 & echo ready $a $!; exec sleep 1000' "$scratch/mortal"
	read -r mortal immortal <<< "$ready"
	at_end "kill $mortal $immortal"
	"$ctprof" top --batch -n 40 -i 250ms --format json -f "mortal" -b process --columns exit > "$rows" &
	at_end "kill $! && wait $!"
	until grep -q "\"tgid\":$immortal" "$rows"; do sleep 0.05; done
	kill -KILL "$mortal"
	until [ "$(jq -s "[.[] | select(.tgid == $immortal and .last_exit.signal == 9)] | length" "$rows")" -ge 3 ]; do
		kill -0 $! || { tail -n 3 "$rows"; return 1; }
		sleep 0.2
	done
	equal "rows of it after its end" "$(jq -s "map(select(.tgid == $mortal and .threads == 0)) | length" "$rows")" 1
}

# P profiles the selected row, and comes back to the same columns and rows.
profile_comes_back() {
	start "$programs/states" spin
	on_screen "$pid .*states" -i 200ms -p "$pid" -b process --columns tid,name,cpu,command
	press Down P
	on_screen_still 'q leave .*w wall/on/off'
	press q
	on_screen_still 'CPU% COMMAND'
	on_screen_still "$pid .*states"
	press q
	while tmux -S "$scratch/rows.tmux" has-session 2> /dev/null; do sleep 0.1; done
}

# How it ended, what it did until then, and nothing that is still to come.
inspector_tells_the_end() {
	start bash -c 'echo ready; read -t 8 < <(exec sleep 9); exit 3'
	on_screen "$pid bash .* OTHER|$pid bash .* IDLE|$pid bash .* POLL|$pid bash .* PIPE" -i 200ms -p "$pid"
	press Enter
	on_screen_still 'state +ended, exit code 3'
	! grep -qE 'looking|collecting|Reading' "$scratch/rows.seen"
	grep -q '## Windows' "$scratch/rows.seen"
}

signal_is_told() {
	start_sleep
	on_screen "$pid sleep .* TIMER" -i 200ms -p "$pid"
	press Enter
	on_screen_still 'state +sleep_timer'
	kill -SEGV "$pid"
	on_screen_still 'state +ended: killed by SIGSEGV \(11\)'
}

# A process whose main() waits: the stacks are of the thread that works, where it runs too.
inspector_profiles_all_threads() {
	start "$programs/states" spin pipe
	on_screen "$pid +3 states" -i 200ms --by process -p "$pid"
	press Enter
	on_screen_still '## Stacks'
	press G Home
	for ((tries = 0; tries < 20; tries++)); do
		sleep 1
		tmux -S "$scratch/rows.tmux" capture-pane -p > "$scratch/rows.seen"
		! grep -q run_spin "$scratch/rows.seen" || break
		press PageDown
		[ $((tries % 4)) -lt 3 ] || press Home
	done
	grep -q run_spin "$scratch/rows.seen" || { cat "$scratch/rows.seen"; return 1; }
}

# links_of PID: the number of its BPF programs that run with tracepoints.
links_of() {
	{ grep -lx 'link_type:.raw_tracepoint' "/proc/$1/fdinfo/"* 2> /dev/null || true; } | wc -l
}

# The profile beside the inspector has BPF programs of its own, as long as the inspector is open.
closed_inspector_costs_nothing() {
	local screen before

	start_sleep
	on_screen "$pid sleep .* TIMER" -i 200ms -p "$pid"
	screen=$(pgrep -f "^$ctprof top -i 200ms -p $pid" | head -n 1)
	before=$(links_of "$screen")
	press Down Enter
	on_screen_still 'state +sleep_timer'
	until [ "$(links_of "$screen")" -gt "$before" ]; do sleep 0.1; done
	press Escape
	on_screen_still 'ctprof top +[0-9]'
	for ((tries = 0; tries < 100; tries++)); do
		[ "$(links_of "$screen")" -gt "$before" ] || return 0
		sleep 0.1
	done
	equal "BPF programs that run" "$(links_of "$screen")" "$before"
}

# The wait that went on when the inspector came, the one that goes on now and those between are one place.
inspector_has_one_line_of_a_place() {
	start bash -c 'echo ready; exec "$0" sleep 100 2200' "$programs/chain"
	on_screen "$pid chain .* TIMER" -i 200ms -p "$pid"
	press Enter
	on_screen_still '(←|<-) timer'
	equal "stacks that end in the wait" "$(grep -cE '(←|<-) timer' "$scratch/rows.seen")" 1
	equal "where the longest ended" "$(grep -oE 'interruptible +chain .*' "$scratch/rows.seen" |
		sed -E 's/.*(\[interrupt\]|-) +//; s/ .*//' | sort -u | wc -l)" 1
}

# A row of a group has the threads that the filter lets through, and its page the same.
inspector_has_the_filter() {
	start "$programs/states" spin pipe socket
	on_screen "$pid +[23] states" -i 200ms --by process -p "$pid" -f "'pipe|socket'"
	press Enter
	on_screen_still '^ +[0-9]+ +pipe '
	! grep -qE '^ +[0-9]+ +spin ' "$scratch/rows.seen"
}

# It runs as it was started: who measures the scheduler must not come before others.
screen_is_as_nice_as_it_was() {
	local screen

	on_screen 'ctprof top +[0-9]' -i 200ms -p $$
	screen=$(pgrep -f "^$ctprof top -i 200ms -p $$" | head -n 1)
	equal "nice values of its threads" "$(cat "/proc/$screen/task/"*/stat | sed 's/.*) //' | cut -d' ' -f 17 | sort -u)" "$(nice)"
}

run_case "top: the screen gives itself no priority" rows_need_top screen_is_as_nice_as_it_was
run_case "top: the inspector shows how a thread ended, and stops" rows_need_top inspector_tells_the_end
run_case "top: and which signal killed it" rows_need_top signal_is_told
run_case "top: the inspector of a process has stacks of all of it" rows_need_top inspector_profiles_all_threads
run_case "top: the inspector of a group has the threads of its row" rows_need_top inspector_has_the_filter
run_case "top: the inspector has one line of one place" rows_need_top inspector_has_one_line_of_a_place
run_case "top: --batch ends with the process that it watches" rows_need_top batch_ends_with_its_target
run_case "top: the screen names the watched process, and its end" rows_need_top target_is_on_the_screen
run_case "top: CSV has the process of a thread, and tables mark ended ones" rows_need_top csv_and_tables_say_who
run_case "top: columns have what /proc says" rows_need_top facts_are_those_of_proc
run_case "top: --batch ends with the next command" rows_need_top batch_goes_on
run_case "top: what /proc says decides the order" rows_need_top facts_order_rows
run_case "top: columns of other users' processes" rows_need_top facts_of_strangers
run_case "top: the last exit of a process stays in sight" rows_need_top exits_stay_in_sight
run_case "top: a closed inspector leaves no BPF programs" rows_need_top closed_inspector_costs_nothing
run_case "top: P comes back to the table" rows_need_top profile_comes_back
