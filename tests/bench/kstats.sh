# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: BSD-2-Clause
#
# What a record of libkstats costs, beside the same into a histogram of each thread, into one of each CPU and into one
# that all threads share; and without restartable sequences.

measure_kstats() {
	measure "$programs/kstats_cost" "$rounds" 1
	wants kstats:hot:1 fallback || return 0
	GLIBC_TUNABLES=glibc.pthread.rseq=0 "$programs/kstats_cost" "$rounds" 1 | sed -n 's/ library / fallback /p' >> "$samples" ||
		could_not "records without rseq"
}

# More threads are compared with one thread.
measure_kstats_threads() {
	grep -q '^kstats:hot:1 ' "$samples" || measure "$programs/kstats_cost" "$rounds" 1
	measure "$programs/kstats_cost" "$rounds" 2 4 8
}
