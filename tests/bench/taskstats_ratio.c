/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What asking for many threads at once saves: `taskstats_ratio ROUNDS PID...` asks for the threads
 * of these processes in batches, and one at a time, by turns.
 */
#include <errno.h>
#include <fcntl.h>

#include "os/tasks.h"
#include "os/taskstats_socket.h"
#include "sample.h"

static void add_threads(struct tids *all, const char *pid)
{
	_cleanup_free_ char *path = NULL;
	struct tids tids = { 0 };
	int dir;

	if (asprintf(&path, "/proc/%s/task", pid) < 0)
		errx(1, "out of memory");
	dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0 || tasks_list(dir, &tids))
		err(1, "%s", path);
	for (size_t i = 0; i < tids.count; i++)
		if (!array_push(all, tids.items[i]))
			errx(1, "out of memory");
	array_deinit(&tids);
	close(dir);
}

static struct cost ask(struct taskstats_socket *socket, const struct tids *tids, size_t batch)
{
	struct taskstats_reply replies[TASKSTATS_BATCH_MAX];
	struct cost start = cost_now();

	for (size_t done = 0; done < tids->count; done += batch) {
		size_t some = tids->count - done < batch ? tids->count - done : batch;

		taskstats_ask(socket, tids->items + done, some, replies);
		for (size_t i = 0; i < some; i++)
			if ((errno = replies[i].failed))
				err(1, "taskstats of thread %u", replies[i].tid);
	}
	return cost_since(start);
}

int main(int argc, char **argv)
{
	_cleanup_(taskstats_socket_close) struct taskstats_socket *socket = NULL;
	struct tids tids = { 0 };

	if (argc < 3)
		errx(2, "usage: taskstats_ratio ROUNDS PID...");
	for (int i = 2; i < argc; i++)
		add_threads(&tids, argv[i]);
	must(taskstats_socket_open(&socket));
	for (unsigned left = rounds_of(argv[1]); left; left--) {
		sample_print("taskstats", "ours", ask(socket, &tids, TASKSTATS_BATCH_MAX));
		sample_print("taskstats", "reference", ask(socket, &tids, 1));
	}
	array_deinit(&tids);
	return 0;
}
