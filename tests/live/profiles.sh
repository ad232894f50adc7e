# SPDX-License-Identifier: BSD-2-Clause
#
# Profiles as the tests here take and read them. Part of tests/live/run.

profile=$scratch/profile.json
flame=$scratch/profile.folded

# Read by one of the kinds of `waits`, from wherever the build is.
disk=$disks/waits
head -c 4M /dev/urandom > "$disk"
sync "$disk"

needs_profiles() {
	is_root
	output=$("$ctprof" offcpu -q -o "$profile" -- true 2>&1) || skip "$output"
	"$@"
}

# take [profile|offcpu] OPTIONS...: a profile in $profile. What a command says is in $told, what ctprof
# does in $warned.
told=$scratch/told
warned=$scratch/warned
take() {
	"$ctprof" "$1" --format json -o "$profile" "${@:2}" > "$told" 2> "$warned" ||
		{ cat "$warned"; return 1; }
}

# ask FILTER ARGUMENTS...: of the profile, by jq. $told is what the command said.
ask() {
	jq -r -L tests/live --rawfile told "$told" "include \"profile\"; $1" "${@:2}" < "$profile"
}

# agrees WHAT FILTER: it finds nothing to say.
agrees() {
	local found

	found=$(ask "$2" "${@:3}")
	[ -z "$found" ] || { echo "$1: $found"; return 1; }
}

loses_nothing() {
	equal "what was lost" "$(ask '.losses.lost // 0')" 0
	equal "wrong stacks" "$(ask '.losses | (.stacks_wrong // 0) + (.user_stacks_wrong // 0)')" 0
}
