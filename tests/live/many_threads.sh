# SPDX-License-Identifier: BSD-2-Clause
#
# 70,000 threads, where this host has room for them. Part of tests/live/run.

. tests/many_threads.sh
sleepers=$programs/sleepers

run_case "70,000 threads have a record each" needs_bpf alone many_threads_have_records
