/* SPDX-License-Identifier: BSD-2-Clause */
#include "doctor/examination.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#include "base/hex.h"

/* --- findings --- */

static void replace(char **at, char *text)
{
	free(*at);
	*at = text;
}

void find_whole(struct finding *finding)
{
	finding->presence = PRESENCE_YES;
}

/* Without memory there is no text, and the presence still says what matters. */
void find_lack(struct finding *finding, enum presence presence, const char *why, ...)
{
	va_list values;

	finding->presence = presence;
	va_start(values, why);
	replace(&finding->why, text_print_v(why, values));
	va_end(values);
	/* Names of cgroups are chosen by users. */
	if (finding->why)
		text_make_safe(finding->why);
}

void find_remedy(struct finding *finding, const char *covers, const char *command, ...)
{
	va_list values;

	replace(&finding->covers, strdup(covers));
	va_start(values, command);
	replace(&finding->command, text_print_v(command, values));
	va_end(values);
	/* Changed it would be of something else. */
	if (finding->command && text_make_safe(finding->command)) {
		replace(&finding->command, NULL);
		replace(&finding->covers, NULL);
	}
}

void find_boot_remedy(struct finding *finding, const char *covers, const char *parameter)
{
	replace(&finding->boot, strdup(parameter));
	replace(&finding->covers, strdup(covers));
	/* Where the boot loader is one that we know. */
	if (access("/etc/default/grub.d", F_OK) == 0)
		find_remedy(finding, covers,
			    "echo 'GRUB_CMDLINE_LINUX=\"$GRUB_CMDLINE_LINUX %s\"' >> "
			    "/etc/default/grub.d/ctprof.cfg && update-grub",
			    parameter);
	else if (access("/usr/sbin/grubby", X_OK) == 0)
		find_remedy(finding, covers, "grubby --update-kernel=ALL --args=%s", parameter);
}

void find_not_built(struct examination *e, struct finding *finding, const char *option)
{
	if (kernel_config(e, option) == 0)
		find_lack(finding, PRESENCE_NO,
			  "this kernel was built without CONFIG_%s, and no command adds it",
			  option);
	else
		find_lack(finding, PRESENCE_NO,
			  "this kernel lacks it (CONFIG_%s), and no command adds it", option);
}

char *shell_quoted(struct text text)
{
	char *quoted = malloc(text.length * 4 + 3), *at = quoted;

	if (!quoted)
		return NULL;
	*at++ = '\'';
	for (size_t i = 0; i < text.length; i++) {
		if (text.bytes[i] == '\'')
			at = stpcpy(at, "'\\''");
		else
			*at++ = text.bytes[i];
	}
	*at++ = '\'';
	*at = '\0';
	return quoted;
}

/* CAP_DAC_READ_SEARCH, CAP_NET_ADMIN, CAP_SYS_PTRACE (include/uapi/linux/capability.h). */
#define WANTED_CAPABILITIES (1u << 2 | 1u << 12 | 1u << 19)
#define WANTED_NAMES        "cap_dac_read_search,cap_net_admin,cap_sys_ptrace"
#define REMEDY_GROUP        "adm" /* by convention, those who monitor the system */

void find_privilege_remedy(struct examination *e, struct finding *finding)
{
	/* Capabilities of a file are set all at once, so one command has those of all remedies.
	 * Only a group may execute it, for the capabilities show everything about all processes;
	 * and it is root's, for its owner could let everybody execute it. They come last, since
	 * chown clears them. */
	const char *bpf = has_capabilities(e, "CapBnd:", BPF_CAPABILITIES) ? "," BPF_NAMES : "";
	_cleanup_free_ char *self = NULL;
	struct text path;

	/* A file with capabilities that may not be had cannot be run at all. */
	if (!has_capabilities(e, "CapBnd:", WANTED_CAPABILITIES)) {
		replace(&finding->why,
			strdup("denied, and this container or service may not have what it needs: "
			       "CAP_DAC_READ_SEARCH, CAP_NET_ADMIN, CAP_SYS_PTRACE (and for BPF "
			       "CAP_BPF, CAP_PERFMON, CAP_SYSLOG)"));
		return;
	}
	if (!file_readlink(e->proc, "self/exe", &e->buffer, &path))
		self = shell_quoted(path);
	if (!self)
		self = strdup("ctprof");
	if (!self)
		return;
	find_remedy(finding,
		    "what ctprof shows of the processes of all users (command lines, files, memory "
		    "use, stacks), for members of group " REMEDY_GROUP
		    "; afterwards run doctor again as one of them",
		    "chown root:" REMEDY_GROUP " %s && chmod 0750 %s && setcap " WANTED_NAMES
		    "%s+ep %s",
		    self, self, bpf, self);
}

/* --- facts --- */

bool kid_has(const struct examination *e, enum metric_id metric)
{
	return metric_set_has(&e->kid->record.measured, metric);
}

uint64_t kid_value(const struct examination *e, enum metric_id metric)
{
	return metric_load_u64(&e->kid->record.values, &metrics[metric]);
}

uint64_t refused(const struct examination *e, const char *source)
{
	const struct count *found = counts_find(&e->snapshot->capture->denied, text_of(source));

	return found ? found->value : 0;
}

bool proc_text(struct examination *e, const char *path, struct text *ret)
{
	struct text bytes;

	if (file_read(e->proc, path, &e->buffer, &bytes))
		return false;
	*ret = text_trim(bytes);
	return true;
}

/* Debian, Fedora and others put it there. */
int kernel_config(struct examination *e, const char *option)
{
	char path[128], set[64], unset[80];
	struct utsname names;
	struct text bytes, line;

	uname(&names);
	snprintf(path, sizeof(path), "/boot/config-%s", names.release);
	snprintf(set, sizeof(set), "CONFIG_%s=y", option);
	snprintf(unset, sizeof(unset), "# CONFIG_%s is not set", option);
	if (file_read(AT_FDCWD, path, &e->buffer, &bytes))
		return -1;
	while (text_cut(&bytes, '\n', &line)) {
		if (text_equal(line, text_of(set)))
			return 1;
		if (text_equal(line, text_of(unset)))
			return 0;
	}
	return -1;
}

bool has_capabilities(struct examination *e, const char *set, uint64_t wanted)
{
	const struct text key = text_of(set);
	struct text status, line;
	uint64_t held = 0;

	if (!proc_text(e, "self/status", &status))
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
