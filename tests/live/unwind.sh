# SPDX-License-Identifier: BSD-2-Clause
#
# Stacks of user space: those that programs must have (tests/programs/unwind/cases), without frame pointers;
# broken ones; and what perf makes of the same program. Part of tests/live/run.

. tests/live/profiles.sh
. tests/programs/unwind/cases.sh

make -s unwind-programs >&2 || exit 1

# folded FILTER: stacks of the profile in $flame, each once, of samples that FILTER selects.
folded() {
	ask "[samples | select($1).stack | select(length > 0) | join(\";\")] | unique[] | \"\(.) 1\"" \
		"${@:2}" > "$flame"
}

# Of the threads of that name, which programs take from their arguments (acts.c).
folded_of() {
	folded '.thread.name == $name' --arg name "$1"
	[ -s "$flame" ] || { echo "no stack of $1"; ask '[.threads[].name] | join(" ")'; return 1; }
}

# --- known stacks ---

known=$scratch/known.json

# All of them at once, and one profile for all their cases: the processes are in $known.pids, with what
# they are, and stacks in $known.stacks, with their process.
start_row() {
	local children

	# Its own case is skipped, and not those of all others.
	[ -x "$unwind_programs/$2" ] || return 0
	start_known "$2" "$3"
	read -ra children < "/proc/$pid/task/$pid/children" || :
	printf "$1\t%s\n" "$pid" "${children[@]}" >> "$known.pids"
}

start_sleeping_row() {
	[[ $3 == *:spin ]] || start_row "$@"
}

start_spinning_row() {
	[[ $3 != *:spin ]] || start_row "$@"
}

take_known() {
	profile=$known
	[ ! -s "$known.stacks" ] || return 0
	needs_profiles true
	# Dozens of them spin: others begin before, and the profiler goes first.
	each_chain start_sleeping_row
	each_chain start_spinning_row
	(
		renice -n -15 -p "$BASHPID" > /dev/null
		take profile --mode both -F 199 -d 3s -p "$(cut -f2 "$known.pids" | grep . | paste -sd,)"
	)
	ask '[samples | "\(.thread.tgid)\t\(.stack | join(";")) 1"] | unique[]' > "$known.stacks"
	cat "$warned"
}

# Names are those of the byte before, as for all callers; here that is another function's.
name_in_profiles() {
	sed 's/at_fault/before_fault/' <<< "$1"
}

shows_the_chain() {
	take_known
	awk -F'\t' -v name="$1" 'NR == FNR { if ($1 == name) pids[$2]; next } $1 in pids { print $2 }' \
		"$known.pids" "$known.stacks" > "$flame"
	[ -s "$flame" ] || { echo "no stack of it"; return 1; }
	has_chain "$flame" "$(name_in_profiles "$2")"
}

chain_case() {
	[ -x "$unwind_programs/$2" ] || return 0
	run_case "unwind: $1" alone shows_the_chain "$1" "$4"
}

# Those of a context end where it was made, and stubs by lld, which samples may hit, are not described.
few_walks_end_early() {
	take_known
	agrees "walks that ended early" '([.losses.walks | to_entries[] |
			select(.key | IN("complete", "pointer-end") | not).value] | sum) as $early |
		([samples | select(.thread.name | startswith("context")).count] | sum) as $contexts |
		if .losses.walks.complete < 1000 or $early > $contexts * 1.1 + .losses.walks.complete * 0.001
		then "\(.losses.walks), \($contexts)" else empty end'
}

# --- a library that comes while it is watched ---

late_libraries_are_walked() {
	start "$unwind_programs/crossing" open nap
	take offcpu -p "$pid" -- bash -c 'kill -USR1 "$1"
		until grep -q "^open" "$2"; do sleep 0.05; done; sleep 1' bash "$pid" "$said"
	folded_of open-nap
	has_chain "$flame" "main;*;open_1;open_2;loaded_1;loaded_2;by_nap"
	# But for those right after the library was mapped.
	agrees "waits with all callers" '[samples | of("open-nap") | select(.stack | index("by_nap"))] as $all |
		([$all[] | select(.stack | index("main")).count] | sum) as $whole |
		if $whole < 20 then "\($whole) of \([$all[].count] | sum)" else empty end'
}

