# SPDX-License-Identifier: BSD-2-Clause
#
# A user without privileges: what is denied is unmeasured, counted and named with what grants it; all
# else is what root sees.
#
# kernels: 6.1 7.2

# look_around NAME [PRIVILEGES]: a snapshot of the actors by somebody, its summary too; with
# capabilities such as +sys_ptrace,+net_admin.
look_around() {
	local pids=${tid[*]}

	settle $pids
	"${as_somebody[@]}" ${2:+"--inh-caps=$2" "--ambient-caps=$2"} ctprof capture -v -p "${pids// /,}" -o - \
		> "$scratch/$1.ctprof.zst" 2> "$scratch/$1.summary"
	facts_of "$scratch/$1.ctprof.zst" > "$scratch/$1.facts"
	cat "$scratch/$1.summary"
}

denials_of() {
	zstd -dcq "$scratch/$1.ctprof.zst" | jq -c .capture.denied
}

# same_facts SNAPSHOT ACTOR BUT: all that root's snapshot has, but for these.
same_facts() {
	diff <(grep "^${tid[$2]} " "$scratch/after.facts" | grep -vE "^[0-9]+ ($3)" | but_waits) \
		<(grep "^${tid[$2]} " "$scratch/$1.facts" | but_waits)
}

io='rchar|wchar|syscr|syscw|read_bytes|write_bytes|cancelled_write_bytes'
smaps=smaps_rollup_kib
taskstats='[a-z]+_delay_|hiwater_'

start_both() {
	actor theirs
	actor mine "${as_somebody[@]}"
	tell theirs sleep 3 1000
	tell mine sleep 3 1000
	snap after
}

denials_are_named() {
	start_both
	look_around denied
	equal "what was denied" "$(denials_of denied)" '{"io":1,"smaps_rollup":1,"exe":1,"taskstats":2}'
	has "summary" "$(< "$scratch/denied.summary")" "io denied 1 time (needs CAP_SYS_PTRACE over the process and CAP_DAC_READ_SEARCH)"
	has "summary" "$(< "$scratch/denied.summary")" \
		"smaps_rollup denied 1 time (needs CAP_SYS_PTRACE over the process)"
	has "summary" "$(< "$scratch/denied.summary")" "exe denied 1 time (needs CAP_SYS_PTRACE over the process)"
	has "summary" "$(< "$scratch/denied.summary")" "taskstats denied 2 times (needs CAP_NET_ADMIN)"
	has "show" "$(ctprof show "$scratch/denied.ctprof.zst" --unmeasured --sections primary,taskstats-delay)" \
		"(denied: needs CAP_SYS_PTRACE"
	has "show" "$(ctprof show "$scratch/denied.ctprof.zst" --unmeasured --sections primary,taskstats-delay)" \
		"(denied: needs CAP_NET_ADMIN)"
	same_facts denied theirs "$io|$smaps|$taskstats"
	same_facts denied mine "$taskstats"
}

privileges_grant_what_they_should() {
	start_both
	look_around traced +sys_ptrace
	equal "what was denied" "$(denials_of traced)" '{"io":1,"taskstats":2}'
	same_facts traced theirs "$io|$taskstats"
	look_around net +net_admin
	equal "what was denied" "$(denials_of net)" '{"io":1,"smaps_rollup":1,"exe":1}'
	same_facts net theirs "$io|$smaps"
	look_around all +sys_ptrace,+dac_read_search,+net_admin
	equal "what was denied" "$(denials_of all)" '{}'
	same_facts all theirs nothing
	same_facts all mine nothing
}

run_case "denied sources are named, all else is as for root" denials_are_named
run_case "the capabilities that messages name are sufficient" privileges_grant_what_they_should
