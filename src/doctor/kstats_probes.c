/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "doctor/examination.h"
#include "kstats/bpf_pins.h"
#include "kstats/bpf_program.h"
#include "kstats/module_recorder.h"

/* Every kernel has it, and none calls it while somebody could ask: so a probe at it costs nobody
 * anything, and nothing is counted. */
#define NEVER_CALLED "kernel_restart"

static struct kstats_spec spec_of(const char *start)
{
	return (struct kstats_spec){ .name = (char *)(uintptr_t) "doctor",
				     .start = (char *)(uintptr_t)start,
				     .is_stopped = true };
}

/* A function measured in this way, and no longer; nothing is pinned. NULL: it works. */
static struct error *try_way(const char *start)
{
	const struct kstats_spec spec = spec_of(start);
	struct kstats_program *program = NULL;
	struct error *err = kstats_program_open(&spec, &program);

	if (!err)
		kstats_program_close(program);
	return err;
}

void look_kernel_functions(struct examination *e, const struct probe *probe, struct finding *ret)
{
	_cleanup_error_ struct error *by_trampoline = try_way("fentry:" NEVER_CALLED);
	_cleanup_error_ struct error *by_kprobe = try_way("kprobe:" NEVER_CALLED);

	(void)e, (void)probe;
	if (!by_trampoline && !by_kprobe)
		find_whole(ret);
	else if (!by_trampoline)
		find_lack(ret, PRESENCE_PARTLY, "by fentry and fexit only: %s", by_kprobe->message);
	else if (!by_kprobe)
		find_lack(ret, PRESENCE_PARTLY, "by kprobes only, which cost more: %s",
			  by_trampoline->message);
	else if (strcmp(by_trampoline->message, by_kprobe->message) == 0)
		find_lack(ret, PRESENCE_NO, "%s", by_kprobe->message);
	else
		find_lack(ret, PRESENCE_NO, "%s; %s", by_trampoline->message, by_kprobe->message);
}

/* Loaded and run with nothing to measure, and the place where metrics stay. */
static struct error *try_bpf(struct examination *e)
{
	const struct kstats_spec spec = spec_of("nothing");
	struct kstats_program *program = NULL;
	_cleanup_close_ int pins = -1;
	struct error *err = kstats_pins_lock(false, &pins);
	struct text known;

	if (!err)
		err = kstats_program_open_empty(&spec, &program);
	if (err)
		return err;
	err = kstats_program_record(program, 1);
	kstats_program_close(program);
	if (!err && pins < 0 && geteuid() != 0)
		return error_coded(EACCES, "metrics are root's alone");
	if (!err && pins < 0 && proc_text(e, "filesystems", &known) &&
	    !memmem(known.bytes, known.length, "\tbpf\n", strlen("\tbpf\n")))
		return error_coded(ENODEV, "this kernel has no file system of BPF");
	return err;
}

void look_kstats_bpf(struct examination *e, const struct probe *probe, struct finding *ret)
{
	_cleanup_error_ struct error *err = try_bpf(e);

	(void)probe;
	if (err)
		find_lack(ret, PRESENCE_NO, "%s", err->message);
	else
		find_whole(ret);
}

static void fclose_guard(FILE **file)
{
	if (*file)
		fclose(*file);
}

/* Is there one for the kernel that runs (depmod(8))? */
static bool is_installed(const char *module)
{
	__attribute__((cleanup(fclose_guard))) FILE *modules = NULL;
	_cleanup_free_ char *path = NULL, *line = NULL;
	struct utsname kernel;
	size_t room = 0;
	ssize_t length;

	if (uname(&kernel))
		return false;
	path = text_print("/lib/modules/%s/modules.dep", kernel.release);
	modules = path ? fopen(path, "re") : NULL;
	while (modules && (length = getline(&line, &room, modules)) > 0) {
		struct text rest = { line, (size_t)length }, file;

		if (text_cut(&rest, ':', &file) &&
		    memmem(file.bytes, file.length, module, strlen(module)))
			return true;
	}
	return false;
}

void look_kstats_module(struct examination *e, const struct probe *probe, struct finding *ret)
{
	_cleanup_close_ int dir = -1;
	_cleanup_error_ struct error *err = kstats_module_open(&dir);

	(void)e, (void)probe;
	if (!err) {
		find_whole(ret);
	} else if (err->errnum != ENOENT) {
		find_lack(ret, PRESENCE_NO, "%s", err->message);
	} else if (is_installed("/kstats.ko")) {
		find_lack(ret, PRESENCE_NO, "kstats.ko is not loaded");
		find_remedy(ret, "functions and tracepoints of the kernel, until the next boot",
			    "modprobe kstats");
	} else {
		find_lack(ret, PRESENCE_NO,
			  "kstats.ko is neither loaded nor installed for this kernel (it is in "
			  "kmod/ of ctprof's source)");
	}
}
