/* SPDX-License-Identifier: BSD-2-Clause */
#include "empty_walk.h"

#include <err.h>
#include <errno.h>
#include <unistd.h>

#include "empty_walk.lskel.h"

static struct empty_walk_bpf *program;
static int walk = -1;

void empty_walk_open(void)
{
	program = empty_walk_bpf__open();
	if (!program || empty_walk_bpf__load(program) || empty_walk_bpf__walk__attach(program) < 0)
		err(1, "the empty iterator of tasks");
}

void empty_walk_begin(void)
{
	union bpf_attr attr = { 0 };

	attr.iter_create.link_fd = (__u32)program->links.walk_fd;
	walk = skel_sys_bpf(BPF_ITER_CREATE, &attr, sizeof(attr));
	if (walk < 0)
		err(1, "the empty iterator of tasks");
}

/* read(2) fails with EAGAIN after it has passed very many threads without output. */
void empty_walk_run(void)
{
	char nothing[1];

	while (read(walk, nothing, sizeof(nothing)) < 0)
		if (errno != EAGAIN && errno != EINTR)
			err(1, "the empty iterator of tasks");
	close(walk);
	walk = -1;
}

struct task_iterator_cost empty_walk_cost(void)
{
	struct bpf_prog_info info = { 0 };
	union bpf_attr attr = { 0 };

	attr.info.bpf_fd = (__u32)program->progs.walk.prog_fd;
	attr.info.info_len = sizeof(info);
	attr.info.info = (uint64_t)(uintptr_t)&info;
	if (skel_sys_bpf(BPF_OBJ_GET_INFO_BY_FD, &attr, sizeof(attr)) < 0)
		err(1, "statistics of the empty iterator");
	return (struct task_iterator_cost){ .runs = info.run_cnt, .ns = info.run_time_ns };
}

void empty_walk_close(void)
{
	empty_walk_bpf__destroy(program);
	program = NULL;
}
