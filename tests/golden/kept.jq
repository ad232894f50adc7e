# SPDX-License-Identifier: BSD-2-Clause
#
# jq -n --slurpfile old OLD --slurpfile new NEW -f kept.jq: the paths in the old document whose value the new one does
# not have. It may have more members; arrays are of the same length.

# Later versions have more metrics, which older files lack.
def pairs: [.[] | .reason as $reason | .metrics[] | [$reason, .]];

def lost($old; $new; $path):
	if $path[-1] == "unmeasured" or $path[-1] == "baseline_unmeasured" then
		if ($old | pairs) - ($new | pairs) == [] then empty else $path end
	elif ($old | type) == "object" and ($new | type) == "object" then
		$old | keys[] as $key
		| if $new | has($key) then lost($old[$key]; $new[$key]; $path + [$key]) else $path + [$key] end
	elif ($old | type) == "array" and ($new | type) == "array" and ($old | length) == ($new | length) then
		range($old | length) as $i | lost($old[$i]; $new[$i]; $path + [$i])
	elif $old == $new then empty
	else $path end;

lost($old[0]; $new[0]; []) | select(. != ["ctprof", "version"]) | map(tostring) | join(".")
