# SPDX-License-Identifier: BSD-2-Clause
#
# libkstats: nothing is lost, whoever records and whatever is done to it meanwhile; in each form in
# which programs have it, and with and without restartable sequences. Part of tests/live/run.

recorder=$programs/kstats_library
reader=$programs/kstats_reader

# record FORM WAY MODE WORDS...
record() {
	local form=$1 way=$2

	shift 2
	[ "$way" = rseq ] || export GLIBC_TUNABLES=glibc.pthread.rseq=0
	timeout 300 "$recorder-$form" "$@"
}

library_case() {
	local form=$1 way=$2 what="libkstats ($1, $2)"

	run_case "$what: 16 unpinned threads count 80,000,000 values" counts_all "$form" "$way"
	run_case "$what: signal handlers record into the metric that they interrupt" record "$form" "$way" signals 4 30000000
	run_case "$what: processes that forked count into the same" record "$form" "$way" fork 8 2000000
	run_case "$what: resets, stops and starts by other processes lose no value and restore none" slow \
		record "$form" "$way" races 4 9
}

counts_all() {
	has "what it says" "$(record "$1" "$2" count 16 5000000)" "80000000 of 80000000"
}

# --- as others see it ---

# serve FORM NAME BITS
serve() {
	start "$recorder-$1" serve "$2" "$3"
}

# The agreed values, in all the ways of recording them.
reads_a_million() {
	local total

	serve shared values 3
	total=$("$reader" read "$pid:values" | awk '{ count += $3 } END { print count }')
	equal "values" "$total" 1000000
	"$reader" read "$pid:values" > "$scratch/shared"
	serve static values 3
	"$reader" read "$pid:values" | sum_cpus > "$scratch/static"
	sum_cpus < "$scratch/shared" | diff - "$scratch/static"
	# Those that the other recorders are given.
	make -s build/tests/kernels/programs/kstats_reference >&2
	build/tests/kernels/programs/kstats_reference 3 | diff - "$scratch/static"
	GLIBC_TUNABLES=glibc.pthread.rseq=0 serve shared values 3
	"$reader" read "$pid:values" | sum_cpus | diff - "$scratch/static"
}

# "SLOT COUNT SUM" of all CPUs.
sum_cpus() {
	awk '{ count[$2] += $3; sum[$2] += $4 }
		END { for (slot in count) printf "%d %d %.0f\n", slot, count[slot], sum[slot] }' | sort -n
}

is_listed() {
	local first second

	serve shared one 0
	first=$pid
	serve static two 5
	second=$pid
	"$reader" list > "$scratch/list"
	grep -qx "$first:one active 1000000" "$scratch/list"
	grep -qx "$second:two active 1000000" "$scratch/list"
	"$reader" stop "$first:one"
	"$reader" reset "$second:two"
	"$reader" list > "$scratch/list"
	grep -qx "$first:one stopped 1000000" "$scratch/list"
	grep -qx "$second:two active 0" "$scratch/list"
	kill -9 "$first"
	while [ -d "/proc/$first/fd" ] && [ -n "$(ls "/proc/$first/fd" 2> /dev/null)" ]; do
		sleep 0.01
	done
	fails 1 "$reader" read "$first:one"
	has_not "the list" "$("$reader" list)" ":one"
}

# The same user may, and others may not.
is_private() {
	is_root
	cp "$recorder-static" "$reader" "$scratch"
	chmod 755 "$scratch"/kstats_*
	start "${as_nobody[@]}" "$scratch/kstats_library-static" serve theirs 3
	equal "values for its user" "$("${as_nobody[@]}" "$scratch/kstats_reader" read "$pid:theirs" |
		awk '{ count += $3 } END { print count }')" 1000000
	"${as_nobody[@]}" "$scratch/kstats_reader" reset "$pid:theirs"
	equal "values for root after a reset" "$("$reader" read "$pid:theirs")" ""
	"$reader" stop "$pid:theirs"
	fails 1 setpriv --reuid=65533 --regid=65533 --clear-groups "$scratch/kstats_reader" read "$pid:theirs"
	has "the error" "$output" "only root and the process's user"
	equal "their list" "$(setpriv --reuid=65533 --regid=65533 --clear-groups "$scratch/kstats_reader" list)" ""
}

# In other namespaces, with another root and no /proc, where the file could be found by no path.
is_seen_in_containers() {
	local root=$scratch/root

	is_root
	mkdir -p "$root"
	gcc -O2 -static -Isrc -Iinclude -o "$root/serve" tests/programs/kstats_served.c build/libkstats.a ||
		skip "no static C library"
	unshare --pid --mount --ipc --net --uts true 2> /dev/null || skip "no namespaces here"
	start unshare --pid --fork --mount --ipc --net --uts --kill-child chroot "$root" /serve
	until "$reader" list | grep -q ':contained active 1000$'; do
		kill -0 "$pid"
		sleep 0.05
	done
	inner=$("$reader" list | sed -n 's/:contained .*//p')
	"$reader" reset "$inner:contained"
	has "the list" "$("$reader" list)" "$inner:contained active 0"
}

