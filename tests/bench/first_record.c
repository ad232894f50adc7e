/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Starts the task iterator and says "ready" when it has records of threads.
 */
#include <unistd.h>

#include "capture/task_iterator.h"
#include "sample.h"

int main(void)
{
	struct task_iterator *tasks;
	struct task_batch_view batch;

	must(task_iterator_open(&tasks));
	must(task_iterator_begin(tasks, true));
	must(task_iterator_next(tasks, &batch));
	if (!batch.count)
		errx(1, "no threads");
	return write(STDOUT_FILENO, "ready\n", 6) != 6;
}
