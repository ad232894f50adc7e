/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sched_ext OBJECT: load a scheduler, say so with a line on standard output, and stay: it goes when
 * this process does.
 */
#include <bpf/libbpf.h>
#include <err.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	struct bpf_object *object;
	struct bpf_map *map;

	if (argc != 2)
		errx(2, "usage: sched_ext OBJECT");
	object = bpf_object__open_file(argv[1], NULL);
	if (!object || bpf_object__load(object))
		err(1, "%s", argv[1]);
	bpf_object__for_each_map(map, object)
	{
		if (bpf_map__type(map) == BPF_MAP_TYPE_STRUCT_OPS &&
		    !bpf_map__attach_struct_ops(map))
			err(1, "%s", bpf_map__name(map));
	}
	puts("loaded");
	fflush(stdout);
	for (;;)
		pause();
}
