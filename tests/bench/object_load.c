/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The usual way to load a BPF program: `object_load FILE` has libbpf open the object and load it,
 * and says "ready".
 */
#include <bpf/libbpf.h>
#include <err.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	struct bpf_object *object;

	if (argc != 2)
		errx(2, "usage: object_load FILE");
	object = bpf_object__open_file(argv[1], NULL);
	if (!object)
		err(1, "%s", argv[1]);
	if (bpf_object__load(object))
		err(1, "loading %s", argv[1]);
	return write(STDOUT_FILENO, "ready\n", 6) != 6;
}
