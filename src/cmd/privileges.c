/* SPDX-License-Identifier: BSD-2-Clause */
#include "cmd/privileges.h"

#include <errno.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/array.h"

/* Newer than some headers. */
#ifndef CAP_CHECKPOINT_RESTORE
#define CAP_CHECKPOINT_RESTORE 40
#endif

#define BIT(capability) (1ull << (capability))

static void free_capabilities(cap_t capabilities)
{
	cap_free(capabilities);
}
DEFINE_CLEANUP(free_capabilities, cap_t)

/* --- dropping --- */

static const struct {
	enum privilege_use use;
	uint64_t capabilities;
} uses_of[] = {
	{ PRIVILEGE_GROW_MAPS, BIT(CAP_BPF) },
	{ PRIVILEGE_NAME_USER,
	  BIT(CAP_SYS_PTRACE) | BIT(CAP_DAC_READ_SEARCH) | BIT(CAP_CHECKPOINT_RESTORE) },
	{ PRIVILEGE_NAME_KERNEL, BIT(CAP_SYSLOG) },
	{ PRIVILEGE_WRITE_FILES, BIT(CAP_DAC_OVERRIDE) },
};

/* The sets of the calling thread, with nothing but these of what it has. */
static int limit(uint64_t kept)
{
	_cleanup_(free_capabilities) cap_t now = cap_get_proc(), next = cap_init();

	if (!now || !next)
		return errno;
	for (cap_value_t each = 0; each < 64; each++) {
		cap_flag_value_t is_had = CAP_CLEAR;

		if (!(kept >> each & 1) || cap_get_flag(now, each, CAP_PERMITTED, &is_had) ||
		    is_had != CAP_SET)
			continue;
		if (cap_set_flag(next, CAP_PERMITTED, 1, &each, CAP_SET) ||
		    cap_set_flag(next, CAP_EFFECTIVE, 1, &each, CAP_SET))
			return errno;
	}
	return cap_set_proc(next) ? errno : 0;
}

/* Only who has CAP_SETPCAP may; who does not have it cannot get more by this set alone. */
static void limit_bounds(uint64_t kept)
{
	for (cap_value_t each = 0; each < 64; each++)
		if (!(kept >> each & 1) && cap_get_bound(each) == 1)
			cap_drop_bound(each);
}

/* Does this kernel let nobody call bpf(2) without the capability, whatever for? Asked with a map
 * that does not exist, which is looked for after that. */
static bool is_bpf_closed(void)
{
	union bpf_attr attr = { .map_fd = (uint32_t)-1 };

	return syscall(SYS_bpf, BPF_MAP_LOOKUP_ELEM, &attr, sizeof(attr)) < 0 && errno == EPERM;
}

/* Would bpf(2) be closed to us without this capability? It is lowered for a moment. */
static bool is_needed_for_bpf(cap_value_t capability)
{
	_cleanup_(free_capabilities) cap_t now = cap_get_proc(), without = cap_get_proc();
	const cap_value_t lowered[] = { capability, CAP_SYS_ADMIN };
	bool needed;

	if (!now || !without ||
	    cap_set_flag(without, CAP_EFFECTIVE, array_length(lowered), lowered, CAP_CLEAR) ||
	    cap_set_proc(without))
		return true;
	needed = is_bpf_closed();
	return cap_set_proc(now) || needed;
}

static bool has(cap_value_t capability)
{
	_cleanup_(free_capabilities) cap_t now = cap_get_proc();
	cap_flag_value_t value = CAP_CLEAR;

	return now && !cap_get_flag(now, capability, CAP_PERMITTED, &value) && value == CAP_SET;
}

static uint64_t capabilities_for(unsigned uses)
{
	uint64_t kept = 0;

	for (size_t i = 0; i < array_length(uses_of); i++)
		if (uses & uses_of[i].use)
			kept |= uses_of[i].capabilities;
	if (uses & PRIVILEGE_READ_MAPS && is_needed_for_bpf(CAP_BPF))
		kept |= BIT(CAP_BPF);
	/* CAP_SYS_ADMIN stands for CAP_BPF where that is not had, or not known. */
	if (kept & BIT(CAP_BPF) && !has(CAP_BPF))
		kept |= BIT(CAP_SYS_ADMIN);
	/* The same for CAP_CHECKPOINT_RESTORE (Linux 5.9) is not worth it. */
	return kept;
}

