# SPDX-License-Identifier: BSD-2-Clause
#
# What ctprof doctor finds in the guest, for cases.

declare -A findings

# examine [COMMAND...]: let doctor look, run by COMMAND.
examine() {
	local word rest source same='^the command of ([^ ]+), above$'

	"$@" ctprof doctor > "$scratch/findings"
	findings=()
	while read -r word rest; do
		case $word in
		run)
			findings["$source run"]=$rest
			if [[ $rest =~ $same ]]; then
				findings["$source run"]=${findings["${BASH_REMATCH[1]} run"]-}
				findings["$source boot"]=${findings["${BASH_REMATCH[1]} boot"]-}
			fi
			;;
		why | boot) findings["$source $word"]=$rest ;;
		covers) ;;
		*)
			source=$word
			findings["$source here"]=${rest%% *}
			;;
		esac
	done < <(sed '1,/^source /d; /^$/,$d' "$scratch/findings")
}

# finding SOURCE MEMBER
finding() {
	echo "${findings[$*]-}"
}

# says SOURCE PRESENCE
says() {
	equal "what doctor says of $1 (${findings["$1 why"]-})" "${findings["$1 here"]-}" "$2"
}

# mended SOURCE: the command that doctor named makes it whole.
mended() {
	local command=${findings["$1 run"]-}

	echo "to mend $1: $command"
	eval "$command"
	examine
	says "$1" yes
}
