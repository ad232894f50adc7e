# SPDX-License-Identifier: BSD-2-Clause
#
# What /metrics of ctprof serve counts, by other readings of the same, and by Prometheus. Part of tests/live/run.

. tests/live/serving.sh

# sums FILE: the time of all threads in a state, in ns, of metrics as text: "STATE NS" each.
sums() {
	sed -nE 's/^ctprof_thread_state_seconds_total\{.*state="([a-z_]+)"\} ([0-9]+)\.([0-9]{9})$/\1 \2\3/p' "$1" |
		awk '{ sums[$1] += $2 } END { for (state in sums) printf "%s %.0f\n", state, sums[state] }' | sort
}

readings() {
	sed -n 's/^ctprof_readings_total //p' "$1"
}

# The sums over all series are those of /api/threads to the nanosecond, whatever has room of its own.
metrics_are_what_threads_did() {
	local try

	start "$programs/churn" 20 10
	serve --keep 1h --max-series 300
	sleep 4
	for try in 1 2 3 4 5; do
		get /metrics > "$scratch/metrics"
		get '/api/threads?from=0' > "$scratch/threads"
		get /metrics > "$scratch/again"
		[ "$(readings "$scratch/metrics")" != "$(readings "$scratch/again")" ] || break
	done
	jq -r '[.threads[].ns | to_entries[]] | group_by(.key)[] | "\(.[0].key) \(map(.value) | add)"' \
		"$scratch/threads" | sort > "$scratch/expected"
	sums "$scratch/metrics" | diff "$scratch/expected" -
	[ -s "$scratch/expected" ]
	between "series" 50 "$(grep -vc '^#' "$scratch/metrics")" 300
}

# The format is the one that is wanted most, of those that there are.
metrics_have_the_format_that_is_wanted() {
	local accept type

	serve -p $$
	while IFS=';' read -r type accept; do
		equal "type for '$accept'" "$(curl -sS -o /dev/null -w '%{content_type}' -H "Accept: $accept" "$at/metrics" | cut -d';' -f1)" "$type"
	done <<- END
		text/plain;
		text/plain;*/*
		text/plain;text/plain;version=0.0.4;q=0.5,application/openmetrics-text;q=0.4
		text/plain;application/openmetrics-text;version=9.0
		text/plain;*/*;q=1, application/openmetrics-text;q=0.5
		text/plain;application/openmetrics-text;q=0.5,text/*
		application/openmetrics-text;text/*;q=0.1,application/*
		application/openmetrics-text;application/openmetrics-text;q=0.5,*/*;q=0.5
		application/openmetrics-text;text/plain;q=0,*/*
		application/openmetrics-text;application/openmetrics-text;version=1.0.0,text/plain;q=0.5
		application/vnd.google.protobuf;application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited,text/plain;version=0.0.4;q=0.3,*/*;q=0.1
	END
	get /metrics > "$scratch/metrics"
	command -v promtool > /dev/null || skip "needs promtool"
	equal "promtool's opinion" "$(promtool check metrics < "$scratch/metrics" 2>&1)" ""
}

# scrape OPTION...: start a Prometheus that scrapes the server by the configuration in doc/serve.md, each second, with
# $token if there is one. Its port is in $port.
scrape() {
	local credentials=

	[ -z "${token-}" ] || credentials="/job_name/a\    authorization: { credentials: $token }"
	port=$((20000 + RANDOM % 20000))
	sed -n '/^scrape_configs:/,/^```/{/^```/q; p}' doc/serve.md |
		sed "s|127.0.0.1:7070|${at#http://}|; 1i global: { scrape_interval: 1s }
			$credentials" > "$scratch/prometheus.yml"
	promtool check config "$scratch/prometheus.yml" > /dev/null
	prometheus --config.file="$scratch/prometheus.yml" --storage.tsdb.path="$scratch/tsdb.$port" \
		--web.listen-address="127.0.0.1:$port" --log.level=error "$@" > "$scratch/prometheus.$port" 2>&1 &
	at_end "kill $!; wait $!"
}

# ask PORT QUERY: one value.
ask() {
	curl -sSG --max-time 30 "http://127.0.0.1:$1/api/v1/query" --data-urlencode "query=$2" | jq -r '.data.result[0].value[1] // "none"'
}

scraped() {
	[ "$(ask "$1" 'ctprof_readings_total' 2> /dev/null)" = "$2" ]
}

