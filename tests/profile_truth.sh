# SPDX-License-Identifier: BSD-2-Clause
#
# A profile against what threads say of themselves (programs/lives.c), for cases here and in guests.
#
#	ctprof offcpu -q -m 0 --format json -o "$scratch/profile" -- lives 500000 sleep > "$scratch/truths"
#	read_profile
#	truths_hold

# read_profile: the lines of profile.jq, those with the same words added up, and all that must be so
# in every profile without losses that keeps everything.
read_profile() {
	jq -r -L tests 'include "profile"; lines_of_profile' "$scratch/profile" |
		awk '{ sum[$1 " " $2 " " $3] += $4 }
			END { for (words in sum) printf "%s %.0f\n", words, sum[words] }' > "$scratch/lines_read"
	equal "what was lost" "$(jq '.losses.lost // 0' "$scratch/profile")" 0
	equal "stacks that were wrong" "$(jq '.losses | (.stacks_wrong // 0) + (.user_stacks_wrong // 0)' "$scratch/profile")" 0
}

# times_add_up: of each thread its classes are its life, and its samples are its classes. Of the others
# the times are not known, and said to be not.
times_add_up() {
	local wrong

	wrong=$(awk '
		$3 == "unknown" { unknown[$1 " " $2] }
		{ who = $1 " " $2; value[who " " $3] = $4; threads[who] }
		$3 ~ /^[a-z-]+$/ && $3 !~ /^(life|voluntary|involuntary)$/ { sum[who] += $4 }
		$3 ~ /^seen:/ { off[who " " substr($3, 6)] }
		$3 ~ /^[a-z-]+$/ && $3 !~ /^(life|voluntary|involuntary|on-cpu|unknown)$/ { off[who " " $3] }
		END {
			for (who in threads)
				if (!(who in unknown) && sum[who] != value[who " life"])
					print who ": " sum[who] " of " value[who " life"] " ns"
			for (key in off) {
				split(key, word, " ")
				seen = word[1] " " word[2] " seen:" word[3]
				if (!(word[1] " " word[2] in unknown) && value[seen] + 0 != value[key] + 0)
					print key ": seen for " value[seen] + 0 " of " value[key] + 0 " ns"
			}
		}' "$scratch/lines_read")
	equal "what does not add up" "$wrong" ""
}

# truths_hold [PREFIX]: each truth is what the profile says, but for one in a hundred; with the prefix
# "seen:" by the samples. Who loses its CPU on the way to sleep waits for it first, and takes that for
# sleep: up to one in twenty may be so, if the two together are as long as it says. The record of the thread
# has that wait also where the samples of waiting are left out.
truths_hold() {
	local wrong

	[ -s "$scratch/truths" ]
	wrong=$(awk -v prefix="${1-}" '
		NR == FNR { value[$1, $2, $3] = $4; next }
		{
			got = value[$1, $2, prefix $3] + 0
			print $1, $2, prefix $3 " " got ", by itself " $4 " to " $5 > "/dev/stderr"
			away = $3 == "runnable" ? got : got + value[$1, $2, "runnable"]
			if (got > $5 * 1.01 || away < $4 * 0.99 || got < $4 * 0.95)
				print $1, $2, $3 " " got " is not " $4 " to " $5
		}' "$scratch/lines_read" "$scratch/truths")
	equal "who says otherwise" "$wrong" ""
}

# only_seen CLASS: the samples have time of nothing else, and do have of that.
only_seen() {
	equal "what is seen" "$(awk '$3 ~ /^seen:/ && $4 { print substr($3, 6) }' "$scratch/lines_read" | sort -u)" "$1"
}

# of NAME TID WHAT: 0 where nothing is said. An empty NAME or TID is any.
of() {
	awk -v name="$1" -v tid="$2" -v what="$3" '
		(name == "" || $1 == name) && (tid == "" || $2 == tid) && $3 == what { sum += $4 }
		END { printf "%.0f\n", sum }' "$scratch/lines_read"
}
