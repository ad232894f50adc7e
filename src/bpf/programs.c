/* SPDX-License-Identifier: BSD-2-Clause */
#include "bpf/programs.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "bpf/libbpf_reason.h"

/* --- why a load was denied --- */

static bool file_has(const char *path, const char *what)
{
	char bytes[4096];
	FILE *file = fopen(path, "re");
	const size_t got = file ? fread(bytes, 1, sizeof(bytes) - 1, file) : 0;

	if (file)
		fclose(file);
	bytes[got] = '\0';
	return strstr(bytes, what);
}

/* The capabilities in effect, a bit each. */
static uint64_t capabilities_now(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = { 0 };

	if (syscall(SYS_capget, &header, data))
		return 0;
	return data[0].effective | (uint64_t)data[1].effective << 32;
}

struct error *bpf_programs_denied(void)
{
	static const struct {
		unsigned number;
		const char *name;
	} wanted[] = {
		{ CAP_BPF, "CAP_BPF" },
		{ CAP_PERFMON, "CAP_PERFMON" },
		{ CAP_SYSLOG, "CAP_SYSLOG" },
	};
	uint64_t have = capabilities_now();
	const char *lacking[array_length(wanted)];
	size_t count = 0;

	/* Linux 5.8 divided it, and takes it for its parts (capable() in kernel/bpf/syscall.c). */
	if (have >> CAP_SYS_ADMIN & 1)
		have |= UINT64_C(1) << CAP_BPF | UINT64_C(1) << CAP_PERFMON |
			UINT64_C(1) << CAP_SYSLOG;
	for (size_t i = 0; i < array_length(wanted); i++)
		if (!(have >> wanted[i].number & 1))
			lacking[count++] = wanted[i].name;
	if (count)
		return error_create("denied: needs %s%s%s%s%s", lacking[0], count > 2 ? ", " : "",
				    count > 2 ? lacking[1] : "", count > 1 ? " and " : "",
				    count > 1 ? lacking[count - 1] : "");
	if (file_has("/sys/kernel/security/lockdown", "[confidentiality]"))
		return error_create("denied: the kernel is locked down (lockdown=confidentiality)");
	if (!file_has("/proc/self/uid_map", "4294967295"))
		return error_create("denied: capabilities of a user namespace, as those of a "
				    "container, do not count");
	if (file_has("/proc/self/status", "\nSeccomp:\t2"))
		return error_create("denied: by the seccomp filter of this container or service "
				    "(bpf(2))");
	return error_create("denied, though ctprof has the capabilities: by a security module "
			    "(SELinux, AppArmor) or the container");
}

struct error *bpf_programs_load_error(int failed)
{
	if (access("/sys/kernel/btf/vmlinux", F_OK))
		return error_create(
			"the kernel has no BTF (CONFIG_DEBUG_INFO_BTF), which BPF programs "
			"require; see ctprof doctor");
	if (failed == EPERM)
		return bpf_programs_denied();
	return error_system(failed, "the kernel rejects the BPF programs: %s", libbpf_reason());
}

struct error *bpf_programs_attach(struct bpf_program *program, struct bpf_link **link)
{
	if (bpf_program__fd(program) < 0)
		return NULL;
	*link = bpf_program__attach(program);
	if (!*link)
		return error_system(errno, "cannot attach %s", bpf_program__name(program));
	return NULL;
}

struct error *bpf_programs_iterate(const struct bpf_link *link)
{
	struct error *err = NULL;
	char nothing[64];
	ssize_t got;
	int walk;

	walk = bpf_iter_create(bpf_link__fd(link));
	if (walk < 0)
		return error_system(errno, "the task iterator");
	do
		got = read(walk, nothing, sizeof(nothing));
	while (got > 0 || (got < 0 && (errno == EINTR || errno == EAGAIN)));
	if (got < 0)
		err = error_system(errno, "the task iterator");
	close(walk);
	return err;
}

void bpf_programs_iterate_again(const struct bpf_link *link, uint32_t *unplaced, uint64_t *last)
{
	const uint64_t now = clock_ns(CLOCK_MONOTONIC);

	if (!*unplaced || now - *last < NS_PER_S)
		return;
	*last = now;
	*unplaced = 0;
	/* A task that gets no storage now either was counted when it was lost. */
	error_destroy(bpf_programs_iterate(link));
}

void bpf_programs_cost(const struct bpf_object *object, uint64_t *ret_runs, uint64_t *ret_ns)
{
	struct bpf_program *program;

	*ret_runs = *ret_ns = 0;
	bpf_object__for_each_program(program, object)
	{
		struct bpf_prog_info info = { 0 };
		uint32_t size = sizeof(info);
		int fd = bpf_program__fd(program);

		if (fd < 0 || bpf_obj_get_info_by_fd(fd, &info, &size))
			continue;
		*ret_runs += info.run_cnt;
		*ret_ns += info.run_time_ns;
	}
}

/* Replacing a map in a map waits for the programs that use the old one (maybe_wait_bpf_programs()
 * in kernel/bpf/syscall.c). */
struct error *bpf_programs_wait(void)
{
	LIBBPF_OPTS(bpf_map_create_opts, options);
	_cleanup_close_ int inner = bpf_map_create(BPF_MAP_TYPE_ARRAY, NULL, 4, 4, 1, NULL);
	_cleanup_close_ int outer = -1;
	const __u32 zero = 0;

	if (inner < 0)
		return error_system(errno, "a map");
	options.inner_map_fd = (__u32)inner;
	outer = bpf_map_create(BPF_MAP_TYPE_ARRAY_OF_MAPS, NULL, 4, 4, 1, &options);
	if (outer < 0 || bpf_map_update_elem(outer, &zero, &inner, BPF_ANY))
		return error_system(errno, "a map of maps");
	return NULL;
}

bool bpf_switch_has_state(const struct btf *kernel)
{
	const struct btf_type *type = NULL;
	int id = btf__find_by_name_kind(kernel, "btf_trace_sched_switch", BTF_KIND_TYPEDEF);

	if (id > 0)
		type = btf__type_by_id(kernel, btf__type_by_id(kernel, (__u32)id)->type);
	if (type && btf_is_ptr(type))
		type = btf__type_by_id(kernel, type->type);
	return type && btf_is_func_proto(type) && btf_vlen(type) >= 5;
}
