/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Attaches programs that do nothing to context switches and wake-ups, until it is ended: the least
 * that a tool of these events can cost.
 */
#include <err.h>
#include <unistd.h>

#include <nothing.skel.h>

int main(void)
{
	struct nothing_bpf *nothing = nothing_bpf__open_and_load();

	if (!nothing || nothing_bpf__attach(nothing))
		err(1, "programs that do nothing");
	for (;;)
		pause();
}
