/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A program that needs nothing but the C library and libkstats: a thousand values, and then it
 * waits to be looked at.
 */
#include <stdio.h>
#include <unistd.h>

#include <kstats.h>

int main(void)
{
	struct kstats *key = kstats_new("contained", 3);

	if (!key) {
		perror("kstats_new");
		return 1;
	}
	for (unsigned i = 0; i < 1000; i++)
		kstats_record(key, i);
	printf("ready\n");
	fflush(stdout);
	for (;;)
		pause();
}
