# SPDX-License-Identifier: BSD-2-Clause
#
# Starting ctprof serve, and asking it, for parts of tests/live/run.

inside=() # of has_own_place

# serve OPTIONS...: a server of this host, whose address is in $at, and what it prints in the file $said.
serve() {
	is_root
	command -v curl > /dev/null || skip "needs curl"
	said=$(mktemp -p "$scratch")
	"${inside[@]}" "$ctprof" serve --listen 127.0.0.1:0 "$@" > /dev/null 2> "$said" &
	server=$!
	at_end "kill $server; wait $server"
	until at=$(grep -o 'http://[^/]*' "$said"); do
		kill -0 "$server" || { cat "$said"; return 1; }
		sleep 0.05
	done
}

get() {
	curl -sS --fail-with-body --max-time 60 "$at$1"
}
