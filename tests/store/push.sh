#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# What the agent sends to Pyroscope, Parca and by OTLP, decoded by Google's protobuf with the published messages
# (tests/store/proto): sums by stack, program and thread are those of the profile, to the nanosecond.

push_labels=('env=prod' 'service.version=1;--' '0start=a' '__name__=evil' 'host=other' $'na me\n=x"}\\' 'empty=' "long=$(printf '%03000d' 7)")

# has_protobuf: the decoder for python in $messages, made once. Skips the case without protoc or python3-protobuf.
has_protobuf() {
	messages=$scratch/messages
	command -v protoc > /dev/null || skip "no protobuf-compiler"
	/usr/bin/python3 -c 'import google.protobuf' 2> /dev/null || skip "no python3-protobuf"
	[ -d "$messages" ] && return
	mkdir "$messages"
	(cd tests/store/proto && protoc -I. --python_out="$messages" $(find . -name '*.proto'))
}

# sent SINK KIND ARGUMENTS...: what a sink makes of a made-up profile is decoded and compared.
sent() {
	local sink=$1 kind=$2 bodies=$scratch/bodies

	has_protobuf
	rm -rf "$bodies"
	mkdir "$bodies"
	tests/store/push_profiles.py "$kind" > "$scratch/$kind.json"
	TENANT=team-a build/tests/programs/push_bodies "$sink" "$scratch/$kind.json" "$bodies" "${push_labels[@]}"
	tests/store/push_decode.py "$messages" "$sink" "$scratch/$kind.json" "$bodies" "${@:3}"
	equal "a tenant" "$(jq -r .header "$bodies/0.json")" "X-Scope-OrgID: team-a"
}

# labels SINK: labels of the configuration have names as the server takes them.
labels() {
	case $1 in
	otlp)
		sent otlp plain --label env=prod --label 'service.version=1;--' --label '__name__=evil' --label host.name=host-a
		;;
	*)
		sent "$1" plain --label env=prod --label 'service_version=1;--' --label agent_0start=a \
			--label __name__=process_cpu --label host=host-a --label agent_host=other --label agent___name__=evil \
			--label 'na_me_=x"}\'
		;;
	esac
}

# sends_real_profile SINK: one that was taken here.
sends_real_profile() {
	local bodies=$scratch/bodies

	has_protobuf
	((EUID == 0)) || skip "needs root"
	rm -rf "$bodies"
	mkdir "$bodies"
	# An idle host has no samples.
	timeout 60 bash -c 'while :; do :; done' &
	at_end "kill $!"
	rm -f "$scratch/real.json"
	build/ctprof profile -d 1s -o "$scratch/real.json" > /dev/null
	build/tests/programs/push_bodies "$1" "$scratch/real.json" "$bodies"
	tests/store/push_decode.py "$messages" "$1" "$scratch/real.json" "$bodies" --bounded 501
}

refuses_tenant() {
	local output

	tests/store/push_profiles.py plain > "$scratch/plain.json"
	mkdir -p "$scratch/none"
	TENANT=$'a\r\nB: c' fails 1 build/tests/programs/push_bodies "$1" "$scratch/plain.json" "$scratch/none"
	has "the reason" "$output" "the name of the tenant has control characters"
}

# start_push_server: $push_port answers, and what arrives is in $arrived.
start_push_server() {
	arrived=$scratch/arrived
	rm -rf "$arrived"
	mkdir "$arrived"
	push_port=$(free_port)
	tests/store/push_server.py "$push_port" "$arrived" &
	at_end "kill $!"
	until (: < "/dev/tcp/127.0.0.1/$push_port") 2> /dev/null; do
		kill -0 "$!"
		sleep 0.05
	done
}

# pushes: what an agent measured of a busy thread arrives at all sinks at once, also what was measured while the server was
# down, and is what its files have.
pushes() {
	local files=$scratch/files sink agent host="host \"'ü"

	((EUID == 0)) || skip "needs root"
	has_protobuf
	start_push_server
	rm -rf "$files" "$scratch/spool"
	: > "$arrived/down"
	build/ctprof agent -i 1s -d 8s --host "$host" --label env=prod --tenant team-a --spool "$scratch/spool" \
		--directory "$files" --pyroscope "http://127.0.0.1:$push_port/pyroscope" \
		--otlp "http://127.0.0.1:$push_port/otlp" --parca "http://127.0.0.1:$push_port/parca" > "$scratch/said" 2>&1 &
	agent=$!
	at_end "kill $agent"
	until [ -e "$arrived/refused" ]; do
		kill -0 "$agent"
		sleep 0.1
	done
	rm "$arrived/down"
	wait "$agent"
	cat "$scratch/said"
	has "a line about the server" "$(cat "$scratch/said")" "503"
	for sink in pyroscope otlp parca; do
		equal "a tenant" "$(jq -r .header "$arrived/$sink/0.json")" "X-Scope-OrgID: team-a"
		tests/store/push_decode.py "$messages" "$sink" "$files" "$arrived/$sink" --host "$host" --label env=prod \
			--bounded 501 --requests 3
	done
}

for sink in pyroscope parca otlp; do
	run_case "what is sent is what was measured, $sink" sent "$sink" plain
	run_case "labels have names that servers take, $sink" labels "$sink"
	run_case "names with anything in them, $sink" sent "$sink" hostile
	run_case "100,000 stacks are split at the limits of servers, $sink" sent "$sink" stacks --requests 2
	run_case "3,000 programs are a bounded number of series, $sink" sent "$sink" programs --bounded 501
	run_case "a profile of this host, $sink" sends_real_profile "$sink"
	run_case "a tenant is no header of its own, $sink" refuses_tenant "$sink"
done
run_case "an agent pushes to three servers at once, one of which was down" pushes
