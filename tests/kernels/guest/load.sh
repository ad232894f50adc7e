# SPDX-License-Identifier: BSD-2-Clause
#
# For cases that do something many times while there is much to do, and see that nothing stays.

# kib NAME: of /proc/meminfo.
kib() {
	awk -v name="$1:" '$1 == name { print $2 }' /proc/meminfo
}

# Something that calls what is traced, all the time, on both CPUs, and lets others go first. It waits for its
# children: the kernel's probes wait for each task to have waited for something.
make_load() {
	local i

	for i in 1 2; do
		bash -c 'while :; do cat /proc/self/stat; done' > /dev/null &
		at_end "kill $!"
		renice -n 19 -p $!
	done
}
