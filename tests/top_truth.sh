# SPDX-License-Identifier: BSD-2-Clause
#
# Windows of ctprof top against threads of known behaviour (programs/thread_states), for cases here and
# in guests.
#
#	states spin pair > "$scratch/said"               ... until SIGTERM, and meanwhile
#	ctprof top --batch -n 1 -i 5s --format json -p "$pids" > "$scratch/top"
#	read_top
#	states_hold spin pair

# In percent of a thread's window.
tolerance=1

# Who is woken up has its CPU from then on by the kernel's clocks, not from the switch
# (rq_clock_skip_update()). Where that takes as long as in an emulated machine, this is 1: who sleeps knows
# then how long it ran and was runnable in all, and that it did not run for longer.
wakes_slowly=0

# read_top: $scratch/top as lines of "TID TGID KEY VALUE" in $scratch/top_lines, where KEY is a state, "end",
# "window", "progress" or "progress:STATE".
read_top() {
	jq -r '. as $row |
		[(.states | to_entries[] | select(.value != null)),
			{ key: "end", value: .at_unix_ns }, { key: "window", value: .window_ns },
			(.in_progress | select(. != null) |
				{ key: "progress", value: .ns }, { key: "progress:\(.state)", value: .ns })][] |
		"\($row.tid // 0) \($row.tgid) \(.key) \(.value)"' "$scratch/top" > "$scratch/top_lines"
	[ -s "$scratch/top_lines" ] || { echo "there are no rows"; return 1; }
}

