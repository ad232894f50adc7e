# SPDX-License-Identifier: BSD-2-Clause
#
# ClickHouse for tests, without a service or a port of the host's own.
#
#	start_store new              the current engine, from npm's chdb; or `old`: Debian's clickhouse-server
#	sql 'SELECT 1'               asks it: $store_url is its address
#	kill -9 "$store_pid"; start_store_again
#	stop_store
#
# A case that calls start_store is skipped with a reason where there is no such server. It ends with the case.

chdb=${XDG_CACHE_HOME:-$HOME/.cache}/ctprof/chdb
chdb_version=3.4.0
store_ports=$scratch/ports

# need_chdb: download it once, or skip. Other processes wait for the first.
need_chdb() {
	command -v node > /dev/null || skip "no node"
	command -v npm > /dev/null || [ -d "$chdb/node_modules/chdb" ] || skip "no npm"
	mkdir -p "$(dirname "$chdb")"
	(
		flock 9
		[ ! -d "$chdb/node_modules/chdb" ] || exit 0
		mkdir -p "$chdb.part" && cd "$chdb.part" &&
			npm install --silent --no-audit --no-fund --prefix . "chdb@$chdb_version" &&
			cd .. && mv "$chdb.part" "$chdb"
	) 9> "$chdb.lock" > "$scratch/npm" 2>&1 || { cat "$scratch/npm"; skip "npm cannot install chdb"; }
	node -e 'require(process.argv[1])' "$chdb/node_modules/chdb" 2> "$scratch/npm" ||
		{ cat "$scratch/npm"; skip "chdb does not load here"; }
}

# write_old_config DIR PORT: of Debian's server. An empty <networks> of users.xml is nobody, ::/0 is everybody who can
# reach 127.0.0.1.
write_old_config() {
	mkdir -p "$1"/{tmp,user_files,format_schemas}
	cat > "$1/config.xml" <<-END
		<yandex>
			<logger><level>warning</level><log>$1/log</log><errorlog>$1/errors</errorlog></logger>
			<http_port>$2</http_port>
			<listen_host>127.0.0.1</listen_host>
			<path>$1/</path>
			<tmp_path>$1/tmp/</tmp_path>
			<user_files_path>$1/user_files/</user_files_path>
			<format_schema_path>$1/format_schemas/</format_schema_path>
			<users_config>users.xml</users_config>
			<default_profile>default</default_profile>
			<default_database>default</default_database>
			<mark_cache_size>67108864</mark_cache_size>
			<timezone>UTC</timezone>
		</yandex>
	END
	cat > "$1/users.xml" <<-END
		<yandex>
			<profiles><default><max_memory_usage>2000000000</max_memory_usage></default></profiles>
			<users><default>
				<password></password>
				<networks><ip>::/0</ip></networks>
				<profile>default</profile>
				<quota>default</quota>
			</default></users>
			<quotas><default></default></quotas>
		</yandex>
	END
}

# A port that nothing listens on, and that is another one for each call, also of parts that run beside each other.
free_port() {
	local port

	mkdir -p "$store_ports"
	for port in $(shuf -i 20000-29999 -n 20); do
		mkdir "$store_ports/$port" 2> /dev/null || continue
		(: < "/dev/tcp/127.0.0.1/$port") 2> /dev/null || { echo "$port"; return; }
	done
	return 1
}

# start_store new|old: sets store_kind, store_data, store_port, store_url and store_pid.
start_store() {
	store_kind=$1
	store_data=$(mktemp -d "$scratch/$1.XXXXXX")
	store_port=$(free_port)
	store_url=http://127.0.0.1:$store_port
	case $1 in
	new) need_chdb ;;
	old) command -v clickhouse-server > /dev/null || skip "no clickhouse-server" ;;
	esac
	at_end stop_store
	start_store_again
}

# The same server with the same data, after it was stopped or killed.
start_store_again() {
	case $store_kind in
	new)
		node "$(dirname "${BASH_SOURCE[0]}")/chdb_server.mjs" --module "$chdb" --data "$store_data" \
			--port "$store_port" > "$store_data.out" 2>&1 &
		;;
	old)
		write_old_config "$store_data" "$store_port"
		(cd "$store_data" && exec clickhouse-server --config-file config.xml) > "$store_data.out" 2>&1 &
		;;
	esac
	store_pid=$!
	wait_for_store
}

wait_for_store() {
	local tries

	for tries in $(seq 600); do
		! curl -sf -o "$store_data.ping" "$store_url/ping" || return 0
		kill -0 "$store_pid" 2> /dev/null || break
		sleep 0.1
	done
	tail -n 20 "$store_data.out" "$store_data/errors" 2> /dev/null
	return 1
}

stop_store() {
	kill -TERM "$store_pid" 2> /dev/null
	wait "$store_pid" 2> /dev/null || true
}

# sql QUERY [NAME=VALUE...]: its answer. Words are settings, or parameters (param_x=...). An exception is printed, and
# its status is not 0.
sql() {
	printf '%s' "$1" > "$scratch/query"
	shift
	post_to_store "" "$scratch/query" "$@"
}

# post_to_store QUERY FILE [NAME=VALUE...]: the same with data, to which the query belongs where QUERY is "". POST_ENCODING is its Content-Encoding.
post_to_store() {
	local url word query=$1 file=$2

	shift 2
	url="$store_url/?"
	for word in ${query:+"query=$query"} "$@"; do
		url+="${word%%=*}=$(url_word "${word#*=}")&"
	done
	curl -sS --max-time 300 ${POST_ENCODING:+-H "Content-Encoding: $POST_ENCODING"} --data-binary "@$file" \
		-o "$scratch/answer" -w '%{http_code}' "$url" > "$scratch/status" || return 1
	cat "$scratch/answer"
	[ "$(cat "$scratch/status")" = 200 ]
}

# post_requests DIR: requests that are files, as the agent's sender does.
post_requests() {
	local target number

	for target in "$1"/*.target; do
		number=${target%.target}
		curl -sS --max-time 300 -H "Content-Encoding: gzip" --data-binary "@$number.body" -o "$scratch/said" \
			-w '%{http_code}\n' "$store_url/$(cat "$target")" > "$scratch/status"
		[ "$(cat "$scratch/status")" = 200 ] || { cat "$scratch/said"; return 1; }
	done
}

url_word() {
	local LC_ALL=C text=$1 i byte

	for ((i = 0; i < ${#text}; i++)); do
		byte=${text:i:1}
		case $byte in
		[a-zA-Z0-9_.~-]) printf '%s' "$byte" ;;
		*) printf '%%%02X' "'$byte" ;;
		esac
	done
}
