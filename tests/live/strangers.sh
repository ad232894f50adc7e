# SPDX-License-Identifier: BSD-2-Clause
#
# Root measures, and another user without privileges does what he can to stop, rob or mislead it. Part of
# tests/live/run.

cp "$programs/stranger" "$scratch/stranger"
outsider=("${as_nobody[@]}" "$scratch/stranger")

# A directory that all may write to, as /tmp is, in $shared.
shared_directory() {
	shared=$(mktemp -d "$scratch/shared.XXXXXX")
	chmod 1777 "$shared"
	cd "$shared"
}

by_nobody() {
	"${as_nobody[@]}" bash -c "umask 0; $1"
}

# Long enough for a busy host, and much shorter than what a hang takes.
in_time() {
	timeout -k 1 30 "$@"
}

# profile OPTIONS...: stacks in $scratch/folded, once the process had a CPU meanwhile.
profile() {
	: > "$scratch/folded"
	until [ -s "$scratch/folded" ]; do
		in_time "$ctprof" profile -q --mode on --duration 300ms --format folded -o "$scratch/folded" "$@"
	done
}

# --- names of outputs ---

# COMMAND that writes to host.out.
takes_over_nothing() {
	shared_directory
	by_nobody ": > host.out; chmod 6777 host.out"
	"$@" 2> /dev/null
	equal "the file" "$(stat -c '%a %u' host.out)" "600 0"
	[ -s host.out ]
}

keeps_our_mode() {
	shared_directory
	: > host.out
	chmod 640 host.out
	"$ctprof" capture -q -p $$ -o host.out
	equal "the file" "$(stat -c '%a %u' host.out)" "640 0"
}

no_strange_fifo() {
	shared_directory
	by_nobody "mkfifo host.out"
	fails 1 in_time "$ctprof" capture -q -p $$ -o host.out
	has "the error" "$output" "host.out: FIFO of user 65534, which is not written to"
	# It says so before it measures.
	fails 2 in_time "$ctprof" profile -q --duration 10ms -o host.out --format folded
	has "the error of profile" "$output" "FIFO of user 65534"
}

no_strange_link() {
	shared_directory
	echo precious > "$scratch/precious"
	by_nobody "ln -s $scratch/precious host.out"
	fails 1 "$ctprof" capture -q -p $$ -o host.out
	has "the error" "$output" "host.out: symbolic link of user 65534, which is not followed"
	equal "what it leads to" "$(< "$scratch/precious")" precious
}

# What a shell offers must go on working.
our_own_pipes() {
	shared_directory
	mkfifo own
	cat own > read & "$ctprof" capture -q -p $$ -o own; wait $!
	zstd -qdcf read | jq -e .threads > /dev/null
	"$ctprof" capture -q -p $$ -o >(zstd -qdcf > substituted; : > done)
	until [ -e done ]; do sleep 0.01; done
	jq -e .threads substituted > /dev/null
	"$ctprof" capture -q -p $$ -o /dev/stdout | zstd -qdcf | jq -e .threads > /dev/null
	"$ctprof" capture -q -p $$ -o /dev/null
	[ -c /dev/null ]
}

# --- contents ---

# What only root reads does not become a name of a function.
tells_no_secret() {
	local secret=$scratch/secret

	printf '10000000 1000 root_only\n' > "$secret"
	chmod 600 "$secret"
	start "${outsider[@]}" code "$secret"
	at_end "rm -f /tmp/perf-$pid.map"
	profile -p "$pid"
	has_not "the profile" "$(< "$scratch/folded")" root_only
	# Had it been the process's, it would.
	rm "/tmp/perf-$pid.map"
	by_nobody "printf '10000000 1000 its_own\n' > /tmp/perf-$pid.map"
	profile -p "$pid"
	has "the profile" "$(< "$scratch/folded")" its_own
}

# A program of ours, and one of a stranger that has its layout and build-id, but other names and no tables.
make_twins() {
	local id dir=$scratch/twins

	command -v gcc > /dev/null || skip "no gcc"
	id=0x$(od -An -N 20 -tx1 /dev/urandom | tr -d ' \n')
	export XDG_CACHE_HOME=$dir/cache
	mkdir -p "$dir/cache"
	chmod 711 "$dir"
	cat > "$dir/ours.c" <<- 'C'
		#include <stdio.h>
		volatile long x;
		__attribute__((noinline)) void honest_leaf(void) { for (long i = 0; i < 10000000; i++) x++; }
		__attribute__((noinline)) void honest_caller(void) { honest_leaf(); x++; }
		int main(void) { puts("ready"); fflush(stdout); for (;;) honest_caller(); }
	C
	sed 's/honest_leaf/forged_leaf/g; s/honest_caller/forged_caller/g' "$dir/ours.c" > "$dir/theirs.c"
	gcc -O1 -fno-optimize-sibling-calls -Wl,--build-id="$id" -o "$dir/ours" "$dir/ours.c"
	gcc -O1 -fno-optimize-sibling-calls -fno-asynchronous-unwind-tables -Wl,--build-id="$id" \
		-o "$dir/theirs" "$dir/theirs.c"
	chown 65534 "$dir/theirs"
}

