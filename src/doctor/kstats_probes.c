/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "doctor/probe_run.h"
#include "kstats/bpf_pins.h"
#include "kstats/bpf_program.h"
#include "kstats/module_recorder.h"

/* Every kernel has this function and does not call it while doctor runs, so a probe there has no
 * cost and counts nothing. */
#define NEVER_CALLED "kernel_restart"

static struct kstats_spec spec_of(const char *start)
{
	return (struct kstats_spec){ .name = (char *)(uintptr_t) "doctor",
				     .start = (char *)(uintptr_t)start,
				     .is_stopped = true };
}

/* Attach to a function in this way and detach; pin nothing. Returns NULL if it works. */
static struct error *try_way(const char *start)
{
	const struct kstats_spec spec = spec_of(start);
	struct kstats_program *program = NULL;
	struct error *err = kstats_program_open(&spec, &program);

	if (!err)
		kstats_program_close(program);
	/* A user would look for what is wrong with that one. */
	return err && strstr(err->message, NEVER_CALLED)
		       ? error_prefix(err, "a probe at a function that is never called")
		       : err;
}

void look_kernel_functions(struct probe_run *run, const struct probe *probe,
			   struct probe_result *ret)
{
	_cleanup_error_ struct error *by_trampoline = try_way("fentry:" NEVER_CALLED);
	_cleanup_error_ struct error *by_kprobe = try_way("kprobe:" NEVER_CALLED);

	(void)run, (void)probe;
	if (!by_trampoline && !by_kprobe)
		result_set_present(ret);
	else if (!by_trampoline)
		result_set_lack(ret, PRESENCE_PARTLY, "by fentry and fexit only: %s",
				by_kprobe->message);
	else if (!by_kprobe)
		result_set_lack(ret, PRESENCE_PARTLY, "by kprobes only, which cost more: %s",
				by_trampoline->message);
	else if (strcmp(by_trampoline->message, by_kprobe->message) == 0)
		result_set_lack(ret, PRESENCE_NO, "%s", by_kprobe->message);
	else
		result_set_lack(ret, PRESENCE_NO, "%s; %s", by_trampoline->message,
				by_kprobe->message);
}

/* Load and run a program that measures nothing, and check the directory of pinned metrics. */
static struct error *try_bpf(struct probe_run *run)
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
	if (!err && pins < 0 && proc_text(run, "filesystems", &known) &&
	    !memmem(known.bytes, known.length, "\tbpf\n", strlen("\tbpf\n")))
		return error_coded(ENODEV, "this kernel has no file system of BPF");
	return err;
}

void look_kstats_bpf(struct probe_run *run, const struct probe *probe, struct probe_result *ret)
{
	_cleanup_error_ struct error *err = try_bpf(run);

	(void)probe;
	if (err)
		result_set_lack(ret, PRESENCE_NO, "%s", err->message);
	else
		result_set_present(ret);
}

static void fclose_guard(FILE **file)
{
	if (*file)
		fclose(*file);
}

/* Does depmod(8) list the module for the running kernel? */
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

void look_kstats_module(struct probe_run *run, const struct probe *probe, struct probe_result *ret)
{
	_cleanup_close_ int dir = -1;
	_cleanup_error_ struct error *err = kstats_module_open(&dir);

	(void)run, (void)probe;
	if (!err) {
		result_set_present(ret);
	} else if (err->errnum != ENOENT) {
		result_set_lack(ret, PRESENCE_NO, "%s", err->message);
	} else if (is_installed("/kstats.ko")) {
		result_set_lack(ret, PRESENCE_NO, "kstats.ko is not loaded");
		result_set_remedy(ret,
				  "functions and tracepoints of the kernel, until the next boot",
				  "modprobe kstats");
	} else {
		result_set_lack(
			ret, PRESENCE_NO,
			"kstats.ko is neither loaded nor installed for this kernel (it is in "
			"kmod/ of ctprof's source)");
	}
}
