/* SPDX-License-Identifier: BSD-2-Clause */
#include <sys/prctl.h>

#include "acts.h"

volatile unsigned long calls;
volatile int goes_on = 1;

#define TICK_NS 20000000

void by_read(void)
{
	const struct itimerspec ticks = { .it_interval.tv_nsec = TICK_NS,
					  .it_value.tv_nsec = TICK_NS };
	int fd = timerfd_create(CLOCK_MONOTONIC, 0);
	uint64_t count;

	if (fd < 0 || timerfd_settime(fd, 0, &ticks, NULL))
		err(1, "timerfd");
	while (goes_on)
		calls += read(fd, &count, sizeof(count)) > 0;
}

void by_nap(void)
{
	const struct timespec time = { .tv_nsec = TICK_NS };

	while (goes_on)
		calls += nanosleep(&time, NULL) == 0;
}

void by_pause(void)
{
	while (goes_on)
		calls += pause() == 0;
}

void by_spin(void)
{
	while (goes_on)
		calls++;
}

void by_nothing(void)
{
	calls++;
}

static const struct {
	const char *name;
	act *act;
} acts[] = {
	{ "read", by_read }, { "nap", by_nap },         { "pause", by_pause },
	{ "spin", by_spin }, { "nothing", by_nothing },
};

act *act_of(const char *name)
{
	for (size_t i = 0; i < sizeof(acts) / sizeof(acts[0]); i++)
		if (strcmp(acts[i].name, name) == 0)
			return acts[i].act;
	errx(2, "no act '%s'", name);
}

void say_ready(char **argv)
{
	char name[16];

	snprintf(name, sizeof(name), "%s-%s", argv[1], argv[2]);
	prctl(PR_SET_NAME, name);
	puts("ready");
	fflush(stdout);
}
