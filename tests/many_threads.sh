# SPDX-License-Identifier: BSD-2-Clause
#
# More threads than 16 bits can count (sysinfo(2) has no more): each has a record of its own, in all that is
# measured. Who sources this sets `ctprof` and `sleepers`, two programs.

many=70000

# least_of WORD...: the least of those that are numbers.
least_of() {
	printf '%s\n' "$@" | grep -x '[0-9]*' | sort -n | head -n 1
}

# The limits of the host, and of cgroups of either version.
room_for_many() {
	local there limit

	there=$(awk '{ sub(".*/", "", $4); print $4 }' /proc/loadavg)
	limit=$(least_of "$(< /proc/sys/kernel/pid_max)" "$(< /proc/sys/kernel/threads-max)" \
		"$(grep -h . $(sed -nE 's|^.*:(/.*)|/sys/fs/cgroup/pids\1/pids.max /sys/fs/cgroup\1/pids.max|p' \
			/proc/self/cgroup) 2> /dev/null)")
	((limit > there + many + 1000)) || skip "this host has room for $limit threads"
	((limit = $(ulimit -u | sed 's/unlimited/4194304/')))
	((limit > there + many)) || skip "a user may have $limit threads"
	# Some 40 KiB each, and what is measured of it.
	(($(awk '$1 == "MemAvailable:" { print $2 }' /proc/meminfo) > 3500000)) || skip "there is too little memory"
}

# crowd_of_many: $crowd sleeps in so many threads.
crowd_of_many() {
	local status

	room_for_many
	"$sleepers" $many > "$scratch/many.ready" 2>&1 &
	crowd=$!
	at_end "kill $crowd; wait $crowd"
	until grep -q . "$scratch/many.ready"; do sleep 0.1; done
	grep -qx ready "$scratch/many.ready" || skip "$(< "$scratch/many.ready")"
}

# nothing_is_omitted FILE: what was said in it has no word of it.
nothing_is_omitted() {
	! grep -E 'omitted|left out|no room|table full' "$1" || return 1
}

capture_has_all() {
	"$ctprof" capture -o "$scratch/many.zst" "$@" 2> "$scratch/many.said"
	nothing_is_omitted "$scratch/many.said"
	equal "threads of a capture" "$("$ctprof" show "$scratch/many.zst" --group-by pcomm --match sleepers \
		--sections primary --metrics thread_count --format csv | tail -n 1)" \
		"primary,sleepers,thread_count,count,$many,$many,$many,"
	rm -f "$scratch/many.zst"
}

# All of them have been idle for all of the window.
windows_have_all() {
	"$ctprof" top --batch -n 1 -i 1s -e "$1" -b process --format json > "$scratch/many.top" 2> "$scratch/many.said"
	nothing_is_omitted "$scratch/many.said"
	equal "threads of a window" "$(jq "select(.tgid == $crowd) | .threads" "$scratch/many.top")" $many
}

# Who sleeps from before the start until after the end has a record by the first look at all threads.
profile_has_all() {
	"$ctprof" offcpu -d 2 --no-stacks -p "$crowd" --format json -o "$scratch/many.json" 2> "$scratch/many.said"
	nothing_is_omitted "$scratch/many.said"
	equal "threads of a profile that slept" \
		"$(jq '[.threads[] | select(.ns.interruptible >= 1000000000)] | length' "$scratch/many.json")" $many
	equal "threads that had no room" "$(jq '.losses.threads_lost // 0' "$scratch/many.json")" 0
	rm -f "$scratch/many.json"
}

many_threads_have_records() {
	crowd_of_many
	capture_has_all --source bpf
	windows_have_all exact
	profile_has_all
}
