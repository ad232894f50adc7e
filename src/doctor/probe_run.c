/* SPDX-License-Identifier: BSD-2-Clause */
#include "doctor/probe_run.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#include "base/hex.h"

/* --- results --- */

static void replace(char **at, char *text)
{
	free(*at);
	*at = text;
}

void result_set_present(struct probe_result *result)
{
	result->presence = PRESENCE_YES;
}

/* Without memory there is no text, but the presence is set. */
void result_set_lack(struct probe_result *result, enum presence presence, const char *why, ...)
{
	va_list values;

	result->presence = presence;
	va_start(values, why);
	replace(&result->why, text_print_v(why, values));
	va_end(values);
	/* Users choose the names of cgroups. */
	if (result->why)
		text_make_safe(result->why);
}

void result_set_remedy(struct probe_result *result, const char *covers, const char *command, ...)
{
	va_list values;

	replace(&result->covers, strdup(covers));
	va_start(values, command);
	replace(&result->command, text_print_v(command, values));
	va_end(values);
	/* A command with replaced bytes would act on another file. */
	if (result->command && text_make_safe(result->command)) {
		replace(&result->command, NULL);
		replace(&result->covers, NULL);
	}
}

void result_set_boot_remedy(struct probe_result *result, const char *covers, const char *parameter)
{
	replace(&result->boot, strdup(parameter));
	replace(&result->covers, strdup(covers));
	/* Only for known boot loaders. */
	if (access("/etc/default/grub.d", F_OK) == 0)
		result_set_remedy(result, covers,
				  "echo 'GRUB_CMDLINE_LINUX=\"$GRUB_CMDLINE_LINUX %s\"' >> "
				  "/etc/default/grub.d/ctprof.cfg && update-grub",
				  parameter);
	else if (access("/usr/sbin/grubby", X_OK) == 0)
		result_set_remedy(result, covers, "grubby --update-kernel=ALL --args=%s",
				  parameter);
}

void result_set_not_built(struct probe_run *run, struct probe_result *result, const char *option)
{
	if (kernel_config(run, option) == 0)
		result_set_lack(result, PRESENCE_NO,
				"this kernel was built without CONFIG_%s, and no command adds it",
				option);
	else
		result_set_lack(result, PRESENCE_NO,
				"this kernel lacks it (CONFIG_%s), and no command adds it", option);
}

/* CAP_DAC_READ_SEARCH, CAP_NET_ADMIN, CAP_SYS_PTRACE (include/uapi/linux/capability.h). */
#define WANTED_CAPABILITIES (1u << 2 | 1u << 12 | 1u << 19)
#define WANTED_NAMES        "cap_dac_read_search,cap_net_admin,cap_sys_ptrace"
#define REMEDY_GROUP        "adm" /* by convention, those who monitor the system */

void result_set_privilege_remedy(struct probe_run *run, struct probe_result *result)
{
	/* setcap replaces all capabilities of a file, so this command sets those of all remedies.
	 * Only a group may execute the file, since its capabilities give access to all processes;
	 * root owns it, since the owner could change its mode. setcap is last: chown clears
	 * capabilities. */
	const char *bpf = has_capabilities(run, "CapBnd:", BPF_CAPABILITIES) ? "," BPF_NAMES : "";
	_cleanup_free_ char *self = NULL;
	struct text path;

	/* A file with capabilities outside the bounding set cannot be executed. */
	if (!has_capabilities(run, "CapBnd:", WANTED_CAPABILITIES)) {
		replace(&result->why,
			strdup("denied, and this container or service may not have what it needs: "
			       "CAP_DAC_READ_SEARCH, CAP_NET_ADMIN, CAP_SYS_PTRACE (and for BPF "
			       "CAP_BPF, CAP_PERFMON, CAP_SYSLOG)"));
		return;
	}
	if (!file_readlink(run->proc, "self/exe", &run->buffer, &path))
		self = text_quoted(path);
	if (!self)
		self = strdup("ctprof");
	if (!self)
		return;
	result_set_remedy(
		result,
		"what ctprof shows of the processes of all users (command lines, files, memory "
		"use, stacks), for members of group " REMEDY_GROUP
		"; afterwards run doctor again as one of them",
		"chown root:" REMEDY_GROUP " %s && chmod 0750 %s && setcap " WANTED_NAMES
		"%s+ep %s",
		self, self, bpf, self);
}

/* --- facts --- */

bool child_has(const struct probe_run *run, enum metric_id metric)
{
	return metric_set_has(&run->child->record.measured, metric);
}

uint64_t child_value(const struct probe_run *run, enum metric_id metric)
{
	return metric_load_u64(&run->child->record.values, &metrics[metric]);
}

uint64_t refused(const struct probe_run *run, const char *source)
{
	const struct count *found = counts_find(&run->snapshot->capture->denied, text_of(source));

	return found ? found->value : 0;
}

bool proc_text(struct probe_run *run, const char *path, struct text *ret)
{
	struct text bytes;

	if (file_read(run->proc, path, &run->buffer, &bytes))
		return false;
	*ret = text_trim(bytes);
	return true;
}

/* Debian, Fedora and others install the configuration in /boot. */
int kernel_config(struct probe_run *run, const char *option)
{
	char path[128], set[64], unset[80];
	struct utsname names;
	struct text bytes, line;

	uname(&names);
	snprintf(path, sizeof(path), "/boot/config-%s", names.release);
	snprintf(set, sizeof(set), "CONFIG_%s=y", option);
	snprintf(unset, sizeof(unset), "# CONFIG_%s is not set", option);
	if (file_read(AT_FDCWD, path, &run->buffer, &bytes))
		return -1;
	while (text_cut(&bytes, '\n', &line)) {
		if (text_equal(line, text_of(set)))
			return 1;
		if (text_equal(line, text_of(unset)))
			return 0;
	}
	return -1;
}

bool has_capabilities(struct probe_run *run, const char *set, uint64_t wanted)
{
	const struct text key = text_of(set);
	struct text status, line;
	uint64_t held = 0;

	if (!proc_text(run, "self/status", &status))
		return false;
	while (text_cut(&status, '\n', &line)) {
		if (!text_starts(line, key))
			continue;
		for (size_t i = key.length; i < line.length; i++)
			if (hex_digit(line.bytes[i]) >= 0)
				held = held << 4 | (uint64_t)hex_digit(line.bytes[i]);
	}
	return (held & wanted) == wanted;
}

bool is_first_namespace(const char *name, unsigned long inode)
{
	char path[64];
	struct stat status;

	snprintf(path, sizeof(path), "/proc/self/ns/%s", name);
	return stat(path, &status) || status.st_ino == inode;
}
