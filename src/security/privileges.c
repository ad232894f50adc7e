/* SPDX-License-Identifier: BSD-2-Clause */
#include "security/privileges.h"

#include <errno.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/array.h"
#include "base/file.h"
#include "base/handover.h"
#include "base/text.h"

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

/* --- which capabilities a use needs --- */

static const struct {
	enum privilege_use use;
	uint64_t capabilities;
} uses_of[] = {
	{ PRIVILEGE_LOAD_PROGRAMS,
	  BIT(CAP_BPF) | BIT(CAP_PERFMON) | BIT(CAP_IPC_LOCK) | BIT(CAP_SYS_RESOURCE) },
	{ PRIVILEGE_GROW_MAPS, BIT(CAP_BPF) },
	{ PRIVILEGE_READ_PROCESSES,
	  BIT(CAP_SYS_PTRACE) | BIT(CAP_DAC_READ_SEARCH) | BIT(CAP_CHECKPOINT_RESTORE) },
	{ PRIVILEGE_TASKSTATS, BIT(CAP_NET_ADMIN) },
	{ PRIVILEGE_NAME_KERNEL, BIT(CAP_SYSLOG) },
	{ PRIVILEGE_WRITE_FILES, BIT(CAP_DAC_OVERRIDE) | BIT(CAP_FOWNER) },
	{ PRIVILEGE_MOUNT, BIT(CAP_SYS_ADMIN) },
	{ PRIVILEGE_READ_FILES, BIT(CAP_DAC_READ_SEARCH) },
	{ PRIVILEGE_COUNT_COST, BIT(CAP_SYS_ADMIN) },
	{ PRIVILEGE_PROBE_FILES, BIT(CAP_SYS_ADMIN) },
};

static bool flag_of(cap_t capabilities, cap_value_t which, cap_flag_t set)
{
	cap_flag_value_t value = CAP_CLEAR;

	return !cap_get_flag(capabilities, which, set, &value) && value == CAP_SET;
}

/* Does this kernel refuse all calls of bpf(2) without the capability? Use a map that does not
 * exist: the kernel checks the capability first. */
static bool is_bpf_closed(void)
{
	union bpf_attr attr = { .map_fd = (uint32_t)-1 };

	return syscall(SYS_bpf, BPF_MAP_LOOKUP_ELEM, &attr, sizeof(attr)) < 0 && errno == EPERM;
}

/* Does this kernel open no perf event that is for all processes? Debian's require CAP_SYS_ADMIN
 * while the sysctl kernel.perf_event_paranoid is 3, its default there. */
static bool is_perf_closed(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_DUMMY,
	};
	int event = (int)syscall(SYS_perf_event_open, &attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);

	if (event >= 0)
		close(event);
	return event < 0 && (errno == EACCES || errno == EPERM);
}

/* Would something be closed to us without this capability? It is lowered for a moment. */
static bool is_needed(cap_value_t capability, bool (*is_closed)(void))
{
	_cleanup_(free_capabilities) cap_t now = cap_get_proc(), without = cap_get_proc();
	const cap_value_t lowered[] = { capability, CAP_SYS_ADMIN };
	bool needed;

	if (!now || !without ||
	    cap_set_flag(without, CAP_EFFECTIVE, array_length(lowered), lowered, CAP_CLEAR) ||
	    cap_set_proc(without))
		return true;
	needed = is_closed();
	return cap_set_proc(now) || needed;
}

static bool has_capability(cap_value_t capability)
{
	_cleanup_(free_capabilities) cap_t now = cap_get_proc();

	return now && flag_of(now, capability, CAP_PERMITTED);
}

static uint64_t capabilities_for(unsigned uses)
{
	uint64_t kept = 0;

	for (size_t i = 0; i < array_length(uses_of); i++)
		if (uses & uses_of[i].use)
			kept |= uses_of[i].capabilities;
	if (uses & PRIVILEGE_READ_MAPS && is_needed(CAP_BPF, is_bpf_closed))
		kept |= BIT(CAP_BPF);
	if (uses & PRIVILEGE_LOAD_PROGRAMS && is_needed(CAP_SYS_ADMIN, is_perf_closed))
		kept |= BIT(CAP_SYS_ADMIN);
	if (uses & PRIVILEGE_WRITE_FILES && handover_has_begun())
		kept |= BIT(CAP_CHOWN);
	/* CAP_SYS_ADMIN includes CAP_BPF and CAP_PERFMON where these are missing or unknown to the
	 * kernel. For CAP_CHECKPOINT_RESTORE (Linux 5.9) alone it is not kept. */
	if (kept & BIT(CAP_BPF) && !has_capability(CAP_BPF))
		kept |= BIT(CAP_SYS_ADMIN);
	return kept;
}

