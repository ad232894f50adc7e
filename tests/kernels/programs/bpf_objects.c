/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Says how many objects of BPF the kernel has, whoever made them: "programs N", "maps N", "links
 * N", "btfs N", a line each. Root only.
 */
#include <errno.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

static const struct {
	const char *name;
	enum bpf_cmd next;
} kinds[] = {
	{ "programs", BPF_PROG_GET_NEXT_ID },
	{ "maps", BPF_MAP_GET_NEXT_ID },
	{ "links", BPF_LINK_GET_NEXT_ID },
	{ "btfs", BPF_BTF_GET_NEXT_ID },
};

/* -1: the kernel does not say. */
static long count(enum bpf_cmd next)
{
	union bpf_attr attr = { .start_id = 0 };
	long found = 0;

	while (syscall(SYS_bpf, next, &attr, sizeof(attr)) == 0) {
		found++;
		attr.start_id = attr.next_id;
	}
	return errno == ENOENT ? found : -1;
}

int main(void)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		long found = count(kinds[i].next);

		if (found < 0) {
			perror(kinds[i].name);
			return 1;
		}
		printf("%s %ld\n", kinds[i].name, found);
	}
	return 0;
}
