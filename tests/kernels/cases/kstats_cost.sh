# SPDX-License-Identifier: BSD-2-Clause
#
# What it costs a function to be measured: by kstats.ko, by ctprof kstats, and in the same way by funclatency
# of libbpf-tools and bpftrace. CPUs are emulated: of the times only those of one run can be compared.
#
# slow
# modules
# peers
# kernels: 6.1 7.2
# seconds: 600

. tests/kernels/guest/kstats.sh

rounds=7
peers=/tmp/peers
events="start tracepoint:kstats_test:kstats_test_begin end tracepoint:kstats_test:kstats_test_finish"

# Tools measure by turns; what counts is the least of all rounds, for what others do meanwhile only adds to it.
#
# MECHANISM WORK WHO PLACE. By kprobe the module has its kretprobe, the others a kprobe and a kretprobe.
# funclatency (0.26) has no fentry, and no tracepoints.
plan="
kprobe      call     module       start some_function
kprobe      call     ctprof       start kprobe:some_function
kprobe      call     funclatency  some_function
kprobe      call     bpftrace     kprobe:some_function kretprobe:some_function
fentry      getpgid  ctprof       start fentry:__x64_sys_getpgid
fentry      getpgid  bpftrace     kfunc:__x64_sys_getpgid kretfunc:__x64_sys_getpgid
tracepoint  events   module       $events
tracepoint  events   ctprof       $events
tracepoint  events   bpftrace     tracepoint:kstats_test:kstats_test_begin tracepoint:kstats_test:kstats_test_finish
uprobe      empty    ctprof       start uprobe:/bin/kstats_cost:empty_function
uprobe      empty    funclatency  /bin/kstats_cost:empty_function
uprobe      empty    bpftrace     uprobe:/bin/kstats_cost:empty_function uretprobe:/bin/kstats_cost:empty_function"

# How many calls kstats_cost makes at a stretch, and how many times.
declare -A calls=([call]=500 [getpgid]=200 [events]=500 [empty]=50)
turns=60

call_ns() {
	kstats_cost "$1" "${calls[$1]}" ${2-$turns}
}

# --- who measures: start_WHO; stop_WHO, which sets `counted` to how many calls it saw ---

start_module() {
	control trace cost "$@"
}

stop_module() {
	counted=$(count_of cost)
	control remove cost
}

start_ctprof() {
	ctprof kstats trace cost "$@"
}

stop_ctprof() {
	counted=$(ctprof kstats show cost | sed -nE 's/^ *count ([0-9]+).*/\1/p')
	ctprof kstats remove cost
}

# start_tool COMMAND...: what it says comes when it ends.
start_tool() {
	"$@" > "$scratch/said" 2>&1 &
	tool=$!
}

end_tool() {
	kill -INT $tool
	wait $tool || cat "$scratch/said"
	tool=
}

start_funclatency() {
	start_tool funclatency "$1"
}

stop_funclatency() {
	end_tool
	counted=$(awk -F: '/->/ { split($2, word, " "); n += word[1] } END { print n + 0 }' "$scratch/said")
}

# START END
start_bpftrace() {
	start_tool bpftrace -e "$1 { @s[tid] = nsecs; } $2 /@s[tid]/ { @h = hist(nsecs - @s[tid]); delete(@s[tid]); }"
}

stop_bpftrace() {
	end_tool
	counted=$(awk '/\|/ { sub(/.*[])]/, ""); n += $1 } END { print n + 0 }' "$scratch/said")
}

# --- measuring ---

# programs LEAST: "KIND NS" of each BPF program that ran so often; nobody else has any.
programs() {
	bpftool prog show | sed -nE 's/^[0-9]+: ([a-z_]+) .* run_time_ns ([0-9]+) run_cnt ([0-9]+)$/\1 \2 \3/p' |
		awk -v least="$1" '$3 >= least { print $1, $2 / $3 }'
}

count_programs() {
	echo "$1" > /proc/sys/kernel/bpf_stats_enabled
}

# wait_until COMMAND...: until it succeeds; for long, for compilers are emulated too.
wait_until() {
	local i

	for i in {1..600}; do
		! "$@" || return 0
		sleep 0.1
	done
	echo "it never came to: $*"
	[ ! -e "$scratch/said" ] || cat "$scratch/said"
	return 1
}

are_run_by() {
	kstats_cost "$1" 1 1 > "$scratch/once"
	[ "$(programs 1 | wc -l)" -ge 2 ]
}

await_programs() {
	count_programs 1
	wait_until are_run_by "$1"
	count_programs 0
}

# The kernel frees them in its own time.
are_gone() {
	[ -z "$(bpftool prog show)" ]
}

