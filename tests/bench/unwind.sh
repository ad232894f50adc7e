# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: BSD-2-Clause
#
# Walks of user stacks: ours over tables, beside the kernel's over frame pointers, of the same
# functions built without and with these; tables beside the sections they are made of; and until a
# host is ready.

# start_deep PROGRAM: its processes are in $pids.
start_deep() {
	start_program "$1" 19
	deep=$started
	pids=$(< "$work/ready")
}

measure_walks() {
	local program pids deep

	count_programs
	for program in deep deep_pointers; do
		start_deep $program
		# shellcheck disable=SC2086
		measure "$programs/walk_cost" $program "$rounds" ${pids//,/ }
		# shellcheck disable=SC2086
		kill ${pids//,/ } 2> /dev/null
		wait $deep 2> /dev/null
	done
	give_back_stats
}

# Large programs of several compilers, which are often installed.
large_files() {
	local libraries=/usr/lib/*-linux-gnu file

	for file in /usr/bin/node /usr/lib/chromium/chromium $libraries/libclang-cpp.so.* $libraries/libLLVM-*.so.1 \
		$libraries/libc.so.6 $libraries/libstdc++.so.6; do
		[ ! -f "$file" ] || readlink -f "$file"
	done | sort -u
}

measure_tables() {
	# shellcheck disable=SC2046
	"$programs/unwind_tables" "$rounds" $(large_files) > "$work/tables" 2> "$work/errors" || {
		could_not "unwind tables: $(tail -n 1 "$work/errors")"
		return
	}
	awk '{ sub(/.*\//, "", $1); print "tables", $1, $3; if ($1 == "all") print "tables scan", $5 }' "$work/tables" >> "$samples"
}

# The time until a command starts, when the tables of all mapped files are ready. The cache on disk is empty.
begin_cold() {
	local begun

	rm -rf "$work/cold"
	begun=$(date +%s%N)
	XDG_CACHE_HOME=$work/cold $ctprof offcpu -q -o "$work/begin.raw" -- date +%s%N > "$work/first" || {
		could_not "ctprof offcpu -- date"
		return
	}
	sample ready "$1" "$(awk -v from="$begun" -v to="$(< "$work/first")" 'BEGIN { print (to - from) / 1e9 }')"
}

ready_files=200

# As many files as a host with many services maps: libraries of this host, ten in each process.
measure_ready() {
	local files mappers=() i round

	mapfile -t files < <(find /usr/lib /lib -xdev -type f -name '*.so.*' -size +20k 2> /dev/null | sort | head -n $ready_files)
	((${#files[@]} == ready_files)) || {
		echo "only ${#files[@]} libraries to map; the row 'ready' is not measured"
		return
	}
	while next_round; do
		begin_cold none
		for ((i = 0; i < ready_files; i += 10)); do
			"$programs/mapped" "${files[@]:i:10}" > "$work/mapped" &
			mappers+=($!)
		done
		sleep 0.3
		begin_cold more
		kill "${mappers[@]}"
		wait "${mappers[@]}" 2> /dev/null
		mappers=()
	done
}