/* --- privileges from exec --- */

/* Set once, before there are threads. */
static bool is_from_exec;

bool privileges_are_from_exec(void)
{
	return is_from_exec;
}

/* AT_SECURE is set for a file with capabilities or with the set-user-ID bit. The capabilities are
 * compared too, for a kernel or emulator may not set it. */
static bool has_more_than_its_user(cap_t now)
{
	if (getauxval(AT_SECURE))
		return true;
	for (cap_value_t each = 0; each < 64 && getuid() != 0; each++)
		if (flag_of(now, each, CAP_PERMITTED) && cap_get_ambient(each) != CAP_SET)
			return true;
	return false;
}

/* Undo a set-user-ID or set-group-ID file. PR_SET_KEEPCAPS preserves the permitted set. */
static int become_real_user(void)
{
	const uid_t uid = getuid();
	const gid_t gid = getgid();

	if (geteuid() == uid && getegid() == gid)
		return 0;
	if (prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) || setresgid(gid, gid, gid) ||
	    setresuid(uid, uid, uid))
		return errno;
	return prctl(PR_SET_KEEPCAPS, 0, 0, 0, 0) ? errno : 0;
}

/* HOME is not among them: ncurses reads terminal descriptions there. */
static const char *const kept_variables[] = {
	"COLUMNS",  "LANG", "LC_ALL", "LC_CTYPE", "LINES",
	"NO_COLOR", "PATH", "TERM",   "TZ",       "XDG_CONFIG_HOME",
};

static char **given_environment;

char **privileges_environment(void)
{
	return given_environment ? given_environment : environ;
}

static bool is_kept(const char *variable)
{
	for (size_t i = 0; i < array_length(kept_variables); i++) {
		const size_t length = strlen(kept_variables[i]);

		if (strncmp(variable, kept_variables[i], length) == 0 && variable[length] == '=')
			return true;
	}
	return false;
}

static int limit_environment(void)
{
	const char *home = getenv("HOME");
	const bool has_config = getenv("XDG_CONFIG_HOME");
	_cleanup_free_ char *config = NULL;
	size_t count = 0, kept = 0;
	char **limited;

	while (environ && environ[count])
		count++;
	limited = calloc(count + 1, sizeof(*limited));
	if (!limited)
		return ENOMEM;
	for (size_t i = 0; i < count; i++)
		if (is_kept(environ[i]))
			limited[kept++] = environ[i];
	given_environment = environ;
	environ = limited;
	/* Needed to find presets. */
	if (has_config || !home)
		return 0;
	if (asprintf(&config, "%s/.config", home) < 0)
		return ENOMEM;
	return setenv("XDG_CONFIG_HOME", config, 1) ? errno : 0;
}

/* Determine the user of sudo, who gets the files that root creates. Only for root: any user can run
 * a program with privileges from exec, with any environment. */
static void look_for_sudo(void)
{
	const char *user = getenv("SUDO_UID"), *group = getenv("SUDO_GID");
	uint32_t uid, gid;

	if (is_from_exec || getuid() || geteuid() || !user || !group ||
	    !text_u32(text_of(user), &uid) || !text_u32(text_of(group), &gid) || !uid ||
	    uid == UINT32_MAX || gid == UINT32_MAX)
		return;
	handover_begin(uid, gid);
}

static int clear_effective(cap_t now)
{
	return cap_clear_flag(now, CAP_EFFECTIVE) || cap_set_proc(now) ? errno : 0;
}

struct error *privileges_begin(void)
{
	_cleanup_(free_capabilities) cap_t now = cap_get_proc();
	int failed;

	if (!now)
		return error_system(errno, "cannot read capabilities");
	is_from_exec = has_more_than_its_user(now);
	look_for_sudo();
	if (!is_from_exec)
		return NULL;
	failed = become_real_user();
	if (!failed)
		failed = clear_effective(now);
	if (!failed)
		failed = limit_environment();
	return failed ? error_system(failed, "cannot lower privileges") : NULL;
}

bool privileges_raise(void)
{
	_cleanup_(free_capabilities) cap_t now = is_from_exec ? cap_get_proc() : NULL;
	bool was_raised = false;

	for (cap_value_t each = 0; now && each < 64; each++) {
		if (!flag_of(now, each, CAP_PERMITTED) || flag_of(now, each, CAP_EFFECTIVE))
			continue;
		was_raised |= !cap_set_flag(now, CAP_EFFECTIVE, 1, &each, CAP_SET);
	}
	return was_raised && !cap_set_proc(now);
}

