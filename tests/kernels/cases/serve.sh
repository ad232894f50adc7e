# SPDX-License-Identifier: BSD-2-Clause
#
# kernels: 6.1 7.2
#
# The server's programs load, and what they count is served.

serves_metrics() {
	ip link set lo up || skip "no network at all"
	ctprof serve --listen 127.0.0.1:7070 > serve.out 2>&1 &
	at_end "kill $!; wait $!"
	until wget -qO metrics http://127.0.0.1:7070/metrics 2> wget.out; do
		kill -0 $! || { cat serve.out; return 1; }
		sleep 0.2
	done
	# The first reading is counted before cgroups have histograms of their own.
	sleep 2
	wget -qO metrics http://127.0.0.1:7070/metrics
	grep -q '^ctprof_thread_state_seconds_total{.*state="exec"} ' metrics
	grep -q '^ctprof_run_queue_latency_seconds_count{cgroup="/' metrics
}

run_case "serve: metrics are counted" serves_metrics
