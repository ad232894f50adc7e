# SPDX-License-Identifier: BSD-2-Clause
#
# For cases about cgroups and pressure, beside lib.sh: a group, actors inside of it, and what its files
# say against what ctprof says.
#
#	. tests/kernels/guest/cgroups.sh
#	...
#		group small memory.max=8M
#		actor hog inside small
#		snap before
#		tell hog map 4
#		snap_at_rest after small
#		group_moved small memory.current 4194304 5242880
#		group_is_read_exactly small
#
# A field has the name that it has in the snapshot: memory.events.oom_kill, psi.cpu.some.total_usec.

. tests/recorded/raw.sh

cgroups=/sys/fs/cgroup

# --- groups ---

# group NAME [FILE=VALUE...]: NAME may be a path; those above must have been made as groups, too.
group() {
	local directory=$cgroups/$1 setting controller

	shift
	for controller in cpu memory pids io; do
		echo "+$controller" > "${directory%/*}/cgroup.subtree_control"
	done
	mkdir "$directory"
	at_end "remove_group $directory"
	for setting; do
		echo "${setting#*=}" > "$directory/${setting%%=*}"
	done
}

remove_group() {
	local tries=0

	echo 1 > "$1/cgroup.kill"
	until rmdir "$1" || ((++tries == 100)); do
		sleep 0.05
	done
}

# inside GROUP COMMAND...: becomes the command; for `actor`, and for subshells.
inside() {
	echo "$BASHPID" > "$cgroups/$1/cgroup.procs"
	shift
	exec "$@"
}

# group_says GROUP FILE [KEY]: what a file of one value, or of "key value" lines, holds.
group_says() {
	awk -v key="${3-}" 'key == "" { print $1 } $1 == key { print $2 }' "$cgroups/$1/$2"
}

# pressure_says FILE HALF: the total.
pressure_says() {
	sed -n "s/^$2 .*total=//p" "$1"
}

# --- snapshots ---

# outer_facts SNAPSHOT: what it holds about groups and the host's pressure.
outer_facts() {
	[ "$scratch/$1.all" -nt "$scratch/$1.ctprof.zst" ] ||
		read_snapshot "$scratch/$1.ctprof.zst" > "$scratch/$1.all"
	grep -v '^[0-9]' "$scratch/$1.all"
}

keep_groups() {
	local to=$1 group file files

	shift
	rm -rf "$to"
	for group; do
		mkdir -p "$to/cgroup/$group"
		files=()
		for file in cpu.{stat,max,weight,weight.nice} pids.{current,max} \
			memory.{current,peak,max,high,low,min,stat,events} memory.swap.{current,max,peak} io.stat \
			{cpu,memory,io,irq}.pressure; do
			[ ! -e "$cgroups/$group/$file" ] || files+=("$cgroups/$group/$file")
		done
		# Pressure of interrupts may be a file that cannot be read.
		cp "${files[@]}" "$to/cgroup/$group" 2> /dev/null || :
	done
}

# Averages of pressure change while nothing happens.
but_averages() {
	(cd "$1" && find . -type f -exec grep -H '' {} + | sed 's/ avg[0-9]*=[0-9.]*//g')
}

# snap_at_rest NAME GROUP...: a snapshot during which their files did not change; these are kept.
snap_at_rest() {
	local name=$1 tries=0

	shift
	while :; do
		keep_groups "$scratch/was" "$@"
		snap "$name"
		keep_groups "$scratch/$name.files" "$@"
		! diff <(but_averages "$scratch/was") <(but_averages "$scratch/$name.files") \
			> "$scratch/restless" || break
		((++tries < 30)) || { cat "$scratch/restless"; return 1; }
	done
}

# group_value SNAPSHOT GROUP FIELD; the group "host" is the host.
group_value() {
	outer_facts "$1" | awk -v who="/$2" -v field="$3" '
		($1 == who || "/" $1 == who) && $2 == field { print $3; found = 1 }
		END { if (!found) print "-" }'
}

group_change() {
	local old new

	old=$(group_value before "$1" "$2") new=$(group_value after "$1" "$2")
	[ "$old" != - ] && [ "$new" != - ] || { echo "$2 of $1 was not measured" >&2; return 1; }
	echo $((new - old))
}

# --- checks; a case proves "cgroup.FIELD" of groups, "psi.FIELD" of the host ---

# All keys of memory.stat and of memory.events are one thing.
fact_of() {
	local field=$2

	case $field in
	memory.stat.* | memory.events.*) field=${field%.*} ;;
	esac
	[ "$1" = host ] || field=cgroup.$field
	echo "$field"
}

# group_equals GROUP FIELD WANTED WHAT
group_equals() {
	is "$(fact_of "$1" "$2")" "$(group_value after "$1" "$2")" "$3" "$2 of $1: $4"
}

# group_moved GROUP FIELD LOW HIGH [WHAT]
group_moved() {
	within "$(fact_of "$1" "$2")" "$(group_change "$1" "$2")" "$3" "$4" "$2 of $1: ${5-the actor says}"
}

group_lacks() {
	equal "$2 of $1" "$(group_value after "$1" "$2")" -
}

# group_is_read_exactly GROUP: after `snap_at_rest after GROUP`, all that its files hold is in the
# snapshot, and no more. What is zero is right, but no proof.
group_is_read_exactly() {
	local field value

	(cd "$scratch/after.files" && raw_cgroup "/$1") | grep -v '\.avg' | sort > "$scratch/files.facts"
	outer_facts after | grep "^/$1 " | grep -v '\.avg' | sort > "$scratch/group.facts"
	diff "$scratch/files.facts" "$scratch/group.facts"
	while read -r _ field value; do
		[ "$value" = 0 ] || [ "$value" = null ] || proves "$(fact_of "$1" "$field")"
	done < "$scratch/group.facts"
}