# Debian's Prometheus, by text and by protobuf with native histograms, has what curl gets. The process that measures is
# stopped meanwhile, so that they ask for the same.
prometheus_reads_them() {
	local classic native count

	command -v prometheus > /dev/null || skip "needs prometheus"
	start "$programs/churn" 20 10
	serve
	sleep 3
	kill -STOP "$server"
	at_end "kill -CONT $server"
	scrape
	classic=$port
	scrape --enable-feature=native-histograms
	native=$port
	get /metrics > "$scratch/metrics"
	for port in $classic $native; do
		until scraped "$port" "$(readings "$scratch/metrics")"; do sleep 0.2; done
		sums "$scratch/metrics" | while read -r state ns; do
			equal "time of $state" "$(ask "$port" "round(sum(ctprof_thread_state_seconds_total{state='$state'}) * 1e6)")" \
				"$(awk -v ns="$ns" 'BEGIN { printf "%.0f", ns / 1e3 }')"
		done
		between "series" 50 "$(ask "$port" scrape_samples_scraped)" 2000
	done
	count=$(awk '/^ctprof_run_queue_latency_seconds_count/ { sum += $NF } END { print sum + 0 }' "$scratch/metrics")
	[ "$count" -gt 0 ]
	equal "waits for a CPU, classic" "$(ask "$classic" 'sum(ctprof_run_queue_latency_seconds_count)')" "$count"
	equal "waits for a CPU, native" "$(ask "$native" 'histogram_count(sum(ctprof_run_queue_latency_seconds))')" "$count"
	# Both are in the same classic bucket, which is four times as wide as its lower bound.
	between "percent of the median of classic buckets" 25 \
		"$(awk -v native="$(ask "$native" 'histogram_quantile(0.5, sum(ctprof_run_queue_latency_seconds))')" \
			-v classic="$(ask "$classic" 'histogram_quantile(0.5, sum by (le) (ctprof_run_queue_latency_seconds_bucket))')" \
			'BEGIN { printf "%.0f", native * 100 / classic }')" 400
}

# Each query of the dashboard has an answer, by classic and by native histograms; those about containers and storage may be
# empty on this host.
dashboard_has_answers() {
	local query classic native

	command -v prometheus > /dev/null || skip "needs prometheus"
	start "$programs/churn" 20 10
	serve
	scrape
	classic=$port
	scrape --enable-feature=native-histograms
	native=$port
	jq -r '.panels[].targets[].expr' packaging/grafana/ctprof-prometheus.json |
		sed 's/\$instance/.*/g; s/\$__rate_interval/30s/g' > "$scratch/queries"
	between "queries" 13 "$(wc -l < "$scratch/queries")" 30
	for port in $classic $native; do
		until [ "$(ask "$port" 'sum(rate(ctprof_measured_seconds_total[30s])) > bool 0' 2> /dev/null)" = 1 ]; do sleep 0.2; done
		while read -r query; do
			curl -sSG --max-time 30 "http://127.0.0.1:$port/api/v1/query" --data-urlencode "query=$query" > "$scratch/reply"
			equal "the status of $query" "$(jq -r '.status + (.error // "")' "$scratch/reply")" success
			[[ $query == *container* || $query == *block_io* ]] ||
				jq -e '.data.result | length > 0' "$scratch/reply" > "$scratch/some" || { echo "no answer: $query"; return 1; }
		done < "$scratch/queries"
	done
}

# A target by the name of this host, at an address that other hosts reach.
prometheus_has_the_token() {
	local token target

	command -v prometheus > /dev/null || skip "needs prometheus"
	getent ahostsv4 "$(hostname)" > /dev/null || skip "the name of this host has no address"
	serve --listen 0.0.0.0:0 -p $$
	token=$(sed -n 's/.*token=\([0-9a-f]*\);.*/\1/p' "$said")
	target=$at at=http://$(hostname):${at##*:}
	scrape
	until [ "$(ask "$port" up 2> /dev/null)" = 1 ]; do
		kill -0 "$server"
		sleep 0.2
	done
	equal "status without the token" "$(curl -s -o /dev/null -w '%{http_code}' "$target/metrics")" 401
}

run_case "metrics: Prometheus reads them" prometheus_reads_them
run_case "metrics: queries of the dashboard have answers" dashboard_has_answers
run_case "metrics: Prometheus has the token, and the host by its name" prometheus_has_the_token
run_case "metrics: sums are what threads did" metrics_are_what_threads_did
run_case "metrics: the format is the one that is wanted" metrics_have_the_format_that_is_wanted