no_forged_build_id() {
	local ours theirs

	make_twins
	: > "$scratch/folded"
	start "${as_nobody[@]}" "$scratch/twins/theirs"
	theirs=$pid
	start "$scratch/twins/ours"
	ours=$pid
	# Until both had a CPU meanwhile.
	until grep -q "^theirs" "$scratch/folded" && grep -q "^ours" "$scratch/folded"; do
		profile -p "$theirs,$ours" --group-by process
	done
	has "the profile of ours" "$(grep "^ours" "$scratch/folded")" "honest_caller;honest_leaf"
	has_not "the profile of ours" "$(grep "^ours" "$scratch/folded")" forged
	has "the profile of theirs" "$(grep "^theirs" "$scratch/folded")" forged_leaf
	# Nor does a later run find a forged table.
	kill "$theirs"
	profile -p "$ours"
	has "the later profile" "$(< "$scratch/folded")" "honest_caller;honest_leaf"
}

# --- file systems that do not answer ---

# serves_the_others HOW [OPTIONS...]: a profile of the whole host, one process of which hangs whoever looks at it.
serves_the_others() {
	local hanging

	: > "$scratch/hanging.file"
	rm -f "$scratch/served.folded"
	start "$programs/hanging_file" "$scratch/hanging.file" "$1" || skip "no FUSE"
	hanging=$pid
	start bash -c 'echo ready; while :; do sleep 0.01; done'
	"$ctprof" offcpu -q -d 1500ms --format folded -o "$scratch/served.folded" "${@:2}" 2> "$scratch/error" &
	timeout 60 bash -c 'until [ -s "$1" ]; do sleep 0.05; done' - "$scratch/served.folded" ||
		{ echo "there is no profile"; kill "$hanging"; return 1; }
	# Linux ends no call that waits for a file system in user space before that is gone.
	kill "$hanging"
	wait $! || { cat "$scratch/error"; return 1; }
	grep -qE '(^|;)clock_nanosleep;' "$scratch/served.folded" || { echo "the sleeps have no stacks"; return 1; }
}

# capture_serves_the_others SOURCE HOW: the same for a capture.
capture_serves_the_others() {
	local hanging fine status=0

	: > "$scratch/hanging.file"
	start "$programs/hanging_file" "$scratch/hanging.file" "$2" || skip "no FUSE"
	hanging=$pid
	start_sleep
	fine=$pid
	timeout -k 1 100 "$ctprof" capture -q --source "$1" -o "$scratch/served.zst" 2> "$scratch/error" || status=$?
	kill "$hanging"
	between "the status" 0 $status 1
	zstd -qdcf "$scratch/served.zst" > "$json"
	equal "the process behind it" "$(query ".processes[] | select(.tgid == $fine) | .cmdline | length > 0")" true
	equal "its I/O" "$(query ".threads[] | select(.tid == $fine) | .rchar > 0")" true
}

# --- leases: each makes an open wait for 45 s ---

leased_metrics() {
	start "${outsider[@]}" metrics 4
	in_time "$ctprof" kstats list > /dev/null 2>&1
	fails 1 in_time "$ctprof" kstats show "$pid:leased0"
}

leased_map() {
	local busy

	start "${outsider[@]}" code /nonexistent
	busy=$pid
	at_end "rm -f /tmp/perf-$busy.map"
	rm "/tmp/perf-$busy.map"
	by_nobody "echo > /tmp/perf-$busy.map"
	start "${outsider[@]}" lease "/tmp/perf-$busy.map"
	profile -p "$busy"
}

