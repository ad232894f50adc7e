/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * key_answer SECONDS KEYS COMMAND...: how long the screen of `ctprof top` takes to answer a key.
 *
 * Runs the command on a terminal of its own. It is left alone for so many seconds once there is a
 * table, and then told to turn the order around, again and again, at moments that have nothing to
 * do with its windows; the answer is the other mark in the head of the table. Prints
 *
 *	cpu FIRST OTHERS              of the seconds without keys: ns of CPU time that its first
 *	                              thread used, which takes keys, and all others
 *	answers COUNT MEDIAN WORST    us until a key was answered
 *	per_key CPU                   us of CPU time of the first thread for each
 *
 * `key_answer echo` is a command that does nothing but answer: what the terminal and the host take.
 */
#include <dirent.h>
#include <err.h>
#include <poll.h>
#include <pty.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_S    1000000000ull
#define PATIENCE_S  60
#define PAUSE_LEAST 20 /* ms; and up to so many more */
#define PAUSE_MORE  180
#define HEAD        "ACTIVE"
#define DOWN        "\xe2\x96\xbc" /* the order as it begins */
#define UP          "\xe2\x96\xb2"

static int terminal;
static pid_t child;

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

static void run(char **command)
{
	const struct winsize size = { .ws_row = 50, .ws_col = 150 };

	child = forkpty(&terminal, NULL, NULL, &size);
	if (child < 0)
		err(1, "a terminal");
	if (child)
		return;
	setenv("TERM", "xterm-256color", 1);
	setenv("LC_ALL", "C.UTF-8", 1);
	execvp(command[0], command);
	err(127, "%s", command[0]);
}

/* Take what is drawn until it has this text, or for so long: true if it had. */
static bool see(const char *text, uint64_t until)
{
	const size_t length = strlen(text);
	static char seen[65536];
	size_t kept = 0;
	bool has = false;

	while (!has) {
		struct pollfd polled = { .fd = terminal, .events = POLLIN };
		const uint64_t now = now_ns();
		ssize_t got;

		if (now >= until || poll(&polled, 1, (int)((until - now) / 1000000) + 1) == 0)
			return false;
		got = read(terminal, seen + kept, sizeof(seen) - kept);
		if (got <= 0)
			errx(1, "the command has ended");
		kept += (size_t)got;
		has = memmem(seen, kept, text, length) != NULL;
		/* It may come in parts. */
		if (kept >= length) {
			memmove(seen, seen + kept - (length - 1), length - 1);
			kept = length - 1;
		}
	}
	return true;
}

static void look_on(uint64_t ns)
{
	/* No text has this in it. */
	(void)see("\xff\xff", now_ns() + ns);
}

/* --- CPU time --- */

static uint64_t cpu_of(const char *tid)
{
	char path[300];
	unsigned long long ns = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/task/%s/schedstat", child, tid);
	file = fopen(path, "re");
	if (!file || fscanf(file, "%llu", &ns) != 1)
		ns = 0;
	if (file)
		fclose(file);
	return ns;
}

static void cpu_times(uint64_t *ret_first, uint64_t *ret_others)
{
	char path[64];
	DIR *dir;

	*ret_first = *ret_others = 0;
	snprintf(path, sizeof(path), "/proc/%d/task", child);
	dir = opendir(path);
	if (!dir)
		err(1, "%s", path);
	for (struct dirent *entry; (entry = readdir(dir));) {
		if (entry->d_name[0] == '.')
			continue;
		*(atoi(entry->d_name) == child ? ret_first : ret_others) += cpu_of(entry->d_name);
	}
	closedir(dir);
}

static void leave_alone(unsigned seconds)
{
	uint64_t first[2], others[2];

	cpu_times(&first[0], &others[0]);
	look_on(seconds * NS_PER_S);
	cpu_times(&first[1], &others[1]);
	printf("cpu %llu %llu\n", (unsigned long long)(first[1] - first[0]),
	       (unsigned long long)(others[1] - others[0]));
}

/* --- keys --- */

static int compare(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static void press_keys(unsigned keys)
{
	uint64_t *took = calloc(keys, sizeof(*took)), first[2], others;

	if (!took)
		err(1, "memory");
	cpu_times(&first[0], &others);
	for (unsigned i = 0; i < keys; i++) {
		uint64_t pressed;

		look_on((uint64_t)(PAUSE_LEAST + rand() % PAUSE_MORE) * 1000000);
		pressed = now_ns();
		if (write(terminal, "r", 1) != 1)
			err(1, "a key");
		if (!see(i % 2 ? DOWN : UP, pressed + PATIENCE_S * NS_PER_S))
			errx(1, "key %u was not answered for %d s", i, PATIENCE_S);
		took[i] = now_ns() - pressed;
	}
	cpu_times(&first[1], &others);
	qsort(took, keys, sizeof(*took), compare);
	printf("answers %u %llu %llu\n", keys, (unsigned long long)took[keys / 2] / 1000,
	       (unsigned long long)took[keys - 1] / 1000);
	printf("per_key %llu\n", (unsigned long long)(first[1] - first[0]) / keys / 1000);
	free(took);
}

static int echo(void)
{
	struct termios raw;
	bool is_up = false;

	tcgetattr(STDIN_FILENO, &raw);
	cfmakeraw(&raw);
	tcsetattr(STDIN_FILENO, TCSANOW, &raw);
	if (write(STDOUT_FILENO, HEAD, sizeof(HEAD) - 1) < 0)
		return 1;
	for (char key; read(STDIN_FILENO, &key, 1) == 1 && key != 'q';) {
		is_up = !is_up;
		if (write(STDOUT_FILENO, is_up ? UP : DOWN, 3) < 0)
			return 1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	int status;

	if (argc == 2 && strcmp(argv[1], "echo") == 0)
		return echo();
	if (argc < 4 || atoi(argv[1]) < 0 || atoi(argv[2]) < 1)
		errx(2, "usage: key_answer SECONDS KEYS COMMAND...");
	run(argv + 3);
	/* Who looks on is no part of what is measured; not everybody may. */
	(void)setpriority(PRIO_PROCESS, 0, -20);
	if (!see(HEAD, now_ns() + PATIENCE_S * NS_PER_S))
		errx(1, "there is no table");
	/* Its first windows have memory to take. */
	look_on(2 * NS_PER_S);
	leave_alone((unsigned)atoi(argv[1]));
	press_keys((unsigned)atoi(argv[2]));
	if (write(terminal, "q", 1) != 1)
		err(1, "a key");
	/* Who ends has to get rid of what it writes. */
	for (char byte; read(terminal, &byte, 1) > 0;)
		;
	if (waitpid(child, &status, 0) < 0 || !WIFEXITED(status) || WEXITSTATUS(status))
		errx(1, "%s failed", argv[3]);
	return 0;
}
