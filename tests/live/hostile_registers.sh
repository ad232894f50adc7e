# SPDX-License-Identifier: BSD-2-Clause
#
# Profiles of a stranger's threads whose registers lead walks to addresses that are none
# (tests/programs/hostile_registers.c), beside a program whose stacks are known. Part of tests/live/run.

. tests/live/profiles.sh
. tests/programs/unwind/cases.sh

make -s unwind-programs >&2 || exit 1

start_strangers() {
	start "$programs/hostile_registers" || skip "hostile_registers is for another machine"
	strangers=$pid
	equal "its user" "$(stat -c %u "/proc/$strangers")" 65534
	equal "its threads" "$(ls "/proc/$strangers/task" | wc -l)" "$((ready + 1))"
	start "$unwind_programs/shapes-pointer" five nap
	honest=$pid
}

# shows_both CHAIN: threads of the strangers, and the stack of the honest program.
shows_both() {
	[ "$(ask '[.threads[] | select(.name | test("^(bp|bx|sp|far|behind|deref|saved)-"))] | length')" -gt 200 ] ||
		{ echo "the profile has too few of the strangers"; return 1; }
	ask '[samples | select(.thread.name == "five-nap").stack | select(length > 0) | join(";")] | unique[] |
		"\(.) 1"' > "$flame"
	[ -s "$flame" ] || { echo "no stack of five-nap"; return 1; }
	has_chain "$flame" "$1"
}

profiles_survive() {
	local how=$1 mode=$2 chain="main;five_1;five_2;five_3;five_4;five_5;by_nap"

	# The C library has no frame pointers, and hides who called it.
	[ "$how" != fp ] || chain="main;five_1;five_2;five_3;five_4;five_5;*"
	start_strangers
	take profile --mode "$mode" --unwind "$how" -F 199 -d 700ms -p "$strangers,$honest"
	shows_both "$chain"
}

offcpu_survives() {
	start_strangers
	take offcpu -d 700ms "$@"
	shows_both "main;five_1;five_2;five_3;five_4;five_5;by_nap"
}

for how in auto fp dwarf; do
	run_case "hostile registers: --unwind $how" needs_profiles alone profiles_survive "$how" both
done
run_case "hostile registers: offcpu of the whole host" needs_profiles alone offcpu_survives
run_case "hostile registers: stacks taken late" needs_profiles alone offcpu_survives --off-cpu-period 50ms