# top_check PROGRAM: an awk program, which has the rows, what `states` said, and tolerance; what it prints is wrong.
top_check() {
	local wrong

	wrong=$(awk -v tolerance="$tolerance" -v wakes_slowly="$wakes_slowly" '
		function of(tid, key) { return ns[tid, key] + 0 }
		function window(tid) { return of(tid, "window") }
		# Within so many percent of the window of tid.
		function apart(tid, got, wanted, percent) {
			return got - wanted > window(tid) * percent / 100 || wanted - got > window(tid) * percent / 100
		}
		function share(tid, value) { return sprintf("%.2f %%", 100 * value / (window(tid) ? window(tid) : 1)) }
		# All that a row says, for people.
		function row(tid,   i, text) {
			for (i = 1; i <= keys; i++)
				if (of(tid, key[i]) && key[i] !~ /^(end|window|progress)/)
					text = text sprintf(" %s %s", key[i], share(tid, of(tid, key[i])))
			return text
		}
		# The sum of several: "a|b".
		function any(tid, states,   word, i, sum) {
			for (i = split(states, word, "|"); i; i--)
				sum += of(tid, word[i])
			return sum + 0
		}
		# What a thread knew as of a moment. After its last note one that never sleeps was not running.
		function knew(tid, what, at,   low, high, middle, part) {
			low = 1
			high = notes[tid]
			if (at > note[tid, high, "at"])
				return note[tid, high, what] + (what == "runnable" ? at - note[tid, high, "at"] : 0)
			while (high - low > 1) {
				middle = int((low + high) / 2)
				if (note[tid, middle, "at"] > at)
					high = middle
				else
					low = middle
			}
			part = (at - note[tid, low, "at"]) / (note[tid, high, "at"] - note[tid, low, "at"])
			return note[tid, low, what] + part * (note[tid, high, what] - note[tid, low, what])
		}
		# For people: what is known of a window, and how long it is.
		function noted(tid, begin, end) {
			return sprintf("; a window of %d ms, %d notes from %d ms after its begin to %d ms after its end",
				(end - begin) / 1e6, notes[tid], (note[tid, 1, "at"] - begin) / 1e6,
				(note[tid, notes[tid], "at"] - end) / 1e6)
		}
		function truth(tid, what, begin, end) { return knew(tid, what, end) - knew(tid, what, begin) }
		NR == FNR {
			if (!($3 in is_key)) {
				is_key[$3]
				key[++keys] = $3
			}
			if ($3 == "window")
				rows[$1]++
			ns[$1, $3] = $4
			process_ns[$2, $3] = $4
			next
		}
		$1 == "ready" { next }
		$1 == "truth" {
			n = ++notes[$3]
			note[$3, n, "at"] = $4
			note[$3, n, "exec"] = $5
			note[$3, n, "runnable"] = $6
			note[$3, n, "rest"] = $7
			next
		}
		{ tids[++threads] = $2; name[$2] = $1; expected[$2] = $3; by_name[$1, ++same[$1]] = $2 }
		'"$1" "$scratch/top_lines" "$scratch/said") || return
	equal "what is wrong" "$wrong" ""
}

# states_hold NAME...: threads of these names are where they say they are; of those that know by
# themselves, each of their states is as long as they say.
states_hold() {
	local name

	for name; do
		grep -q "^$name [0-9]" "$scratch/said" || { echo "there is no thread $name"; return 1; }
	done
	top_check '
		function check_one(tid, states) {
			if (apart(tid, any(tid, states), window(tid), tolerance))
				print name[tid] ":" row(tid) ", not all " states
		}
		function check_known(tid, rest,   begin, end, exec, runnable) {
			end = of(tid, "end")
			begin = end - window(tid)
			exec = truth(tid, "exec", begin, end)
			runnable = truth(tid, "runnable", begin, end)
			if (rest != "none" && apart(tid, of(tid, rest), truth(tid, "rest", begin, end), tolerance))
				print name[tid] ":" row(tid) ", but " rest " is " share(tid, truth(tid, "rest", begin, end)) noted(tid, begin, end)
			if (wakes_slowly && rest != "none" && of(tid, "exec") < exec) {
				runnable += exec - of(tid, "exec")
				exec = of(tid, "exec")
			}
			if (apart(tid, of(tid, "exec"), exec, tolerance))
				print name[tid] ":" row(tid) ", but exec is " share(tid, exec) noted(tid, begin, end)
			if (apart(tid, of(tid, "runnable"), runnable, tolerance))
				print name[tid] ":" row(tid) ", but runnable is " share(tid, runnable) noted(tid, begin, end)
		}
		END {
			wanted = "'" $* "'"
			for (i = 1; i <= threads; i++) {
				tid = tids[i]
				if (!index(wanted, " " name[tid] " "))
					continue
				if (rows[tid] != 1)
					print name[tid] " " tid " has " rows[tid] + 0 " rows"
				else if (expected[tid] ~ /^mixed:/)
					check_known(tid, substr(expected[tid], 7))
				else
					check_one(tid, expected[tid])
			}
		}'
}

# sums_hold: the seven states of every row are its window, and no state is less than its parts.
sums_hold() {
	top_check '
		function parts(tid, main, is_whole,   i, sum) {
			for (i = 1; i <= keys; i++)
				if (index(key[i], main "_") == 1)
					sum += of(tid, key[i])
			if (sum > of(tid, main) + 1000)
				print tid " " name[tid] ":" row(tid) ", parts of " main " are more than it"
		}
		END {
			for (tid in rows) {
				if (apart(tid, any(tid, "exec|runnable|paging|sleep|lock|idle|stopped"), window(tid), 0.2))
					print tid " " name[tid] ":" row(tid) ", that is not all"
				parts(tid, "exec")
				parts(tid, "sleep")
				parts(tid, "lock")
				parts(tid, "idle")
			}
		}'
}

# waits_last NAME...: what they wait in goes on, and has for all the window.
waits_last() {
	top_check '
		END {
			for (i = split("'"$*"'", word, " "); i; i--)
				for (k = 1; k <= same[word[i]]; k++) {
					tid = by_name[word[i], k]
					if (of(tid, "progress:" expected[tid]) < window(tid) * (1 - tolerance / 100))
						print word[i] ":" row(tid) ", in progress for " of(tid, "progress")
				}
		}'
}

# pair_shares: while one of the two has their CPU the other waits for it, and they have as much of it.
pair_shares() {
	states_hold pair
	top_check '
		END {
			a = by_name["pair", 1]
			b = by_name["pair", 2]
			both = of(a, "exec") + of(b, "exec")
			if (both > window(a) * 1.01)
				print "both have " share(a, both) " of a CPU"
			if (of(a, "runnable") < of(b, "exec") - window(a) * tolerance / 100 ||
			    of(b, "runnable") < of(a, "exec") - window(a) * tolerance / 100)
				print "one runs, the other is not runnable:" row(a) ";" row(b)
			if (of(a, "exec") > both * 0.6 || of(b, "exec") > both * 0.6)
				print "one has more:" row(a) ";" row(b)
		}'
}

# kernel_lock_is_shared NAME: of two, one has a lock of the kernel and sleeps with it, or one is on its way.
kernel_lock_is_shared() {
	states_hold_but_for_cpu "$1"
	top_check '
		END {
			a = by_name["'"$1"'", 1]
			b = by_name["'"$1"'", 2]
			lock = of(a, "lock_kernel") + of(b, "lock_kernel")
			busy = any(a, "exec|runnable") + any(b, "exec|runnable")
			if (busy > window(a) / 2)
				print "the host is too busy:" row(a) ";" row(b)
			if (lock > window(a) * (1 + tolerance / 100) || lock < window(a) * (1 - tolerance / 100) - busy)
				print "who waits for the lock:" row(a) ";" row(b)
		}'
}

# states_hold_but_for_cpu NAME: the rest of their time, where they work now and then.
states_hold_but_for_cpu() {
	top_check '
		END {
			for (k = 1; k <= same["'"$1"'"]; k++) {
				tid = by_name["'"$1"'", k]
				if (apart(tid, any(tid, expected[tid] "|exec|runnable"), window(tid), tolerance))
					print name[tid] ":" row(tid) ", not " expected[tid]
			}
		}'
}

# code_is_told NAME MORE LESS: of the CPU time of one most is in one part.
code_is_told() {
	top_check '
		END {
			tid = by_name["'"$1"'", 1]
			if (!of(tid, "exec") || of(tid, "'"$2"'") < 3 * of(tid, "'"$3"'"))
				print "'"$1"':" row(tid)
		}'
}

# process_holds NAME PERCENT: rows of processes; of all threads of this child together, CPU time and the rest. The
# window is that of a process with one thread, `stopped`. As said above, and as the clock of a process stops for a
# thread a little before that has left its CPU for good, it is microseconds of each thread off.
process_holds() {
	top_check '
		END {
			one = by_name["stopped", 1]
			child = by_name["'"$1"'", 1]
			end = process_ns[one, "end"]
			begin = end - process_ns[one, "window"]
			rest = expected[child]
			sub(/process:/, "", rest)
			exec = truth(child, "exec", begin, end)
			slept = rest == "none" ? 0 : truth(child, "rest", begin, end)
			if (!begin || exec <= 0)
				print "nothing is known of it"
			made = truth(child, "runnable", begin, end)
			got = process_ns[child, "exec"]
			most = got + (wakes_slowly ? process_ns[child, "runnable"] : 0)
			if (most < exec * (1 - '"$2"' / 100) - 2000 * made || got > exec * (1 + '"$2"' / 100) + 12000 * made)
				printf "CPU time %.0f, by its own clock %.0f; threads %d%s\n", got, exec, made, noted(child, begin, end)
			if (rest != "none" && (process_ns[child, rest] < slept * (1 - '"$2"' / 100) ||
					process_ns[child, rest] > slept * (1 + '"$2"' / 100)))
				printf "%s %.0f, by its own clock %.0f\n", rest, process_ns[child, rest], slept
		}'
}