leased_inputs() {
	shared_directory
	by_nobody "mkdir recording"
	"$ctprof" capture -q -p $$ -o recording/20261120T123005.250Z.ctprof.zst
	chown 65534 recording/*
	start "${outsider[@]}" lease recording/*
	fails 1 in_time "$ctprof" show recording
	has "the error" "$output" "a process holds a lease on it"
	fails 1 in_time "$ctprof" flame -o /dev/null --format folded recording/*
	has "the error of flame" "$output" "a process holds a lease on it"
}

# --- files that take more memory than they look ---

# has_a_limit COMMAND...: it reads a FIFO, and may take half of what is available.
has_a_limit() {
	local limit available

	mkfifo "$scratch/never"
	available=$(($(awk "/^MemAvailable:/ { print \$2 }" /proc/meminfo) * 1024))
	"$@" "$scratch/never" &
	at_end "kill $!; rm -f $scratch/never"
	until limit=$(awk '/^Max data size/ { print $4 }' "/proc/$!/limits") && [ "$limit" != unlimited ]; do
		kill -0 $! || return 1
		sleep 0.02
	done
	between "the limit of data, in bytes" 268435456 "$limit" $((available * 6 / 10 + 268435456))
	kill $!
	rm "$scratch/never"
}

loaders_have_a_limit() {
	has_a_limit "$ctprof" show
	has_a_limit "$ctprof" show-host
	has_a_limit "$ctprof" flame -o /dev/null --format folded
	has_a_limit "$ctprof" kstats show
}

# ends_without_memory MIB COMMAND...: with so much memory it fails, and says why.
ends_without_memory() {
	local status=0

	(
		ulimit -Sd $(($1 * 1024))
		exec "${@:2}"
	) > "$scratch/error" 2>&1 || status=$?
	equal "the status" $status 1
	has "the error" "$(< "$scratch/error")" "out of memory"
}

large_files_end_in_an_error() {
	awk 'BEGIN {
		printf "{\"captured_at_unix_ns\":1,\"threads\":["
		for (i = 1; i <= 300000; i++)
			printf("%s{\"tid\":%d,\"tgid\":%d,\"pcomm\":\"a\",\"comm\":\"a\"}", (i > 1 ? "," : ""), i, i)
		print "]}"
	}' | zstd -q -o "$scratch/large.zst"
	between "the bytes of a large snapshot" 1 "$(stat -c %s "$scratch/large.zst")" 2000000
	ends_without_memory 128 "$ctprof" show "$scratch/large.zst"
	awk 'BEGIN { for (i = 1; i <= 300000; i++) print "frame" i ";leaf 1" }' > "$scratch/large.folded"
	ends_without_memory 32 "$ctprof" flame --format folded -o /dev/null "$scratch/large.folded"
}

run_case "strangers: a snapshot takes no mode over" needs_root takes_over_nothing "$ctprof" capture -p $$ -o host.out
run_case "strangers: a profile takes no mode over" needs_root takes_over_nothing \
	"$ctprof" profile -q --format folded -o host.out -- bash -c 'for ((i = 0; i < 200000; i++)); do :; done'
run_case "strangers: an output keeps the mode of our own file" needs_root keeps_our_mode
run_case "strangers: their FIFO is not written to" needs_root no_strange_fifo
run_case "strangers: their link is not followed" needs_root no_strange_link
run_case "strangers: pipes and devices of our own are written to" needs_root our_own_pipes
run_case "strangers: their map of names discloses none of our files" needs_bpf tells_no_secret
run_case "strangers: a forged build-id spoils no other program" needs_bpf no_forged_build_id

# hanging_case WORD: the case of one that hangs whoever looks at it. Two at a time, for they mostly wait until a command
# gives up; then each command has two such processes to look at.
hanging_case() {
	case $1 in
	memory) run_case "strangers: memory whose faults hang blocks no command" needs_bpf alone serves_the_others memory ;;
	pointers) run_case "strangers: nor without unwind tables" needs_bpf alone serves_the_others memory --unwind fp ;;
	maps) run_case "strangers: a locked memory map blocks no capture" needs_bpf alone serves_the_others maps ;;
	exec) run_case "strangers: an execve that never ends blocks no capture" needs_bpf alone serves_the_others exec ;;
	bpf) run_case "strangers: nor does it stop a capture" needs_bpf alone capture_serves_the_others bpf exec ;;
	proc) run_case "strangers: nor one that reads /proc" needs_root alone capture_serves_the_others proc exec ;;
	held) run_case "strangers: a map that is held does not stop it" needs_root alone capture_serves_the_others proc maps ;;
	esac
}

at_once hanging_case bpf proc held exec maps memory pointers
run_case "strangers: leases on metrics block no command" needs_root alone leased_metrics
run_case "strangers: leases on maps of names block no command" needs_bpf alone leased_map
run_case "strangers: leases on inputs block no command" needs_root alone leased_inputs
run_case "strangers: commands that load files have a limit of memory" loaders_have_a_limit
run_case "strangers: a file that needs more ends in an error" large_files_end_in_an_error
