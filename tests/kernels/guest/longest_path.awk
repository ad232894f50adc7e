# SPDX-License-Identifier: BSD-2-Clause
#
# Of `objdump -dr` of one function without loops: how many instructions the longest way through it has, from
# its first to a return, but for ways that call something.

/^ *[0-9a-f]+:\t/ && !/\tR_X86_64/ {
	sub(/:$/, "", $1)
	if ($2 ~ /^(nop|data16|cs)/ || ($2 == "xchg" && $3 == "%ax,%ax"))
		next
	place[$1] = ++n
	word[n] = $2
	target[n] = $3
	if ($2 == "lock")
		locked = 1
}
/R_X86_64.*__x86_return_thunk/ { word[n] = "ret" }

function longest(i,  a, b) {
	if (i in known)
		return known[i]
	if (word[i] ~ /^ret/)
		return known[i] = 1
	if (i > n || word[i] == "call")
		return known[i] = -1000
	a = word[i] == "jmp" ? -1000 : longest(i + 1)
	b = word[i] ~ /^j/ && target[i] in place ? longest(place[target[i]]) : -1000
	return known[i] = 1 + (a > b ? a : b)
}

END { print longest(1), locked ? "locked" : "lockless" }
