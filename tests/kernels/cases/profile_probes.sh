# SPDX-License-Identifier: BSD-2-Clause
#
# Stacks at probes.
#
# kernels: 6.1 7.2

. tests/kernels/guest/profile.sh

# Each sleep comes by do_nanosleep() once.
kernel_functions_are_counted() {
	local hits

	ctprof profile -q -d 100ms --format json -o "$scratch/profile" -e kprobe:do_nanosleep > "$scratch/said" 2>&1 ||
		skip "$(head -n 1 "$scratch/said")"
	ctprof profile -q --format json -o "$scratch/profile" -e kprobe:do_nanosleep -- lives 300000 sleep \
		> "$scratch/truths"
	# Nothing is known of the probe where probes are only parsed.
	[ "$(jq '.events | length' "$scratch/profile")" -gt 0 ] || skip "profile does not attach probes"
	hits=$(jq '[. as $p | range($p.samples.thread | length)
		| select($p.threads[$p.samples.thread[.]].name == "sleep") | $p.samples.count[.]] | add' \
		"$scratch/profile")
	equal "how often the sleeper came by" "$hits" 10
}

run_case "a kernel probe counts all its hits" kernel_functions_are_counted