struct error *privileges_keep(unsigned uses)
{
	const uint64_t kept = capabilities_for(uses);
	int failed;

	limit_bounds(kept);
	/* Kernels before 4.3 have no ambient set. */
	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	failed = limit(kept);
	if (failed)
		return error_system(failed, "cannot drop privileges");
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return error_system(errno, "cannot drop privileges");
	return NULL;
}

/* --- what is missing --- */

static const struct {
	cap_value_t capability;
	const char *name, *file_name;
	const char *use;
	bool by_admin; /* CAP_SYS_ADMIN will do */
	bool is_new;   /* without it, where the kernel does not know it, that is asked for */
} wanted[] = {
	{ CAP_BPF, "CAP_BPF", "cap_bpf", "to load programs into the kernel", true, true },
	{ CAP_PERFMON, "CAP_PERFMON", "cap_perfmon", "to attach them", true, true },
	{ CAP_SYSLOG, "CAP_SYSLOG", "cap_syslog", "to name kernel functions", false, false },
	{ CAP_SYS_PTRACE, "CAP_SYS_PTRACE", "cap_sys_ptrace",
	  "to name functions of other users' programs", false, false },
	{ CAP_DAC_READ_SEARCH, "CAP_DAC_READ_SEARCH", "cap_dac_read_search", "to read their files",
	  false, false },
};

/* The list of what is missing; false when that is nothing. */
static bool list_missing(FILE *stream, uint64_t capabilities, bool has_bpf)
{
	const bool is_admin = capabilities & BIT(CAP_SYS_ADMIN);
	unsigned missing = 0;

	if (!has_bpf && !is_admin)
		missing += fprintf(stream, "CAP_SYS_ADMIN (to load programs into the kernel)") > 0;
	for (size_t i = 0; i < array_length(wanted); i++) {
		if (capabilities & BIT(wanted[i].capability) || (is_admin && wanted[i].by_admin) ||
		    (!has_bpf && wanted[i].is_new))
			continue;
		fprintf(stream, "%s%s (%s)", missing++ ? ", " : "", wanted[i].name, wanted[i].use);
	}
	return missing;
}

/* Capabilities of a file are set all at once. */
static void say_remedy(FILE *stream, bool has_bpf)
{
	fprintf(stream, " missing; run it as root, or once as root: setcap %s",
		has_bpf ? "" : "cap_sys_admin,");
	for (size_t i = 0; i < array_length(wanted); i++)
		if (has_bpf || !wanted[i].is_new)
			fprintf(stream, "%s%s", wanted[i].file_name,
				i + 1 < array_length(wanted) ? "," : "=ep /path/to/ctprof");
}

char *privileges_missing_of(uint64_t capabilities, bool has_bpf)
{
	char *sentence = NULL;
	size_t length;
	FILE *stream = open_memstream(&sentence, &length);
	bool is_missing;

	if (!stream)
		return NULL;
	is_missing = list_missing(stream, capabilities, has_bpf);
	say_remedy(stream, has_bpf);
	if (fclose(stream) || !is_missing) {
		free(sentence);
		return NULL;
	}
	return sentence;
}

char *privileges_missing(void)
{
	_cleanup_(free_capabilities) cap_t now = cap_get_proc();
	uint64_t capabilities = 0;

	for (cap_value_t each = 0; now && each < 64; each++) {
		cap_flag_value_t value = CAP_CLEAR;

		if (!cap_get_flag(now, each, CAP_EFFECTIVE, &value) && value == CAP_SET)
			capabilities |= BIT(each);
	}
	return privileges_missing_of(capabilities, CAP_IS_SUPPORTED(CAP_BPF));
}