/* Going on with privileges in effect would open paths of the user with them. */
void privileges_lower(bool was_raised)
{
	_cleanup_(free_capabilities) cap_t now = was_raised ? cap_get_proc() : NULL;

	if (was_raised && (!now || clear_effective(now)))
		abort();
}

/* --- dropping --- */

/* Limit the permitted and effective sets of the calling thread to these. */
static int limit_sets(uint64_t kept)
{
	_cleanup_(free_capabilities) cap_t now = cap_get_proc(), next = cap_init();

	if (!now || !next)
		return errno;
	for (cap_value_t each = 0; each < 64; each++) {
		if (!(kept >> each & 1) || !flag_of(now, each, CAP_PERMITTED))
			continue;
		if (cap_set_flag(next, CAP_PERMITTED, 1, &each, CAP_SET) ||
		    (flag_of(now, each, CAP_EFFECTIVE) &&
		     cap_set_flag(next, CAP_EFFECTIVE, 1, &each, CAP_SET)))
			return errno;
	}
	return cap_set_proc(next) ? errno : 0;
}

/* Requires CAP_SETPCAP. A thread without it cannot gain a capability by this set alone. */
static void limit_bounds(uint64_t kept)
{
	for (cap_value_t each = 0; each < 64; each++)
		if (!(kept >> each & 1) && cap_get_bound(each) == 1)
			cap_drop_bound(each);
}

struct error *privileges_keep(unsigned uses)
{
	const bool was_raised = privileges_raise();
	const uint64_t kept =
		capabilities_for(is_from_exec ? uses & ~(unsigned)PRIVILEGE_WRITE_FILES : uses);
	int failed;

	limit_bounds(kept);
	/* Kernels before 4.3 have no ambient set. */
	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	failed = limit_sets(kept);
	privileges_lower(was_raised);
	if (!failed && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		failed = errno;
	return failed ? error_system(failed, "cannot drop privileges") : NULL;
}

int privileges_keep_in_thread(unsigned uses)
{
	return limit_sets(capabilities_for(uses));
}

struct error *privileges_keep_for_files(void)
{
	return privileges_keep(is_from_exec ? 0 : PRIVILEGE_READ_FILES | PRIVILEGE_WRITE_FILES);
}

/* --- what is missing --- */

bool privileges_are_held(enum privilege_use use)
{
	_cleanup_(free_capabilities) cap_t now = cap_get_proc();
	const uint64_t wanted = capabilities_for(use);

	for (cap_value_t each = 0; each < 64; each++)
		if (wanted >> each & 1 && (!now || !flag_of(now, each, CAP_PERMITTED)))
			return false;
	return true;
}

static const struct {
	cap_value_t capability;
	const char *name;
	const char *use;
	bool by_admin; /* CAP_SYS_ADMIN will do */
	bool is_new;   /* without it, where the kernel does not know it, that is asked for */
} wanted[] = {
	{ CAP_BPF, "CAP_BPF", "to load programs into the kernel", true, true },
	{ CAP_PERFMON, "CAP_PERFMON", "to attach them", true, true },
	{ CAP_SYSLOG, "CAP_SYSLOG", "to name kernel functions", false, false },
	{ CAP_SYS_PTRACE, "CAP_SYS_PTRACE", "to name functions of other users' programs", false,
	  false },
	{ CAP_DAC_READ_SEARCH, "CAP_DAC_READ_SEARCH", "to read their files", false, false },
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

char *privileges_missing_of(uint64_t capabilities, bool has_bpf)
{
	char *sentence = NULL;
	size_t length;
	FILE *stream = open_memstream(&sentence, &length);
	bool is_missing;

	if (!stream)
		return NULL;
	is_missing = list_missing(stream, capabilities, has_bpf);
	fputs(" missing; run as root, or grant them to a group (see 'ctprof doctor')", stream);
	if (!file_close_memory(stream, &sentence) || !is_missing) {
		free(sentence);
		return NULL;
	}
	return sentence;
}

char *privileges_missing(void)
{
	_cleanup_(free_capabilities) cap_t now = cap_get_proc();
	uint64_t capabilities = 0;

	for (cap_value_t each = 0; now && each < 64; each++)
		if (flag_of(now, each, CAP_PERMITTED))
			capabilities |= BIT(each);
	return privileges_missing_of(capabilities, CAP_IS_SUPPORTED(CAP_BPF));
}
