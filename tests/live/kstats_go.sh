# SPDX-License-Identifier: BSD-2-Clause
#
# Calls of functions of Go, which move their stacks and change their threads while they are measured, beside
# what the program says of them (tests/programs/runtimes/calls.go). Part of tests/live/run.

. tests/kstats_go_truth.sh
driver=$PWD/$programs/kstats_driver
sources=$PWD/tests/programs/runtimes
gos=$PWD/build/tests/programs/runtimes
mkdir -p "$gos"
command -v go > /dev/null || tools/install-packages runtimes >&2 || :

# build_go NAME WORDS...: $calls is what go build makes of them, if it can.
build_go() {
	calls=$gos/$1
	command -v go > /dev/null || skip "no go"
	(
		cd "$sources"
		GO111MODULE=off CGO_ENABLED=$cgo go build -o "$calls.$$" "${@:2}"
	) && mv "$calls.$$" "$calls"
}

go_case() {
	local name=$1

	shift
	run_case "kstats of Go: $name" on_x86 has_own_place "$@"
}

on_x86() {
	[ "$(uname -m)" = x86_64 ] || skip "RET instructions are looked for in code of x86_64"
	"$@"
}

# with BUILD CASE...: the static program, a position-independent one, and one with C in it.
with() {
	local build=$1

	shift
	cgo=0
	case $build in
	static) build_go calls-static calls.go ;;
	pie) build_go calls-pie -buildmode=pie calls.go ;;
	cgo) cgo=1 build_go calls-cgo calls.go calls_cgo.go ;;
	esac
	"$@"
}

# Goroutines that are in the function when recording begins, and go on.
calls_in_progress_are_no_loss() {
	"$calls" nap 8 400 > "$scratch/did" &
	at_end "wait $!"
	until [ "$(ls /proc/$!/task | wc -l)" -gt 1 ]; do sleep 0.01; done
	trace napping start "uprobe:$calls:main.(*S).Nap"
	wait $!
	look napping
	nothing_is_lost
	between "what was in progress" 1 "$(fact earlier)" 8
}

# It runs on the thread's own stack, and has something else where goroutines are told.
functions_of_c_are_told_by_thread() {
	trace here start "uprobe:$calls:one_nap"
	do_calls c 50
	look here
	equal "the calls" "$(fact count)" 200
	nothing_is_lost
	between "the time" $((200 * 2000000)) "$(total)" "$(did most)"
}

# --- return probes ---

# Without the refusal this is what happens: Go finds an address on its stack that is in no function.
return_probe_kills() {
	local status=0

	trace force=1 forced start "uprobe:$calls:main.(*S).Nap"
	has "the way" "$(kstats list)" "uprobe, uretprobe"
	"$calls" nap 20 20 > "$scratch/out" 2>&1 || status=$?
	((status != 0)) || { echo "the program lives"; return 1; }
	grep -qE 'unexpected return pc|SIGILL|SIGSEGV|unknown caller pc' "$scratch/out"
}

# refused_return WORDS...: by both commands.
refuses_returns() {
	local said status=0

	said=$("$@" 2>&1) || status=$?
	((status != 0)) || { echo "it is taken: $*"; return 1; }
	has "the reason" "$said" "Go moves stacks"
	has "what else there is" "$said" "uret:"
	has "the option" "$said" "--force-uretprobe"
}

return_probes_are_refused() {
	local where pid named

	"$calls" nap 1 100000 > "$scratch/out" &
	pid=$!
	at_end "kill $pid"
	ln -sf "$calls" "$scratch/link"
	cp "$calls" "$scratch/gone"
	exec 9< "$scratch/gone"
	rm "$scratch/gone"
	for where in "$calls" "$scratch/link" "/proc/$pid/exe" "/proc/$pid/root$calls" "/proc/$BASHPID/fd/9"; do
		refuses_returns "${inside[@]}" "$driver" trace bad start "uprobe:$where:main.main" \
			end "uretprobe:$where:main.main"
		refuses_returns "${inside[@]}" "$ctprof" kstats trace bad start "uretprobe:$where:main.main" end syscall:read
		for named in 'main.(*S).Nap' 'main.*' '/Nap$/'; do
			refuses_returns "$ctprof" profile -d 100ms -e "uretprobe:$where:$named"
		done
	done
	exec 9<&-
	# Of the first process, where no file is said.
	refuses_returns "$ctprof" profile -d 100ms -p "$pid" -e 'uretprobe:main.*'
	strip -o "$scratch/stripped" "$calls"
	refuses_returns "$ctprof" profile -d 100ms -e "uretprobe:$scratch/stripped:main.main"
	# It is still there.
	kill -0 "$pid"
}

what_cannot_be_measured_says_why() {
	refused $EINVAL "arguments of Go functions" trace key=arg1 bad start "uprobe:$calls:main.(*S).Nap"
	strip -o "$scratch/stripped" "$calls"
	refused $ENOENT "no symbols" trace bad start "uprobe:$scratch/stripped:main.(*S).Nap"
	equal "what is left" "$(kstats list)" ""
}

# As many stacks as calls.
profile_has_returns() {
	local file=$scratch/returns.json

	"$ctprof" profile -e "uret:$calls:main.(*S).Nap" --format json -o "$file" -- "$calls" nap 10 20 > "$scratch/out" \
		2> "$scratch/err" || { cat "$scratch/err"; return 1; }
	did=$(grep calls= "$scratch/out")
	equal "the program's own count" "$(did calls)" 200
	equal "the returns" "$(jq '[.samples.count[]] | add' "$file")" 200
}

for build in static pie cgo; do
	go_case "calls of a function that sleeps and moves its stack ($build)" with $build method_agrees Nap nap 20 20
done
go_case "calls that change their thread" with static method_agrees Spin spin 20 100
go_case "calls within calls, on stacks that grow" with static deep_calls_are_told_apart
go_case "the same goroutines in several programs" with static programs_are_told_apart
go_case "a pair of two functions" with static pair_is_of_one_goroutine
go_case "panics" with static panics_are_no_returns
go_case "goroutines that end in a function" with static ended_goroutines_have_no_return
go_case "calls that are in progress" with static calls_in_progress_are_no_loss
go_case "functions of C beside it" with cgo functions_of_c_are_told_by_thread
go_case "a return probe ends the program" with static return_probe_kills
go_case "return probes are refused (static)" with static return_probes_are_refused
go_case "return probes are refused (position-independent)" with pie return_probes_are_refused
go_case "return probes are refused (with C)" with cgo return_probes_are_refused
go_case "places that cannot be measured" with static what_cannot_be_measured_says_why
go_case "returns in a profile" with static profile_has_returns
