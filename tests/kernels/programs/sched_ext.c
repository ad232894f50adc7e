/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sched_ext OBJECT: load a scheduler, say so with a line on standard output, and unload it when
 * SIGTERM comes: it would outlive this process.
 */
#include <bpf/libbpf.h>
#include <err.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static struct bpf_link *attach(struct bpf_object *object)
{
	struct bpf_map *map;

	bpf_object__for_each_map(map, object)
	{
		struct bpf_link *link;

		if (bpf_map__type(map) != BPF_MAP_TYPE_STRUCT_OPS)
			continue;
		link = bpf_map__attach_struct_ops(map);
		if (!link)
			err(1, "%s", bpf_map__name(map));
		return link;
	}
	errx(1, "no scheduler in it");
}

int main(int argc, char **argv)
{
	struct bpf_object *object;
	struct bpf_link *link;
	sigset_t end;
	int number;

	if (argc != 2)
		errx(2, "usage: sched_ext OBJECT");
	sigemptyset(&end);
	sigaddset(&end, SIGTERM);
	sigprocmask(SIG_BLOCK, &end, NULL);
	object = bpf_object__open_file(argv[1], NULL);
	if (!object || bpf_object__load(object))
		err(1, "%s", argv[1]);
	link = attach(object);
	puts("loaded");
	fflush(stdout);
	sigwait(&end, &number);
	bpf_link__destroy(link);
	bpf_object__close(object);
	return 0;
}