# Until it is read what is left, what is known of that goes on to hold.
dropped_libraries_cost_no_callers() {
	start "$unwind_programs/closing" "$unwind_programs/libloaded.so"
	take offcpu -d 6s -p "$pid"
	agrees "naps after a library was dropped" '[samples | select(.stack | index("nap_after_close"))] as $all |
		([$all[] | select(.stack | index("close_1") and index("main")).count] | sum) as $whole |
		([samples | .count] | sum) as $sum |
		if $whole < 30 or .losses.walks.changed > 0 then "\($whole) of \($sum), \(.losses.walks)" else empty end'
}

# --- files that are not where they were ---

# Each is a new process, whose mappings only the kernel can read in time.
short_programs_are_walked() {
	local all cut

	take offcpu --user-threads-only -- bash -c 'for i in {1..300}; do sleep 0.004; done'
	all=$(ask '[samples | of("sleep") | .count] | add // 0')
	cut=$(ask '[samples | of("sleep") | select(.stack[0] == "[incomplete]") | .count] | add // 0')
	[ "$all" -ge 300 ] || { echo "$all waits of 300 programs"; return 1; }
	[ "$((cut * 5))" -le "$all" ] || { echo "$cut of $all stacks are incomplete"; return 1; }
	loses_nothing
}

replaced_files_are_walked() {
	cp "$unwind_programs/shapes" "$scratch/moved"
	start "$scratch/moved" five nap
	cp "$unwind_programs/shapes-O3" "$scratch/other"
	mv "$scratch/other" "$scratch/moved"
	first=$pid
	cp "$unwind_programs/shapes-no-pie" "$scratch/deleted"
	start "$scratch/deleted" deep-50 nap
	rm "$scratch/deleted"
	take offcpu -d 500ms -p "$first,$pid"
	equal "walks that ended early" "$(ask '.losses.walks | del(.complete) | with_entries(select(.value > 0)) |
		keys | join(" ")')" ""
	folded '.class == "interruptible" and .thread.name == "five-nap"'
	has_chain "$flame" "main;five_1;five_2;five_3;five_4;five_5;by_nap"
	folded '.class == "interruptible" and .thread.name == "deep-50-nap"'
	has_chain "$flame" "main;*;deep{50};by_nap"
}

# --- broken ones ---

# broken_stacks_end PROGRAM WAY ACT MOST: what was right is there, and what was written over is no frame
# that looks right.
broken_stacks_end() {
	start "$unwind_programs/$1" "$2" "$3"
	take profile --mode both -F 199 -d 500ms -p "$pid"
	folded_of "$2-$3"
	[ "$2" = lost ] || has_chain "$flame" "*;damaged;right_1;right_2;right_3;right_4;right_5;by_$3"
	equal "stacks of more than $4 frames" "$(ask '[samples.stack |
		(index("by_read", "by_nap", "by_spin", "lost") // empty)] | max // 0 | select(. > $most)' \
		--argjson most "$4")" ""
	equal "frames of main" "$(ask '[samples | select(.stack | index("main") or index("_start"))] | length')" 0
}

# --- code that was made ---

bare_code_is_no_lie() {
	start "$unwind_programs/jit" bare nap
	take offcpu -d 400ms -p "$pid"
	folded_of bare-nap
	has_chain "$flame" "*;inner_1;inner_2;by_nap"
	equal "stacks that leave out who called" "$(ask '[samples | select(.stack | index("main")) |
		select(.stack | index("jit_2") | not)] | length')" 0
}

trampolines_are_walked() {
	start "$unwind_programs/jit" trampoline nap
	take offcpu -d 400ms -p "$pid"
	folded_of trampoline-nap
	has_chain "$flame" "_start;*;main;jit_1;jit_2;*;inner_1;inner_2;by_nap"
}

