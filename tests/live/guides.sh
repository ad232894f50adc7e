# SPDX-License-Identifier: BSD-2-Clause
#
# The guides (doc/guide-*.md) are true: each problem that they show is planted, their commands run, and the cause is
# on the first screen of one of at most two commands. Part of tests/live/run.

. tests/live/transcripts.sh

services=$scratch/services
install_services || exit 2
place=$PWD/$disks/services
mkdir -p "$place"

# matches WHAT PATTERNS: each is in a line of standard input.
matches() {
	local text pattern rest="$2 & "

	text=$(cat)
	while [ -n "$rest" ]; do
		pattern=${rest%% & *} rest=${rest#* & }
		grep -qE -- "$pattern" <<< "$text" || {
			echo "$1: no line matches '$pattern':"
			echo "$text"
			return 1
		}
	done
}

# finds_the_cause SERVICE PATTERNS COMMANDS
finds_the_cause() {
	local rest="$3 ;; " command count=0

	is_root
	plant "$1" "$place"
	at_end "kill $planted"
	while [ -n "$rest" ]; do
		command=$(of_service "${rest%% ;; *}")
		rest=${rest#* ;; }
		if [ "$command" = ./deploy ]; then
			deploy "$1" "$place"
			at_end "kill $planted"
			continue
		fi
		[[ $command == capture* ]] || count=$((count + 1))
		first_screen "$place" "$command" > "$scratch/screen"
	done
	((count >= 1 && count <= 2)) || { echo "$count commands"; return 1; }
	matches "ctprof $command" "$2" < "$scratch/screen"
}

# the_page_shows_it GUIDE PATTERNS: the lines of its transcript match too.
the_page_shows_it() {
	awk -v patterns="$2" '
		index($0, "found: " patterns " -->") { is_ours = 1; next }
		/^```/ && is_ours { if (is_in) exit; is_in = 1; next }
		is_in' "$1" | matches "$1" "$2"
}

# Each in one or two commands, as the cases below count.
problems_are_twelve() {
	list_transcripts doc/guide-*.md | cut -f 2 | sort -u > "$scratch/problems"
	between "the number of planted problems" 12 "$(wc -l < "$scratch/problems")" 100
}

run_case "guide: twelve problems at least are planted" problems_are_twelve

# A row for each transcript.
while IFS=$'\t' read -r guide service patterns commands; do
	run_case "guide: $service: ctprof $commands" alone finds_the_cause "$service" "$patterns" "$commands"
	run_case "guide: $service: the page shows it" the_page_shows_it "$guide" "$patterns"
done < <(list_transcripts doc/guide-*.md)

# --- a database ---

# as_postgres PROGRAM ARGUMENTS: as a user that a server accepts.
as_postgres() {
	setpriv --reuid nobody --regid nogroup --clear-groups "$postgres_bin/$1" "${@:2}"
}

ask_postgres() {
	as_postgres psql -q -h "$database" -U tester -d postgres "$@"
}

# until_true COMMAND: try it for ten seconds.
until_true() {
	local tries=100

	until "$@"; do
		((--tries)) || { echo "not within ten seconds: $*"; return 1; }
		sleep 0.1
	done
}

start_postgres() {
	install -d -o nobody -g nogroup "$database"
	as_postgres initdb -N -A trust -U tester -D "$database/data" > "$scratch/initdb"
	as_postgres postgres -D "$database/data" -k "$database" -c listen_addresses= -c fsync=off \
		> "$scratch/postgres" 2>&1 &
	until_true eval 'ask_postgres -c "select 1" > /dev/null 2>&1'
	planted=$(head -n 1 "$database/data/postmaster.pid")
	at_end "kill -QUIT $planted"
}

# A session of the server with this title: its PID in $session.
find_session() {
	session=$(pgrep -P "$planted" -f "$1")
}

# A session has updated a row and does not commit, the update of another waits: each command says so: of the host, of
# the session, and what the session does now.
row_lock_is_found() {
	local hold database=$scratch/database
	local lock='lock +(postgres +)?heap_update (→|->) Xact'

	is_root
	[ -n "$postgres_bin" ] || skip "PostgreSQL is not installed"
	start_postgres
	ask_postgres -c "create table account as select 7 as id, 0 as balance"
	mkfifo "$scratch/hold"
	ask_postgres < "$scratch/hold" &
	exec {hold}> "$scratch/hold"
	echo "begin; update account set balance = 1;" >&"$hold"
	until_true find_session "idle in transaction"
	ask_postgres -c "update account set balance = 2" {hold}>&- &
	until_true find_session "UPDATE waiting"
	first_screen "$scratch" "offcpu -d 2s" | matches "ctprof offcpu" "$lock"
	"$ctprof" offcpu --state lock -p "$session" -d 1s < /dev/null |
		matches "ctprof offcpu --state" "$lock & ctprof top --inspect $session$"
	first_screen "$scratch" "top --inspect $session" |
		matches "ctprof top --inspect" "(100|9[0-9]) % waiting for a lock of its program: heap_update (→|->) Xact"
}

# Threads of an interpreter take turns, whatever the symbols it has.
lock_of_interpreter_is_found() {
	is_root
	command -v python3 > /dev/null || skip "python3 is not installed"
	python3 -c '
import threading
def work():
	while True: sum(range(1000))
for _ in range(2): threading.Thread(target=work, daemon=True).start()
work()' &
	planted=$!
	at_end "kill $planted"
	until_true eval '[ "$(ls /proc/$planted/task | wc -l)" = 3 ]'
	first_screen "$scratch" "offcpu -p $planted -d 1s" | matches "ctprof offcpu" "lock .*(take_gil|pthread_cond_timedwait)"
}

postgres_bin=$(ls -d /usr/lib/postgresql/*/bin 2> /dev/null | tail -n 1)
run_case "guide: a lock of a row of PostgreSQL: ctprof offcpu" alone row_lock_is_found
run_case "guide: the lock of a Python interpreter: ctprof offcpu" lock_of_interpreter_is_found
