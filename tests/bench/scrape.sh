# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: BSD-2-Clause
#
# The CPU time of the process that answers a scrape of 10,000 threads: the one of ctprof serve, and process-exporter. What
# ctprof spends between scrapes is in the rows of `collector`.

scrapes=10

# run_time PID: of all its threads, in seconds.
run_time() {
	cat "/proc/$1/task/"*/schedstat | awk '{ sum += $1 } END { printf "%.9f\n", sum / 1e9 }'
}

# answers URL: wait until it does.
answers() {
	local try

	for ((try = 0; try < 200; try++)); do
		curl -sf -o /dev/null "$1" && return
		sleep 0.1
	done
	return 1
}

# scrape SIDE PID URL: seconds and KiB of one scrape.
scrape() {
	local before after i

	wants scrape "$1" || return 0
	before=$(run_time "$2")
	for ((i = 0; i < scrapes; i++)); do
		curl -sf -H 'Accept-Encoding: gzip' -o "$work/scraped" "$3" || return
	done
	after=$(run_time "$2")
	sample scrape "$1" "$(awk -v n=$scrapes -v before="$before" -v after="$after" 'BEGIN { print (after - before) / n }')" \
		"$(awk -v bytes="$(stat -c %s "$work/scraped")" 'BEGIN { print bytes / 1024 }')"
}

measure_scrape() {
	local web round exporter=

	has curl || return
	start_threads 50 200 || return
	start_tool $ctprof serve -q --listen 127.0.0.1:17070
	answers http://127.0.0.1:17070/metrics || could_not "ctprof serve ($(complaint))"
	web=$(pgrep -P "$tool" -x ctprof-web)
	if has prometheus-process-exporter; then
		printf '%s\n' 'process_names:' '  - name: "{{.Comm}}"' "    cmdline: ['.+']" > "$work/exporter.yml"
		start_tool prometheus-process-exporter -config.path "$work/exporter.yml" -gather-smaps=false \
			-web.listen-address 127.0.0.1:17071
		exporter=$tool
		answers http://127.0.0.1:17071/metrics || left_out "process-exporter: $(complaint)"
	fi
	while next_round; do
		scrape ctprof "$web" http://127.0.0.1:17070/metrics
		[ -z "$exporter" ] || scrape exporter "$exporter" http://127.0.0.1:17071/metrics
	done
	# Its child ends with it.
	kill "${tools[0]}"
	end_tools
	stop_threads
}
