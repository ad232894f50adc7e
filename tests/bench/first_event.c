/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Measures how long a tool takes from its start to the first event that its BPF program sees:
 *
 *	first_event NAME SIDE COMMAND...
 *
 * starts the command, waits until a program that it has loaded at context switches runs for the
 * first time, prints "NAME SIDE WALL CPU", and ends the command. WALL are the seconds since the
 * fork, CPU is the CPU time of the command's process until then.
 *
 * The kernel counts the runs of programs while its statistics are on; they are switched on here,
 * and the counts are read every millisecond.
 */
#include <bpf/bpf.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "sample.h"

#define WAIT_SECONDS  20
#define LOOK_EVERY_US 1000

static uint32_t last_program(void)
{
	uint32_t id = 0;

	while (bpf_prog_get_next_id(id, &id) == 0)
		;
	return id;
}

/* The names of programs at context switches: of ctprof, the peers and the bench. */
static bool is_of_switches(const char *name)
{
	return strstr(name, "switch");
}

/* Has any program at context switches that was loaded after `id` run? */
static bool has_run(uint32_t id)
{
	while (bpf_prog_get_next_id(id, &id) == 0) {
		struct bpf_prog_info info = { 0 };
		int fd = bpf_prog_get_fd_by_id(id);
		uint32_t bytes = sizeof(info);
		bool ran;

		if (fd < 0)
			continue;
		ran = !bpf_obj_get_info_by_fd(fd, &info, &bytes) && info.run_cnt &&
		      is_of_switches(info.name);
		close(fd);
		if (ran)
			return true;
	}
	return false;
}

static pid_t start(char **command)
{
	pid_t child = fork();
	int null;

	if (child < 0)
		err(1, "fork");
	if (child)
		return child;
	null = open("/dev/null", O_RDWR);
	if (dup2(null, STDOUT_FILENO) < 0 || dup2(null, STDERR_FILENO) < 0)
		_exit(127);
	execvp(command[0], command);
	_exit(127);
}

static double cpu_of(pid_t process)
{
	clockid_t clock;

	if (clock_getcpuclockid(process, &clock))
		return 0;
	return (double)clock_ns(clock) / 1e9;
}

/* SIGKILL, since printing at the end takes a peer longer than its start. */
static void end(pid_t process)
{
	kill(process, SIGKILL);
	waitpid(process, NULL, 0);
}

int main(int argc, char **argv)
{
	uint32_t before = last_program();
	int counting = bpf_enable_stats(BPF_STATS_RUN_TIME);
	struct cost began = cost_now(), took;
	pid_t tool;

	if (argc < 4)
		errx(2, "usage: first_event NAME SIDE COMMAND...");
	if (counting < 0)
		err(1, "statistics of BPF programs");
	tool = start(argv + 3);
	while (!has_run(before)) {
		if (waitpid(tool, NULL, WNOHANG) != 0)
			errx(1, "%s ended", argv[3]);
		if (cost_since(began).wall > WAIT_SECONDS) {
			end(tool);
			errx(1, "%s has seen nothing for %d s", argv[3], WAIT_SECONDS);
		}
		usleep(LOOK_EVERY_US);
	}
	took = cost_since(began);
	printf("%s %s %.6f %.6f\n", argv[1], argv[2], took.wall, cpu_of(tool));
	end(tool);
	return 0;
}
