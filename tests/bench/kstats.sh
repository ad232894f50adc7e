# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: BSD-2-Clause
#
# What a record of libkstats costs, beside the same into a histogram of each thread and into one that
# all threads share; and without restartable sequences.

measure_kstats() {
	"$programs/kstats_cost" "$rounds" >> "$samples" || could_not "records of libkstats"
	GLIBC_TUNABLES=glibc.pthread.rseq=0 "$programs/kstats_cost" 1 |
		sed -n 's/ library / fallback /p' >> "$samples" || could_not "records without rseq"
}