# --- the options ---

frame_pointers_alone() {
	start "$unwind_programs/shapes" five nap
	take offcpu --unwind fp -d 400ms -p "$pid"
	equal "stacks with all five" "$(ask '[samples | select(.stack | index("five_1") and index("five_5"))] | length')" 0
	start "$unwind_programs/shapes-pointer" five nap
	take offcpu --unwind fp -d 400ms -p "$pid"
	folded_of five-nap
	# The C library has none, and hides who called it.
	has_chain "$flame" "main;five_1;five_2;five_3;five_4;five_5;*"
}

tables_alone() {
	start "$unwind_programs/jit" pointer nap
	take offcpu --unwind dwarf -d 400ms -p "$pid"
	folded_of pointer-nap
	has_chain "$flame" "*;inner_1;inner_2;by_nap"
	equal "stacks beyond what was made" "$(ask '[samples | select(.stack | index("jit_2"))] | length')" 0
	start "$unwind_programs/shapes" five nap
	take offcpu --unwind dwarf -d 400ms -p "$pid"
	folded_of five-nap
	has_chain "$flame" "main;five_1;five_2;five_3;five_4;five_5;by_nap"
}

deep_stacks_are_cut() {
	start "$unwind_programs/shapes" deep-500 nap
	take offcpu --stack-depth 127 -U -d 400ms -p "$pid"
	folded_of deep-500-nap
	has_chain "$flame" "*;deep{100};by_nap"
	equal "frames of main" "$(ask '[samples | select(.stack | index("main"))] | length')" 0
	[ "$(ask '.losses.walks.truncated // 0')" -gt 5 ]
}

# --- perf, which copies the stack and unwinds it afterwards ---

# As perf names them: no version, no directory; what has no name is "?".
perf_stacks() {
	perf script -i "$scratch/perf.data" -F ip,sym 2> "$scratch/perf.said" | awk '
		NF == 0 { flush(); next }
		{ name = $2; for (i = 3; i <= NF; i++) name = name " " $i; sub(/@.*/, "", name)
			if (name == "[unknown]") name = "?"
			stack[++depth] = name }
		function flush(   i, line) {
			for (i = depth; i > 0; i--) line = line stack[i] ";"
			if (depth) print line
			depth = 0
		}
		END { flush() }'
}

same_words() {
	sed -E -e 's/^.*;main;/main;/' -e 's/;__restore_rt;/;?;/'
}

# same_as_perf PROGRAM ARGUMENTS NAME: the stack that both see most often of the innermost function NAME.
same_as_perf() {
	local ours theirs

	command -v perf > /dev/null || skip "no perf"
	start_known "$1" "$2"
	perf record -q -B -e cpu-clock:u -F 199 --call-graph dwarf,32768 -p "$pid" -o "$scratch/perf.data" \
		-- sleep 0.7 > "$scratch/perf.said" 2>&1 || skip "$(tail -n 1 "$scratch/perf.said")"
	theirs=$(perf_stacks | grep ";$3;\$" | sort | uniq -c | sort -rn | awk 'NR == 1 { $1 = ""; print substr($0, 2) }')
	[ -n "$theirs" ] || skip "perf has no stack with $3"
	take profile -F 199 -U -d 700ms -p "$pid"
	ours=$(ask '[samples | select(.stack[-1] == $name)] | group_by(.stack) |
		max_by([.[].count] | sum)[0].stack | map(sub("@.*"; "") + ";") | join("")' --arg name "$3")
	between "frames more than perf's" -2 "$(($(grep -o ";" <<< "$ours" | wc -l) -
		$(grep -o ";" <<< "$theirs" | wc -l)))" 2
	# The outer end and what has no symbol are named in other words.
	equal "names" "$(same_words <<< "$ours")" "$(same_words <<< "$theirs")"
}

# What has ended when names are looked up, and has no file that a path leads to.

