# SPDX-License-Identifier: BSD-2-Clause
#
# Presets on real runtimes: waits of idle threads are hidden, real blocks are not. The programs say which
# threads block. Part of tests/live/run.
#
# A preset sees stacks as ctprof takes them, and as another program does: eu-stack and /proc, while all
# sleep. Both must be hidden alike.
#
# slow

sources=tests/programs/runtimes
runtimes=build/tests/programs/runtimes
mkdir -p "$runtimes"
# What cannot be installed is missing below, and skipped.
tools/install-packages runtimes >&2 || :

# --- the programs ---

# is_built NAME SOURCE: is it newer?
is_built() {
	[ "$runtimes/$1" -nt "$sources/$2" ]
}

has_command() {
	command -v "$1" > /dev/null || skip "no $1"
}

build_go() {
	has_command go
	GO111MODULE=off CGO_ENABLED=0 go build -o "$runtimes/go" "$sources/go.go"
	program=("$runtimes/go")
}

# With Debian's compiler and crates, which need no network.
build_tokio() {
	[ -d /usr/share/cargo/registry ] && [ -x /usr/bin/cargo ] || skip "no cargo, or no crates of Debian"
	mkdir -p "$runtimes/cargo"
	cp -ru "$sources/tokio" "$runtimes"
	cat > "$runtimes/cargo/config.toml" <<- 'END'
		[source.crates-io]
		replace-with = "debian"
		[source.debian]
		directory = "/usr/share/cargo/registry"
	END
	CARGO_HOME=$PWD/$runtimes/cargo RUSTC=/usr/bin/rustc RUSTFLAGS="-C force-frame-pointers=yes" \
		/usr/bin/cargo build -q --offline --release --manifest-path "$runtimes/tokio/Cargo.toml"
	program=("$runtimes/tokio/target/release/tokio-idle")
}

build_java() {
	has_command javac
	is_built Idle.class Idle.java || javac -d "$runtimes" "$sources/Idle.java"
	# Functions of pools have names where they are compiled, and said.
	program=(java -XX:+PreserveFramePointer -XX:TieredStopAtLevel=1 -Xcomp -cp "$runtimes" Idle)
}

build_node() {
	has_command node
	program=(node "$sources/node_idle.js")
}

build_python() {
	[ -x /usr/bin/python3 ] || skip "no python3"
	program=(/usr/bin/python3 "$sources/python.py")
}

build_pools() {
	local glib

	has_command g++
	glib=$(pkg-config --cflags --libs glib-2.0) || skip "no GLib"
	is_built pools pools.cc ||
		g++ -O2 -fopenmp -o "$runtimes/pools" "$sources/pools.cc" $glib -ltbb || skip "no oneTBB"
	program=("$runtimes/pools" "$1")
}

# --- what a preset does ---

by_ctprof() {
	if [ "$runtime" = java ]; then
		jcmd "$pid" Compiler.perfmap > /dev/null
		at_end 'rm -f "/tmp/perf-$pid.map"'
	fi
	"$ctprof" offcpu -q -d 1s -p "$pid" -o "$profile" \
		--state interruptible,uninterruptible,io-wait 2> "$scratch/said" ||
		{ cat "$scratch/said"; return 1; }
}

