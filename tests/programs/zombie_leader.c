/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * zombie_leader: a process whose first thread has ended while another lives on. Prints
 * "ready PID TID".
 */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static void *live(void *unused)
{
	char path[32], state = '?';

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", (int)getpid());
	while (state != 'Z') {
		FILE *file = fopen(path, "r");

		if (!file || fscanf(file, "%*d %*s %c", &state) != 1)
			return unused;
		fclose(file);
		usleep(1000);
	}
	printf("ready %d %d\n", (int)getpid(), (int)gettid());
	fflush(stdout);
	for (;;)
		pause();
}

int main(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, live, NULL);
	pthread_exit(NULL);
}