# --- loaded late, and dropped ---

is_loaded_late() {
	start "$programs/kstats_dlopen" "$1"
	equal "values" "$("$reader" read "$pid:loaded" | awk '{ count += $3 } END { print count }')" "$ready"
}

is_loaded_in_a_plugin() {
	gcc -shared -o "$scratch/plugin.so" -Wl,--whole-archive build/libkstats.a -Wl,--no-whole-archive
	is_loaded_late "$scratch/plugin.so"
}

under_valgrind() {
	command -v valgrind > /dev/null || skip "no valgrind"
	valgrind -q --error-exitcode=9 --leak-check=full --show-leak-kinds=all "$recorder-shared" count 4 50000
	valgrind -q --error-exitcode=9 "$recorder-static" signals 2 2000000
}

needs_no_executable_memory() {
	is_root
	serve static sealed 3
	has_not "its mappings" "$(grep kstats:sealed "/proc/$pid/maps" | cut -d' ' -f2)" x
}

# --- programs that mean harm ---

# hostile WORDS...: as another user.
hostile() {
	start "${as_nobody[@]}" "$scratch/kstats_hostile" "$@"
}

# Whatever strangers do, the metrics of others are listed and saved, and it is told what was left out.
# They are made by a kernel's own number of CPUs, which is the size of its masks.
strangers_have_limits() {
	local list saved peak mine large many

	is_root
	cp "$programs/kstats_hostile" "$scratch"
	chmod 755 "$scratch" "$scratch/kstats_hostile"
	hostile large 5 8192
	large=$pid
	hostile many 1100
	many=$pid
	hostile last
	hostile lease
	serve static mine 3
	mine=$pid
	list=$(timeout 200 "$ctprof" kstats list --via user 2> "$scratch/notes")
	has "the list" "$list" "$mine:mine "
	equal "metrics of one process" "$(grep -c "^ *$many:many" <<< "$list")" 1024
	has "the notes" "$(< "$scratch/notes")" "76 metrics of process $many (uid 65534) omitted: limit of 1024"
	has "the notes" "$(< "$scratch/notes")" ":lease (uid 65534) omitted: its program holds a lease"
	grep -q "5 metrics of process $large (uid 65534) omitted: tables for more CPUs" "$scratch/notes" ||
		equal "metrics of 8192 CPUs" "$(grep -c "^ *$large:large" <<< "$list")" 5
	peak=$(timeout 200 "$programs/kstats_hostile" measure "$ctprof" kstats save --via user -o "$scratch/all.kstats" 2> "$scratch/notes")
	between "peak memory of save (KiB)" 1 "${peak#peak }" 500000
	has "the notes" "$(< "$scratch/notes")" "76 metrics of process $many (uid 65534) omitted"
	saved=$("$ctprof" kstats show --format json "$scratch/all.kstats" | jq -r '.metrics[] | "\(.instance):\(.name)"')
	equal "what was saved of it" "$(grep -x "$mine:mine" <<< "$saved")" "$mine:mine"
	# It would make the file one that is refused.
	has_not "what was saved" "$saved" ":last"
}

# A reader of a metric that is reset without end gives up soon, and names it. On a busy host the program
# may be kept from running while it is read.
resets_without_end() {
	local turn

	is_root
	cp "$programs/kstats_hostile" "$scratch"
	chmod 755 "$scratch" "$scratch/kstats_hostile"
	hostile spin "$(getconf _NPROCESSORS_CONF)"
	for ((turn = 0; turn < 300; turn++)); do
		output=$("$ctprof" kstats list --via user 2>&1)
		! [[ $output == *"metric $pid:spin "* ]] || break
	done
	has "the list's notes" "$output" "metric $pid:spin (uid 65534) omitted: being reset continuously"
	for ((turn = 0; turn < 300; turn++)); do
		output=$("$ctprof" kstats show "$pid:spin" 2>&1) || break
	done
	has "the error" "$output" "metric $pid:spin: it is being reset continuously"
}

for form in shared static; do
	for way in rseq atomic; do
		library_case $form $way
	done
done
run_case "libkstats: a million values are the same in all its forms" reads_a_million
run_case "libkstats: metrics of all programs are listed, stopped and reset" is_listed
run_case "libkstats: a program's metrics are its user's" is_private
run_case "libkstats: programs in containers" is_seen_in_containers
run_case "libkstats: loaded and dropped while threads go on" is_loaded_late "$PWD/build/libkstats.so"
run_case "libkstats: in a plugin that is loaded and dropped" is_loaded_in_a_plugin
run_case "libkstats: valgrind finds no error" slow under_valgrind
run_case "libkstats: its memory cannot be executed" needs_no_executable_memory
run_case "libkstats: strangers have limits, and others are served" strangers_have_limits
run_case "libkstats: a metric that is reset without end is refused by its name" resets_without_end
