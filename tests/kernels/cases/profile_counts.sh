# SPDX-License-Identifier: BSD-2-Clause
#
# A profile against what the kernel counts of the same threads.
#
# kernels: 7.2

. tests/kernels/guest/profile.sh

# kernel_says NAME: its switches, and its times on a CPU and waiting for one.
kernel_says() {
	local pid=${tid[$1]}

	echo "$(key_of "$pid" status voluntary_ctxt_switches) $(key_of "$pid" status nonvoluntary_ctxt_switches)" \
		"$(schedstat_column "$pid" 1) $(schedstat_column "$pid" 2)"
}

# All of them are at rest before and after: nothing is missed, and nothing is in progress.
begin_counting() {
	local name

	settle ${tid[*]}
	for name; do
		old[$name]=$(kernel_says "$name")
	done
	watch -p "$(echo "${tid[*]}" | tr ' ' ,)"
}

end_counting() {
	local name

	settle ${tid[*]}
	end_watch
	for name; do
		new[$name]=$(kernel_says "$name")
	done
	times_add_up
}

# switches_agree NAME
switches_agree() {
	local voluntary involuntary then_voluntary then_involuntary

	read -r then_voluntary then_involuntary _ <<< "${old[$1]}"
	read -r voluntary involuntary _ <<< "${new[$1]}"
	equal "voluntary switches of $1" "$(of "$1" "${tid[$1]}" voluntary)" $((voluntary - then_voluntary))
	equal "involuntary switches of $1" "$(of "$1" "${tid[$1]}" involuntary)" $((involuntary - then_involuntary))
	echo "$1 left the CPU $((voluntary - then_voluntary)) and $((involuntary - then_involuntary)) times"
}

# differ_little WHAT GOT WANTED LIFE PER_MILLE: by so much of the life at most.
differ_little() {
	local most=$(($4 * $5 / 1000))

	echo "$1: $2, and $3 by the kernel, of $4"
	between "$1" $(($3 - most)) "$2" $(($3 + most))
}

# times_agree NAME [ALWAYS]: with the kernel's own, within 2 % of the time that passed, for emulated CPUs stop
# now and then, between the two looks at a clock too. Of a thread that is woken on an idle CPU the kernel books
# the way there as time on the CPU, for it saves an update of its clock (rq_clock_skip_update); an emulated CPU
# may take milliseconds for that. Only for those who ALWAYS want a CPU that is busy the two are compared by
# themselves.
times_agree() {
	local life on waited then_on then_waited ours_on ours_waited

	read -r _ _ then_on then_waited <<< "${old[$1]}"
	read -r _ _ on waited <<< "${new[$1]}"
	on=$((on - then_on)) waited=$((waited - then_waited))
	ours_on=$(of "$1" "${tid[$1]}" on-cpu) ours_waited=$(of "$1" "${tid[$1]}" runnable)
	life=$(of "$1" "${tid[$1]}" life)
	differ_little "$1 on the CPU or waiting" $((ours_on + ours_waited)) $((on + waited)) "$life" 20
	if [ "${2-}" = always ]; then
		differ_little "$1 on the CPU" "$ours_on" "$on" "$life" 20
		differ_little "$1 waiting for a CPU" "$ours_waited" "$waited" "$life" 20
	fi
	between "the life of $1" $(((watched_to - watched_from) * 990 / 1000)) "$life" \
		$(((watch_ended - watch_called) * 1010 / 1000))
}

nothing_is_missed() {
	local -A old new
	local name

	rivals
	actor sleeper
	actor parent
	begin_counting hog rival sleeper parent
	order hog compete 6000
	order sleeper sleep 100 20000
	order parent vfork 300000
	tell rival spin 2500
	hear parent
	tell parent hop 20
	hear sleeper
	tell sleeper yield 300
	tell rival burn 300
	hear hog
	end_counting hog rival sleeper parent
	for name in hog rival sleeper parent; do
		switches_agree $name
	done
	times_agree hog always
	times_agree rival always
	times_agree sleeper
	times_agree parent
}

# A signal that comes between the decision to sleep and the sleep keeps a thread awake: the kernel counts
# a voluntary switch, and shows a thread that can run.
signals_are_counted() {
	local -A old new

	rivals
	actor alarmed
	tell alarmed pin 1
	begin_counting alarmed hog
	tell alarmed alarmed 1000 150
	order hog compete 5000
	tell alarmed alarmed 500 150
	hear hog
	end_counting alarmed hog
	switches_agree alarmed
	switches_agree hog
}

# As fast as two can wake each other.
fast_switches_are_counted() {
	local -A old new

	mkfifo "$scratch/there"
	actor giver
	actor taker
	tell giver pin 1
	tell taker pin 1
	begin_counting giver taker
	order taker take "$scratch/there" 3000
	tell giver give "$scratch/there" 3000 0
	hear taker
	end_counting giver taker
	switches_agree giver
	switches_agree taker
}

run_case "switches are those that the kernel counts, and times too" nothing_is_missed
run_case "a thread that signals keep from sleeping is counted as the kernel does" signals_are_counted
run_case "of fast switches none is missed" fast_switches_are_counted
