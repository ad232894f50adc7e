/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Three processes whose work is known to the byte: burner takes 1 s of CPU time, writer gives
 * 64 MiB to write(), napper naps 20 times.
 *
 *	workload
 *	    prints "ready BURNER WRITER NAPPER" (their numbers) once all three wait,
 *	    reads a line, lets them work,
 *	    prints "done" once all three wait again, napper in its last nap,
 *	    and ends, they with it, when its input does.
 *
 * Who compares a snapshot taken at "ready" with one taken at "done" finds exactly that work.
 */
#include <err.h>
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SECOND_NS   UINT64_C(1000000000)
#define BURN_NS     SECOND_NS
#define WRITE_BYTES ((size_t)64 << 20)
#define CHUNK_BYTES ((size_t)64 << 10)
#define NAPS        20
#define NAP_NS      (20 * 1000 * 1000)

enum stage { STARTING, WAITING, WORKING, DONE };

struct role {
	const char *name;
	void (*work)(struct role *role);
	int release; /* an eventfd: reading a pipe could block on its lock once more */
	pid_t pid;
	_Atomic enum stage stage;
};

static uint64_t cpu_time_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * SECOND_NS + (uint64_t)now.tv_nsec;
}

static void burn(struct role *role)
{
	uint64_t start = cpu_time_ns();

	while (cpu_time_ns() - start < BURN_NS)
		;
	role->stage = DONE;
}

static void write_file(struct role *role)
{
	static char chunk[CHUNK_BYTES];
	FILE *file = tmpfile();

	if (!file)
		err(1, "temporary file");
	for (size_t left = WRITE_BYTES; left;) {
		ssize_t wrote = write(fileno(file), chunk, CHUNK_BYTES);

		if (wrote <= 0)
			err(1, "temporary file");
		left -= (size_t)wrote;
	}
	fclose(file);
	role->stage = DONE;
}

static void nap(struct role *role)
{
	const struct timespec time = { .tv_nsec = NAP_NS };

	for (unsigned i = 1; i < NAPS; i++)
		nanosleep(&time, NULL);
	role->stage = DONE;
	pause();
}

static void live(struct role *role, pid_t parent)
{
	uint64_t released;

	/* Whatever ends the parent ends this, were it before this line. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	prctl(PR_SET_NAME, role->name);
	role->stage = WAITING;
	if (read(role->release, &released, sizeof(released)) != sizeof(released))
		err(1, "%s", role->name);
	role->stage = WORKING;
	role->work(role);
	for (;;)
		pause();
}

static void start(struct role *role)
{
	pid_t parent = getpid(), pid;

	role->release = eventfd(0, EFD_CLOEXEC);
	if (role->release < 0)
		err(1, "eventfd");
	pid = fork();
	if (pid < 0)
		err(1, "fork");
	if (pid == 0)
		live(role, parent);
	role->pid = pid;
}

static char state_of(pid_t pid)
{
	char path[32], state = '?';
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	file = fopen(path, "r");
	if (!file || fscanf(file, "%*d (%*[a-z]) %c", &state) != 1)
		err(1, "%s", path);
	fclose(file);
	return state;
}

static void await(const struct role *role, enum stage stage)
{
	while (role->stage != stage || state_of(role->pid) != 'S') {
		if (state_of(role->pid) == 'Z')
			errx(1, "%s failed", role->name);
		usleep(1000);
	}
}

int main(void)
{
	static const struct role roles[] = {
		{ .name = "burner", .work = burn },
		{ .name = "writer", .work = write_file },
		{ .name = "napper", .work = nap },
	};
	const size_t count = sizeof(roles) / sizeof(*roles);
	struct role *shared = mmap(NULL, sizeof(roles), PROT_READ | PROT_WRITE,
				   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	char line[16];

	if (shared == MAP_FAILED)
		err(1, "mmap");
	for (size_t i = 0; i < count; i++) {
		shared[i] = roles[i];
		start(&shared[i]);
	}
	for (size_t i = 0; i < count; i++)
		await(&shared[i], WAITING);
	printf("ready %d %d %d\n", (int)shared[0].pid, (int)shared[1].pid, (int)shared[2].pid);
	fflush(stdout);
	if (!fgets(line, sizeof(line), stdin))
		return 1;
	for (size_t i = 0; i < count; i++)
		eventfd_write(shared[i].release, 1);
	for (size_t i = 0; i < count; i++)
		await(&shared[i], DONE);
	printf("done\n");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin))
		;
	for (size_t i = 0; i < count; i++)
		kill(shared[i].pid, SIGKILL);
	while (wait(NULL) > 0)
		;
	return 0;
}
