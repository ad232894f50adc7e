/* SPDX-License-Identifier: BSD-2-Clause */
#include "doctor/probe_child.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"

static const struct timespec nap = { .tv_nsec = 1000000 };

/* Never returns. `page` is shared with the parent until it is written to. */
static void run_child(volatile char *page, int hold, int ready)
{
	char byte = 0;

	page[0]++;
	nanosleep(&nap, NULL);
	if (write(ready, &byte, 1) == 1)
		while (read(hold, &byte, 1) < 0 && errno == EINTR)
			;
	_exit(0);
}

static struct error *start(volatile char *page, struct probe_child *ret)
{
	int hold[2], ready[2];
	struct error *err = NULL;
	char byte;

	if (pipe2(hold, O_CLOEXEC))
		return error_system(errno, "pipe");
	if (pipe2(ready, O_CLOEXEC)) {
		err = error_system(errno, "pipe");
		close(hold[0]);
		close(hold[1]);
		return err;
	}
	*ret = (struct probe_child){ .pid = fork(), .hold = hold[1] };
	if (ret->pid == 0) {
		close(hold[1]);
		close(ready[0]);
		run_child(page, hold[0], ready[1]);
	}
	if (ret->pid < 0)
		err = error_system(errno, "fork");
	close(hold[0]);
	close(ready[1]);
	if (!err && read(ready[0], &byte, 1) != 1)
		err = error_create("a child of this process died");
	close(ready[0]);
	if (err)
		probe_child_stop(ret);
	return err;
}

struct error *probe_child_start(struct probe_child *ret)
{
	const size_t size = (size_t)sysconf(_SC_PAGESIZE);
	char *page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct error *err;

	if (page == MAP_FAILED)
		return error_system(errno, "mmap");
	page[0] = 1;
	err = start(page, ret);
	munmap(page, size);
	return err;
}

void probe_child_stop(struct probe_child *child)
{
	close(child->hold);
	if (child->pid > 0)
		while (waitpid(child->pid, NULL, 0) < 0 && errno == EINTR)
			;
}
