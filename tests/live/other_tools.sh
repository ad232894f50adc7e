# SPDX-License-Identifier: BSD-2-Clause
#
# The commands of doc/guide-from-other-tools.md run on this host. Part of tests/live/run.

page=$PWD/doc/guide-from-other-tools.md

# The commands that the page tells readers to type, one per line, in its order: those of the second column of its tables.
commands_of_page() {
	awk -F '|' '/^\| / { n = split($3, parts, "`"); for (i = 2; i <= n; i += 2) print parts[i] }' "$page" |
		sed -n 's/^sudo ctprof /ctprof /; /^ctprof /p'
}

# in_short COMMAND: of a process that is there, for a moment, and without a screen.
in_short() {
	local command=${1//4242/$pid}

	command=${command//10s/300ms}
	command=${command/-- make/-- true}
	case $command in
	"ctprof top"*--batch*) ;;
	"ctprof top --inspect"*) command+=" -i 200ms" ;;
	"ctprof top"*) command+=" --batch -n 1" ;;
	"ctprof capture --interval 60s"*) command="timeout -s INT 2 ${command/60s/500ms}" ;;
	"ctprof kstats show"*--interval*) command="timeout -s INT 2 $command" ;;
	esac
	[[ $command != *kstats* ]] || command=${command/ctprof/${inside[*]} $ctprof}
	[[ $command == *kstats* ]] || command=${command/ctprof/$ctprof}
	echo "$command"
}

# A kernel that lacks a source says so in `doctor`.
is_possible() {
	case $1 in
	*"trace vfs_read" | *"show vfs_read" | *"trace f") "$ctprof" doctor --require kernel-functions > "$scratch/doctor" 2>&1 ;;
	esac
}

# removal COMMAND: of the metric that it traces.
removal() {
	local words

	read -ra words <<< "${1#*trace }"
	echo "${inside[*]} $ctprof kstats remove ${words[0]}"
}

# What one command of the page writes, the next one reads.
commands_run() {
	local command short status count=0

	start "$programs/duty" 2 10
	mkdir -p "$scratch/page"
	cd "$scratch/page"
	while read -r command; do
		case $command in
		*rec@12:30*) command=${command//rec@12:30/rec@first} command=${command//rec@12:31/rec@last} ;;
		*before.raw*) cp on.raw before.raw && cp on.raw after.raw ;;
		esac
		short=$(in_short "$command")
		is_possible "$command" || continue
		status=0
		eval "$short" > out 2>&1 < /dev/null || status=$?
		((status == 0 || status == 124)) || { echo "$short: ended with $status"; tail -n 5 out; return 1; }
		count=$((count + 1))
		[[ $command != *"kstats trace "* ]] || at_end "$(removal "$command")"
	done < <(commands_of_page)
	((count >= 35)) || { echo "only $count commands"; return 1; }
}

run_case "guide-from-other-tools: its commands run" needs_bpf has_own_place commands_run