# ask_kernel NAME WORK: what it counts itself of them, ns a call.
ask_kernel() {
	count_programs 1
	call_ns "$2" 30 > "$scratch/once"
	count_programs 0
	programs $((calls[$2] * 30)) > "$scratch/programs"
	note "$1.programs" "$(awk '{ n += $2 } END { printf "%.1f\n", n }' "$scratch/programs")"
	note "$1.kind" "$(cut -d ' ' -f 1 "$scratch/programs" | sort -u)"
}

note() {
	echo "$2" >> "$scratch/ns.$1"
}

# MECHANISM WORK WHO PLACE
measure() {
	local name=$1.$3 work=$2 who=$3

	shift 3
	"start_$who" "$@"
	[ "$who" = module ] || await_programs "$work"
	note "$name.call" "$(call_ns "$work")"
	[ "$who" = module ] || ask_kernel "$name" "$work"
	"stop_$who"
	wait_until are_gone
	# What was not counted was not measured either.
	between "what $who counted" $((calls[$work] * turns)) "$counted" 1000000
}

# Who is beside us, with all libraries: 200 MB, for bpftrace is a compiler.
unpack_peers() {
	[ -e /dev/vdc ] || skip "nobody is here to compare with"
	mkdir -p $peers
	at_end "rm -rf $peers"
	tar -xf /dev/vdc -C $peers
	export PATH=$PATH:$peers/bin LD_LIBRARY_PATH=$peers/lib/x86_64-linux-gnu:$peers/usr/lib/x86_64-linux-gnu
	command -v bpftool bpftrace funclatency || skip "not all of bpftool, bpftrace and funclatency are here"
	grep -q ' /sys/kernel/tracing ' /proc/mounts || mount -t tracefs tracefs /sys/kernel/tracing
}

measure_all() {
	local round mechanism work rest last

	tool=
	at_end 'kill $tool; ctprof kstats remove cost; control remove cost'
	# What is left of a try that took too long.
	ctprof kstats remove cost 2> /dev/null || true
	rmmod kstats_test 2> /dev/null || true
	rmmod kstats 2> /dev/null || true
	unpack_peers
	load
	for ((round = 0; round < rounds; round++)); do
		last=
		while read -r mechanism work rest; do
			[ "$work" = "$last" ] || note "$mechanism.none.call" "$(call_ns "$work")"
			last=$work
			measure "$mechanism" "$work" $rest
		done <<< "${plan:1}"
	done
	: > "$scratch/measured"
	report >&3
	is_clean
}

# --- what came out ---

least() {
	sort -n "$scratch/ns.$1" | head -n 1
}

# added MECHANISM WHO: ns a call
added() {
	awk -v with="$(least "$1.$2.call")" -v without="$(least "$1.none.call")" 'BEGIN { printf "%.1f\n", with - without }'
}

# of_kernel NAME: what it said of programs.
of_kernel() {
	[ ! -e "$scratch/ns.$1.programs" ] || echo "$(least "$1.programs")" "$(sort -u "$scratch/ns.$1.kind")"
}

report() {
	local mechanism work who rest

	printf '    %-12s%-12s%12s%12s%12s   ns as emulated, least of %d\n' "" "" unmeasured added programs $rounds
	while read -r mechanism work who rest; do
		printf '    %-12s%-12s%12s%12s%12s   %s\n' "$mechanism" "$who" "$(least "$mechanism.none.call")" \
			"$(added "$mechanism" "$who")" $(of_kernel "$mechanism.$who")
	done <<< "${plan:1}"
}

# Between runs the least of one tool differs by up to 8 %, where the tools are close to each other (kprobe, uprobe).
margin=1.10

# MECHANISM WHO PEER: it adds no more.
is_not_above() {
	local ours theirs

	[ -e "$scratch/measured" ] || skip "nothing was measured"
	ours=$(added "$1" "$2") theirs=$(added "$1" "$3")
	echo "it adds $ours ns, $3 $theirs"
	awk -v ours="$ours" -v theirs="$theirs" -v margin=$margin 'BEGIN { exit !(ours > 0 && ours <= margin * theirs) }'
}

exec 3>&1
run_case "cost of being measured: by turns" measure_all
for pair in "kprobe module" "kprobe ctprof" "fentry ctprof" "tracepoint module" "tracepoint ctprof" "uprobe ctprof"; do
	for peer in funclatency bpftrace; do
		! grep -qE "^${pair% *} .* $peer " <<< "$plan" ||
			run_case "cost of a ${pair% *}: ${pair#* }'s is not above $peer's" is_not_above $pair $peer
	done
done