ends_nameless() {
	take profile -F 499 -- "$@"
	folded true
	has_chain "$flame" "main;burn_outer;burn_inner"
	equal "stacks of the program without names" "$(grep -cE '\[(chain|memfd:copy|copy|gone|inside)[^;]*\+0x' "$flame" || :)" 0
}

in_memory() {
	ends_nameless "$programs/memfd" "$programs/chain" burn 400
}

deleted() {
	cp "$programs/chain" "$scratch/gone"
	# shellcheck disable=SC2016
	ends_nameless bash -c '"$0" burn 400; rm "$0"' "$scratch/gone"
}

in_a_mount_namespace() {
	unshare -m true || skip "unshare -m is refused"
	# shellcheck disable=SC2016
	ends_nameless unshare -m bash -c 'mount -t tmpfs none /mnt && cp "$0" /mnt/inside && exec /mnt/inside burn 400' \
		"$programs/chain"
}

# It is in no file, and another one on another host.
raw_files_name_the_vdso() {
	"$ctprof" profile -q -F 999 -o "$scratch/vdso.raw" -- "$programs/chain" ask 10000
	"$ctprof" flame -q "$scratch/vdso.raw" --format folded > "$flame"
	has_chain "$flame" "main;ask_for_time;clock_gettime;clock_gettime"
	equal "stacks with addresses of the vDSO" "$(grep -c '\[vdso+' "$flame" || :)" 0
}

each_chain chain_case
run_case "unwind: a program that was in memory alone" needs_profiles in_memory
run_case "unwind: a program that is deleted at its end" needs_profiles deleted
run_case "unwind: a program of a mount namespace that is gone" needs_profiles in_a_mount_namespace
run_case "unwind: a raw profile has names of the vDSO" needs_profiles raw_files_name_the_vdso
run_case "unwind: walks go to the outer end" alone few_walks_end_early
run_case "unwind: a library that is loaded while it is watched" needs_profiles late_libraries_are_walked
run_case "unwind: programs that live for milliseconds" needs_profiles short_programs_are_walked
run_case "unwind: a library that is dropped while it is watched" needs_profiles dropped_libraries_cost_no_callers
run_case "unwind: a program that was replaced, and one that is gone" needs_profiles replaced_files_are_walked
for way in garbage kernel zero; do
	run_case "unwind: broken $way" needs_profiles broken_stacks_end broken "$way" nap 8
	run_case "unwind: broken $way, with frame pointers" needs_profiles broken_stacks_end broken-pointer "$way" spin 8
done
for way in circle two text; do
	run_case "unwind: broken $way" needs_profiles broken_stacks_end broken "$way" nap 40
	run_case "unwind: broken $way, with frame pointers" needs_profiles broken_stacks_end broken-pointer "$way" spin 40
done
run_case "unwind: a broken stack pointer" needs_profiles broken_stacks_end broken lost spin 1
run_case "unwind: generated code without frame pointers" needs_profiles bare_code_is_no_lie
run_case "unwind: generated code that removes its frame behind its call" needs_profiles trampolines_are_walked
run_case "unwind: --unwind fp" needs_profiles frame_pointers_alone
run_case "unwind: --unwind dwarf" needs_profiles tables_alone
run_case "unwind: --stack-depth" needs_profiles deep_stacks_are_cut
run_case "unwind: five levels, as perf sees them" needs_profiles same_as_perf shapes five:spin by_spin
run_case "unwind: 50 levels, as perf sees them" needs_profiles same_as_perf shapes-O3 deep-50:spin by_spin
run_case "unwind: a part put elsewhere, as perf sees it" needs_profiles same_as_perf shapes cold:spin by_spin
run_case "unwind: a signal, as perf sees it" needs_profiles same_as_perf shapes signal:spin by_spin
run_case "unwind: a library, as perf sees it" needs_profiles same_as_perf crossing library:spin by_spin
run_case "unwind: C++, as perf sees it" needs_profiles same_as_perf throws sort:spin by_spin
