/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cpu_time PID: the CPU time of all threads that a process has and had, in seconds, as exactly as
 * the kernel knows it: /proc has it in ticks.
 */
#include <time.h>

#include "base/clock.h"
#include "sample.h"

int main(int argc, char **argv)
{
	clockid_t clock;

	if (argc != 2 || clock_getcpuclockid(atoi(argv[1]), &clock))
		errx(1, "usage: cpu_time PID, of a process");
	printf("%.9f\n", (double)clock_ns(clock) / 1e9);
	return 0;
}
