# SPDX-License-Identifier: BSD-2-Clause
#
# The names of cgroups in the store: those of files of a container engine, for a cgroup that has the path of a container.

id=$(printf '%064x' $((0x1234567890abcde)))

# Where the tree of version 2 is mounted.
cgroup_root() {
	awk '$(NF - 2) == "cgroup2" { print $5; exit }' /proc/self/mountinfo
}

names_a_container() {
	local root dir file pid agent tries

	[ "$(id -u)" = 0 ] || skip "needs root"
	root=$(cgroup_root)
	[ -n "$root" ] || skip "no cgroups of version 2"
	dir=$root/ctprof-test-$$.slice/docker-$id.scope
	mkdir -p "$dir" 2> "$scratch/said" || skip "cannot create cgroups: $(< "$scratch/said")"
	at_end "sleep 0.2; rmdir '$dir' '${dir%/*}'"
	file=/var/lib/docker/containers/$id/config.v2.json
	[ ! -e /var/lib/docker ] || skip "there is a /var/lib/docker"
	at_end "rm -f '$file'; rmdir -p '${file%/*}' 2> /dev/null"
	mkdir -p "${file%/*}"
	echo '{"Config":{"Image":"registry.example/web:1.4","Labels":{}},"Name":"/frontend"}' > "$file"
	sh -c 'echo $$ > "$1/cgroup.procs" && exec sleep 600' - "$dir" &
	pid=$!
	at_end "kill $pid; wait $pid"
	until grep -q "docker-$id" "/proc/$pid/cgroup"; do sleep 0.1; done
	start_store new
	build/ctprof agent --create-schema --clickhouse "$store_url/fleet"
	build/ctprof agent --clickhouse "$store_url/fleet" --spool "$scratch/spool" --host "it's" --interval 1 \
		> "$scratch/said" 2>&1 &
	agent=$!
	at_end "kill $agent; wait $agent"
	for tries in $(seq 240); do
		[ "$(sql "SELECT count() FROM fleet.cgroup_labels WHERE cgroup LIKE '%docker-$id.scope'")" = 0 ] || break
		sleep 0.25
	done
	cat "$scratch/said"
	equal "what is known" \
		"$(sql "SELECT DISTINCT host, container, image, unit FROM fleet.cgroup_labels WHERE cgroup LIKE '%docker-$id.scope'")" \
		$'it\\\'s\tfrontend\tregistry.example/web:1.4\t'"docker-$id.scope"
}

run_case "an agent names the containers of cgroups" names_a_container
