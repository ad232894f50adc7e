# SPDX-License-Identifier: BSD-2-Clause
#
# Who reaches ctprof serve: other hosts with its token, and the owner of its socket. Part of tests/live/run.

. tests/live/serving.sh

# status_of CURL-ARGUMENTS...
status_of() {
	curl -s -o /dev/null -m 60 -w '%{http_code}' "$@" || true
}

# The URL that is printed, also with -q, is that of another host: by this host's address or name, with the token.
other_hosts_have_the_token() {
	local url token port

	serve -q --listen 0.0.0.0:0 -p $$
	url=$(grep -oE 'http://[^;]*' "$said")
	token=${url##*token=}
	port=${at##*:}
	[[ $url =~ ^http://[^/]+:[0-9]+/\?token=[0-9a-f]{32}$ ]] || { echo "the URL is $url"; return 1; }
	has_not "its address" "$at" 0.0.0.0
	equal "status of the URL" "$(status_of "$url")" 200
	equal "status of data" "$(status_of "$at/api/about?token=$token")" 200
	equal "status of data by name" "$(status_of --connect-to "web7.example::127.0.0.1:" "http://web7.example:$port/api/about?token=$token")" 200
	equal "status of a script by name" "$(status_of --connect-to "web7.example::127.0.0.1:" "http://web7.example:$port/page/main.js")" 200
	equal "status without the token" "$(status_of "$at/api/about")" 401
	equal "status by name without the token" "$(status_of --connect-to "web7.example::127.0.0.1:" "http://web7.example:$port/api/about")" 401
}

# A token of the command line is not seen there, and the URL has it as a query can.
tokens_are_hidden() {
	serve --token 'a&b/c%' -p $$
	has "the URL" "$(< "$said")" '/?token=a%26b%2Fc%25;'
	equal "status with the URL's token" "$(status_of "$at/api/about?token=a%26b%2Fc%25")" 200
	has_not "the command line" "$(tr '\0' ' ' < "/proc/$server/cmdline")" 'a&b'
	has_not "that of the web process" "$(tr '\0' ' ' < "/proc/$(pgrep -P "$server")/cmdline")" 'a&b'
	serve --token=an-example -p $$
	has_not "the command line" "$(tr '\0' ' ' < "/proc/$server/cmdline")" an-example
}

tokens_are_in_files() {
	printf 'of-a-file\nand more\n' > "$scratch/token"
	chmod 640 "$scratch/token"
	serve --token-file "$scratch/token" -p $$
	equal "status without the token" "$(status_of "$at/api/about")" 401
	equal "status with it" "$(status_of -H 'Authorization: Bearer of-a-file' "$at/api/about")" 200
	chmod 644 "$scratch/token"
	fails 1 "$ctprof" serve --listen 127.0.0.1:0 --token-file "$scratch/token"
	has "the message" "$output" 'all users may read or write this file (mode 0644)'
	fails 2 "$ctprof" serve --token-file "$scratch/token" --token x
	has "the message" "$output" 'exclude each other'
}

# With sudo, a Unix socket belongs to the user of sudo where that user may write, and is for nobody else.
sockets_are_of_the_user() {
	local folder=$scratch/sockets

	mkdir -p "$folder"/{own,root}
	chown 65533:65533 "$folder/own"
	chmod 711 "$folder"
	for place in own root; do
		SUDO_UID=65533 SUDO_GID=65533 "$ctprof" serve --listen "unix:$folder/$place/socket" -p $$ 2> "$scratch/said.$place" &
		server=$!
		at_end "kill $server; wait $server"
		until grep -q serving "$scratch/said.$place"; do
			kill -0 "$server"
			sleep 0.05
		done
	done
	equal "owners" "$(stat -c '%u:%g %a' "$folder"/{own,root}/socket | paste -sd,)" '65533:65533 600,0:0 600'
	equal "status for its user" "$(setpriv --reuid 65533 --regid 65533 --clear-groups \
		curl -s -o /dev/null -m 60 -w '%{http_code}' --unix-socket "$folder/own/socket" http://ctprof/api/about)" 200
	equal "status for another user" "$(setpriv --reuid 65532 --regid 65532 --clear-groups \
		curl -s -o /dev/null -m 60 -w '%{http_code}' --unix-socket "$folder/own/socket" http://ctprof/api/about || true)" 000
	# A socket that nothing listens at is replaced.
	kill -9 "$server"
	wait "$server" || true
	[ -S "$folder/root/socket" ]
	"$ctprof" serve --listen "unix:$folder/root/socket" -p $$ -d 1s
	fails 1 test -e "$folder/root/socket"
}

# The configuration of nginx in doc/serve.md: HTTPS, users with passwords, and each reading as it comes.
nginx_stands_before_it() {
	local folder=$scratch/nginx port=$((40000 + RANDOM % 9000)) site

	PATH=$PATH:/usr/sbin
	command -v nginx > /dev/null || skip "needs nginx"
	command -v openssl > /dev/null || skip "needs openssl"
	serve -p $$
	mkdir "$folder"
	openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=ctprof.example -keyout "$folder/key" -out "$folder/cert" 2> /dev/null
	echo "somebody:$(openssl passwd -apr1 secret)" > "$folder/users"
	{
		echo "user root; daemon off; pid $folder/pid; error_log $folder/errors;"
		echo "events {} http { access_log off; client_body_temp_path $folder/body; proxy_temp_path $folder/proxy;"
		echo "fastcgi_temp_path $folder/f; uwsgi_temp_path $folder/u; scgi_temp_path $folder/s;"
		sed -n '/^```nginx/,/^```$/p' doc/serve.md | sed "/^\`\`\`/d; s|listen 443|listen 127.0.0.1:$port|
			s|/etc/ssl/certs/ctprof.example.pem|$folder/cert|; s|/etc/ssl/private/ctprof.example.key|$folder/key|
			s|/etc/nginx/ctprof.users|$folder/users|; s|http://127.0.0.1:7070|$at|"
		echo "}"
	} > "$folder/conf"
	nginx -p "$folder" -c "$folder/conf" -e "$folder/errors" &
	at_end "kill $!; wait $!"
	site=(--cacert "$folder/cert" --connect-to "ctprof.example:443:127.0.0.1:$port")
	until [ "$(status_of "${site[@]}" https://ctprof.example/)" != 000 ]; do
		kill -0 $! || { cat "$folder/errors"; return 1; }
		sleep 0.1
	done
	equal "status without a password" "$(status_of "${site[@]}" https://ctprof.example/api/about)" 401
	site+=(-u somebody:secret)
	for path in / /page/main.js /api/about; do
		equal "status of $path" "$(status_of "${site[@]}" -H 'Sec-Fetch-Site: same-origin' "https://ctprof.example$path")" 200
	done
	equal "status for another page" "$(status_of "${site[@]}" -H 'Sec-Fetch-Site: cross-site' https://ctprof.example/api/about)" 403
	grep -qm 1 '^event: tick' <(curl -sN -m 60 "${site[@]}" 'https://ctprof.example/api/live?history=0')
}

run_case "serve: other hosts have the token" other_hosts_have_the_token
run_case "serve: the command line does not show the token" tokens_are_hidden
run_case "serve: tokens are in files" tokens_are_in_files
run_case "serve: Unix sockets belong to the user of sudo" sockets_are_of_the_user
run_case "serve: nginx stands before it" nginx_stands_before_it
