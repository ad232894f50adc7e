# SPDX-License-Identifier: BSD-2-Clause
#
# The transcripts of the guides (doc/guide-*.md), and the services that they plant. tests/live/guides.sh tests them,
# tools/record-guides writes them again.
#
# A transcript follows a comment with the service to plant (tests/programs/slow_services.c), and patterns of grep -E,
# separated by " & ". Lines of the first screen of its last command must match them:
#
#	<!-- planted: shopd; found: shopd .*lock & logger -->
#	```
#	$ sudo ctprof offcpu -d 2s
#	...
#	```
#
# A number behind -p, --inspect or `top` stands for the PID of the service. `./deploy` starts its new version instead.

screen_lines=24
screen_columns=100

# install_services: copy the program to the name of each service, in $services.
install_services() {
	local service

	mkdir -p "$services"
	chmod 755 "$services"
	for service in $(grep -oE '\{ "[a-z]+", be_' tests/programs/slow_services.c | cut -d '"' -f 2); do
		cp "$programs/slow_services" "$services/$service" || return
	done
}

# list_transcripts GUIDE...: one to a line: GUIDE, SERVICE, PATTERNS and COMMANDS, separated by tabs, and the commands
# by " ;; ".
list_transcripts() {
	awk -v OFS='\t' '
		/^<!-- planted: / {
			service = patterns = $0
			sub(/^<!-- planted: /, "", service)
			sub(/;.*/, "", service)
			sub(/.*; found: /, "", patterns)
			sub(/ -->$/, "", patterns)
			is_ours = 1
			next
		}
		/^```/ {
			if (is_in) {
				print FILENAME, service, patterns, commands
				is_ours = 0
			}
			is_in = is_ours && !is_in
			commands = ""
			next
		}
		is_in && (/^\$ \.\/deploy$/ || /^\$ (sudo )?ctprof /) {
			sub(/^\$ (sudo )?(ctprof )?/, "")
			commands = commands (commands ? " ;; " : "") $0
		}
	' "$@"
}

# plant SERVICE DIRECTORY: start it, and wait until it is ready. Its PID is in $planted.
plant() {
	local tries=100

	"$services/$1" "$2" > "$2/ready" &
	planted=$!
	until grep -q ready "$2/ready"; do
		((--tries)) && kill -0 "$planted" || return
		sleep 0.1
	done
	# Until its threads wait as they will go on.
	sleep 0.5
}

# first_screen DIRECTORY ARGUMENTS: of a command that runs in DIRECTORY, as a terminal shows it first.
first_screen() {
	# Rates are of a life, so it has to be longer than its start.
	[[ $2 != capture* ]] || sleep 2
	(cd "$1" && env TERM=xterm NO_COLOR=1 CTPROF_PAGER=cat timeout 60 script -qec \
		"stty columns $screen_columns rows $screen_lines; $ctprof ${*:2}" /dev/null < /dev/null 2>&1) |
		tr -d '\r' | sed -n "1,${screen_lines}p"
}

# deploy SERVICE DIRECTORY: start its new version instead of that of `plant`.
deploy() {
	kill "$planted"
	wait "$planted" 2> /dev/null || true
	touch "$services/new"
	plant "$1" "$2" || return
	rm "$services/new"
}

# of_service COMMAND: with the PID of $planted.
of_service() {
	sed -E "s/(-p|--inspect|^top) [0-9]+/\1 $planted/" <<< "$1"
}
