/* SPDX-License-Identifier: BSD-2-Clause */
#include "sched/kernel_lock.h"

#include <errno.h>
#include <kernel_lock.lskel.h>
#include <sys/mman.h>

/* Loaded once, and kept until the process ends: at rest it costs nothing. */
static struct kernel_lock_bpf *program;
static const struct kernel_lock *answer; /* shared with the kernel */
static bool was_loaded;

void kernel_lock_load(void)
{
	void *shared;

	if (was_loaded)
		return;
	was_loaded = true;
	program = kernel_lock_bpf__open();
	if (!program || kernel_lock_bpf__load(program))
		return;
	shared = mmap(NULL, sizeof(*answer), PROT_READ | PROT_WRITE, MAP_SHARED,
		      program->maps.answers.map_fd, 0);
	if (shared != MAP_FAILED)
		answer = shared;
}

/* Run it for one thread, which Linux 6.1 can. Before that, it would be for all. */
static bool look(uint32_t tid)
{
	union bpf_iter_link_info one = { .task = { .tid = tid } };
	union bpf_attr attr = { 0 };
	int link, reader;
	char nothing[1];
	ssize_t got = -1;

	attr.link_create.prog_fd = (__u32)program->progs.look.prog_fd;
	attr.link_create.attach_type = BPF_TRACE_ITER;
	attr.link_create.iter_info = (uintptr_t)&one;
	attr.link_create.iter_info_len = sizeof(one);
	link = skel_sys_bpf(BPF_LINK_CREATE, &attr, sizeof(attr));
	if (link < 0)
		return false;
	attr = (union bpf_attr){ 0 };
	attr.iter_create.link_fd = (__u32)link;
	reader = skel_sys_bpf(BPF_ITER_CREATE, &attr, sizeof(attr));
	if (reader >= 0) {
		got = read(reader, nothing, sizeof(nothing));
		close(reader);
	}
	close(link);
	return got == 0;
}

bool kernel_lock_of(uint32_t tid, struct kernel_lock *ret)
{
	kernel_lock_load();
	if (!answer || !look(tid))
		return false;
	*ret = *answer;
	return ret->kind < KERNEL_LOCK_NONE;
}
