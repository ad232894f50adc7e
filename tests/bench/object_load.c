/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The usual way to load BPF programs: `object_load FILE [MILLISECONDS]` has libbpf open the object
 * and load it, says "ready", and waits for so long before it ends.
 */
#include <bpf/libbpf.h>
#include <err.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	struct bpf_object *object;

	if (argc != 2 && argc != 3)
		errx(2, "usage: object_load FILE [MILLISECONDS]");
	object = bpf_object__open_file(argv[1], NULL);
	if (!object)
		err(1, "%s", argv[1]);
	if (bpf_object__load(object))
		err(1, "loading %s", argv[1]);
	if (write(STDOUT_FILENO, "ready\n", 6) != 6)
		err(1, "standard output");
	if (argc == 3)
		usleep(1000 * (useconds_t)atoi(argv[2]));
	return 0;
}
