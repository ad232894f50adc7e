# SPDX-License-Identifier: BSD-2-Clause
#
# What runs for hours beside a host on which processes come and go: its memory follows those that are there, and not
# those that were. In equal phases, of SOAK_PROCESSES processes each (1000): after the last there is not more than
# after the second, but for SOAK_SLACK KiB (12288). For 10^6 processes a command:
#
#	SOAK_PROCESSES=200000 CASE_SECONDS=0 tests/live/run soak
# Part of tests/live/run.
#
# slow

SOAK_PROCESSES=${SOAK_PROCESSES:-1000}
SOAK_SLACK=${SOAK_SLACK:-12288}
SOAK_PHASES=5
slack=$SOAK_SLACK
within=()

. tests/live/profiles.sh

# kib_of PID: its own memory and that of its children, and that of its BPF maps that grow.
kib_of() {
	local own maps children

	mapfile -t children < <(pgrep -P "$1" || true)
	own=$(cat "/proc/$1/smaps_rollup" "${children[@]/#*/\/proc\/&\/smaps_rollup}" |
		awk '$1 == "Anonymous:" { sum += $2 } END { print sum }')
	maps=$({ cat "/proc/$1"/fdinfo/* 2> /dev/null || true; } | awk '$1 == "memlock:" { kib += $2 / 1024 } END { printf "%d", kib }')
	echo $((own + maps))
}

# Between two readings, which need some for a moment.
least_kib_of() {
	local least=1000000000 kib

	for _ in {1..12}; do
		sleep 0.2
		kib=$(kib_of "$1")
		((kib > least)) || least=$kib
	done
	echo "$least"
}

# ask LINE...: of the crowd.
ask() {
	echo "$*" >&"${crowd[1]}"
	read -r answer <&"${crowd[0]}"
	equal "the crowd" "$answer" "done"
}

begin_crowd() {
	rm -rf "$scratch/soak_crowd"
	mkdir "$scratch/soak_crowd"
	coproc crowd { exec "$programs/crowd" "$scratch/soak_crowd"; }
	at_end "kill $crowd_PID; wait $crowd_PID"
	read -r answer <&"${crowd[0]}"
	equal "the crowd" "$answer" ready
}

# begin_long ARGUMENTS...: ctprof with them in the background, in $long.
begin_long() {
	"${within[@]}" "$ctprof" "$@" > "$scratch/out" 2> "$scratch/err" < /dev/null &
	long=$!
	at_end "kill -9 $long; wait $long"
}

run_phase() {
	ask processes "$SOAK_PROCESSES"
}

# stays_flat ARGUMENTS...: of a command that ends by SIGTERM.
stays_flat() {
	local kib=() phase

	begin_crowd
	begin_long "$@"
	for ((phase = 0; phase < SOAK_PHASES; phase++)); do
		run_phase
		kib+=("$(least_kib_of "$long")")
	done
	kill -TERM "$long"
	wait "$long" || { cat "$scratch/err"; return 1; }
	echo "KiB after each phase of $SOAK_PROCESSES processes: ${kib[*]}"
	[ -z "${SOAK_REPORT:-}" ] || echo "$SOAK_PROCESSES: ${kib[*]}: $*" >> "$SOAK_REPORT"
	between "growth from the second phase to the last" -1000000000 $((kib[SOAK_PHASES - 1] - kib[1])) "$slack"
}

profile_stays_flat() {
	# Some at a time, as many as an interval has when nothing else is to be done: a host that is busy with other
	# things has longer ones.
	run_phase() {
		local left=$SOAK_PROCESSES before files

		for ((; left > 0; left -= 250)); do
			files=("$scratch"/soak.*.raw)
			before=${#files[@]}
			ask processes 250
			until files=("$scratch"/soak.*.raw) && ((${#files[@]} > before)); do
				sleep 0.05
				kill -0 "$long"
			done
		done
	}
	rm -f "$scratch"/soak.*.raw
	touch "$scratch/soak.000.raw"
	stays_flat "$@" -q --interval 500ms -o "$scratch/soak.raw"
	rm "$scratch/soak.000.raw"
	zstd -dcq "$scratch"/soak.*.raw | jq -s '[.[].losses | (.lost // 0) + (.threads_lost // 0)] | add' > "$scratch/lost"
	rm -f "$scratch"/soak.*.raw
	equal "what was lost" "$(< "$scratch/lost")" 0
}

recording_stays_flat() {
	rm -rf "$scratch/soak"
	stays_flat top --batch -i 500ms --record "$scratch/soak" --keep 4MiB
}

kstats_stays_flat() {
	within=("${inside[@]}")
	"${within[@]}" "$ctprof" kstats trace opened start syscall:openat
	stays_flat kstats show opened --interval 500ms
}

# The dictionary of the process that answers is made anew from 8 MiB on when it has doubled, and binaries stay open.
serve_stays_flat() {
	local slack=$((SOAK_SLACK + 32 * 1024))

	stays_flat serve -q --listen "unix:$scratch/soak.socket" --interval 500ms --keep 1s
}

# gives_back ARGUMENTS...: what 10,000 threads needed, once they have ended.
gives_back() {
	local before after

	begin_crowd
	begin_long "$@"
	sleep 2
	before=$(kib_of "$long")
	ask threads 10000
	sleep 2
	ask end
	for _ in {1..100}; do
		sleep 0.2
		after=$(kib_of "$long")
		((after > before + 6144)) || break
	done
	between "growth, in KiB" -1000000000 $((after - before)) 6144
	kill -TERM "$long"
	wait "$long"
}

run_case "top: memory follows the threads that are there" needs_bpf alone gives_back top --batch -i 300ms
run_case "top --engine counters: memory follows the threads that are there" needs_bpf alone \
	gives_back top --batch -i 300ms --engine counters

# flat_case WORD: the case of that command.
flat_case() {
	case $1 in
	top) run_case "top: memory stays the same while processes come and go" needs_bpf alone \
		stays_flat top --batch -i 500ms ;;
	record) run_case "top --record: memory stays the same while processes come and go" needs_bpf alone recording_stays_flat ;;
	kstats) run_case "kstats show --interval: memory stays the same while processes come and go" needs_bpf alone \
		has_own_place kstats_stays_flat ;;
	serve) run_case "serve: memory stays the same while processes come and go" needs_profiles alone serve_stays_flat ;;
	*) run_case "$1 --interval: memory stays the same while processes come and go" needs_profiles alone \
		profile_stays_flat "$1" ;;
	esac
}

# Alone but for each other: of processes that come and go there are enough from the first phase on. The longest first.
at_once flat_case offcpu profile serve top record kstats
