# SPDX-License-Identifier: BSD-2-Clause
#
# kernels: 6.1 7.2
#
# The server's programs load, and what they count is served, with the places of cgroups.

. tests/kernels/guest/cgroups.sh

container=0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef

# naps: a thread that sleeps again and again.
naps() {
	while :; do sleep 0.05; done
}

serves_metrics() {
	ip link set lo up || skip "no network at all"
	group system.slice
	group system.slice/shop.service
	group system.slice/docker-$container.scope
	inside system.slice/shop.service sleep 1000 &
	inside system.slice/docker-$container.scope bash -c "$(declare -f naps); naps" &
	ctprof serve --listen 127.0.0.1:7070 > serve.out 2>&1 &
	at_end "kill $!; wait $!"
	until wget -qO metrics http://127.0.0.1:7070/metrics 2> wget.out; do
		kill -0 $! || { cat serve.out; return 1; }
		sleep 0.2
	done
	# The first reading is counted before cgroups have histograms of their own.
	sleep 3
	wget -qO metrics http://127.0.0.1:7070/metrics
	grep -q '^ctprof_thread_state_seconds_total{.*state="exec"} ' metrics
	grep -q '^ctprof_thread_state_seconds_total{cgroup="/system.slice/shop.service",unit="shop.service",threads="sleep",state="sleep_timer"} ' metrics
	grep -q "^ctprof_run_queue_latency_seconds_count{cgroup=\"/system.slice/docker-$container.scope\",unit=\"docker-$container.scope\",container=\"${container:0:12}\"} " metrics
}

run_case "serve: metrics are counted" serves_metrics
