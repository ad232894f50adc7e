# SPDX-License-Identifier: BSD-2-Clause
#
# What ctprof doctor finds in the guest, for cases.

# Another user, with no privileges.
as_somebody=(setpriv --reuid=1000 --regid=1000 --clear-groups)

# examine [COMMAND...]: let doctor look, run by COMMAND.
examine() {
	"$@" ctprof doctor --format json > "$scratch/findings"
}

# finding SOURCE MEMBER
finding() {
	jq -r "first(.[] | select(.source == \"$1\")).$2 // \"\"" "$scratch/findings"
}

# says SOURCE PRESENCE
says() {
	equal "what doctor says of $1 ($(finding "$1" why))" "$(finding "$1" here)" "$2"
}

# mended SOURCE: the command that doctor named makes it whole.
mended() {
	local command

	command=$(finding "$1" command)
	echo "to mend $1: $command"
	eval "$command"
	examine
	says "$1" yes
}