# Frames of all threads that wait, a line each, innermost first: TID, k or u, name, file.
frames_of_all() {
	local task

	for task in "/proc/$pid/task"/*; do
		sed -n "s/^\[<0>\] \([^+]*\)+.*/${task##*/}\tk\t\1\t/p" "$task/stack"
	done
	# Of code that is made while it runs it knows nothing, and says so by its status.
	{ eu-stack -rm -n 200 -p "$pid" 2> /dev/null || :; } | c++filt | awk -v OFS='\t' '
		/^TID / { tid = $2 + 0 }
		/^#/ {
			file = ""
			sub(/^#[0-9]+ +0x[0-9a-f]+( - 1)? */, "")
			if (match($0, /- \/[^ ]*$/)) {
				file = substr($0, RSTART + 2)
				$0 = substr($0, 1, RSTART - 1)
			}
			sub(/ +$/, "")
			# Names of Rust end with a hash, which ctprof leaves out too.
			sub(/::h[0-9a-f]+$/, "")
			base = file
			sub(/.*\//, "", base)
			print tid, "u", $0 == "" ? "[" base "+0x0]" : $0, file
		}'
}

# Names of Java functions, which no symbols have: the virtual machine says them.
frames_of_java() {
	jcmd "$pid" Thread.print | awk -v OFS='\t' '
		function hex(text,    number, i) {
			for (i = 1; i <= length(text); i++)
				number = number * 16 + index("0123456789abcdef", substr(text, i, 1)) - 1
			return number
		}
		/nid=0x/ { match($0, /nid=0x[0-9a-f]+/); tid = hex(substr($0, RSTART + 6, RLENGTH - 6)) }
		/nid=[1-9]/ { match($0, /nid=[0-9]+/); tid = substr($0, RSTART + 4, RLENGTH - 4) + 0 }
		/^\tat / { sub(/^\tat /, ""); sub(/\(.*/, ""); print tid, "u", $0, "" }'
}

names_of_all() {
	local task

	for task in "/proc/$pid/task"/*; do
		printf '%s\t%s\n' "${task##*/}" "$(< "$task/comm")"
	done
}

# The same as a profile in which each thread waits for a second.
whole() {
	[ -r "/proc/$pid/stack" ] || skip "this kernel shows no stacks"
	has_command eu-stack
	names_of_all > "$scratch/names"
	frames_of_all > "$scratch/frames"
	[ "$runtime" != java ] || frames_of_java >> "$scratch/frames"
	jq -n --arg pid "$pid" --rawfile names "$scratch/names" --rawfile frames "$scratch/frames" '
		[$names | splits("\n") | select(. != "") | split("\t")] as $threads |
		[$frames | splits("\n") | select(. != "") | split("\t")] as $frames |
		# Outermost first, thread by thread.
		[$threads | to_entries[] | .key as $thread | .value[0] as $tid |
			[$frames[] | select(.[0] == $tid)] | reverse |
			to_entries[] | { thread: $thread, first: (.key == 0), frame: .value }] as $nodes |
		{ ctprof_profile: 1, meta: { mode: "off" }, classes: ["on-cpu", "runnable", "interruptible"],
			threads: [$threads[] | { tid: .[0] | tonumber, tgid: $pid | tonumber, name: .[1],
				process: first($threads[] | select(.[0] == $pid))[1] }],
			frames: [$nodes[].frame | { name: .[2], module: .[3] } +
				(if .[1] == "k" then { kind: "kernel" } else {} end) |
				with_entries(select(.value != ""))],
			nodes: { frame: [range($nodes | length)], parent: [$nodes | to_entries[] |
				if .value.first then null else .key - 1 end] },
			samples: ($threads | length | . as $count | { thread: [range($count)],
				node: [range($count) as $thread | [$nodes | to_entries[] |
					select(.value.thread == $thread).key] | last],
				class: [range($count) | 2], ns: [range($count) | 1000000000],
				count: [range($count) | 1] }) }' > "$profile"
}

# share_left TID...: how many thousandths of the time of these threads, or with "!" first of all
# others, the preset leaves.
share_left() {
	jq -n --slurpfile all "$profile" --slurpfile left "$left" --args '
		$ARGS.positional as $tids |
		def ns($profile): $profile | [.threads[].tid | tostring] as $names |
			[.samples // { thread: [] } | [.thread, .ns] | transpose[] | $names[.[0]] as $tid |
				select(($tids[0] == "!") != any($tids[]; . == $tid)) | .[1]] | add // 0;
		ns($all[0]) as $ns | if $ns == 0 then -1 else ns($left[0]) * 1000 / $ns | floor end' "$@"
}

# Threads that the program has named so.
named() {
	sed -n "s/^$1 \([0-9]*\).*/\1/p" "$said"
}

# hides WHAT TID...: of these threads at least 90 %. On a busy host waits that were there before their unwind tables
# have stacks that nothing can be said of.
hides() {
	between "thousandths that are left of $1" 0 "$(share_left "${@:2}")" 100
}

# What no preset may do: each thread that blocks keeps its time.
keeps_blocks() {
	local tid

	[[ " idle server " == *" $1 "* ]] || [ -n "$(named block)" ] || { echo "nothing blocks"; return 1; }
	for tid in $(named block); do
		between "thousandths that are left of '$(grep "^block $tid" "$said")'" 950 "$(share_left "$tid")" 1000
	done
}

with_program() {
	program=()
	"build_${1%%:*}" "${1#*:}"
	start "${program[@]}" "${@:2}"
}

apply_preset() {
	XDG_CONFIG_HOME=/nonexistent "$ctprof" flame -q "$profile" --preset "$preset" -o "$left"
}

# hides_idle PRESET RUNTIME WAY ARGUMENTS...: of a program of the runtime, stacks seen in this way.
hides_idle() {
	preset=$1
	runtime=${2%%:*}
	with_program "$2" "${@:4}"
	"$3"
	apply_preset
	keeps_blocks "$4"
	hides "those that do not block" ! $(named block)
}

preset_case() {
	local title="presets: $1 hides idle threads"

	[ "$3" = by_ctprof ] || title+=", as another program sees them"
	run_case "$title ($2 $4)" needs_bpf hides_idle "$@"
}

fifo=$scratch/fifo
mkfifo "$fifo"
# With a beat, waits end while they are watched; without, none does.
beat=20
still=1000000000

# cases_of PRESET
cases_of() {
	local kind

	profile=$scratch/profile.json
	left=$scratch/left.json
	case $1 in
	node)
		for kind in idle pipe lock sleep child worker; do
			preset_case node node by_ctprof $kind $beat "$fifo"
		done
		for kind in child worker; do
			preset_case node node whole $kind $still
		done
		;;
	cpp-pools)
		for kind in std glib omp tbb; do
			preset_case cpp-pools pools:$kind by_ctprof block $beat
			preset_case cpp-pools pools:$kind whole block $still
		done
		;;
	*)
		[ "$1" != java ] || preset_case java java by_ctprof server
		preset_case $1 $1 by_ctprof block $beat
		preset_case $1 $1 whole block $still
		;;
	esac
}

at_once cases_of java node tokio go python cpp-pools
