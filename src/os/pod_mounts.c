/* SPDX-License-Identifier: BSD-2-Clause */
#include "os/pod_mounts.h"

#define DNS_LABEL_MAX  63
#define DNS_DOMAIN_MAX 253

static bool is_label_byte(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
}

static bool is_dns_name(struct text name, size_t most, bool has_dots)
{
	if (!name.length || name.length > most)
		return false;
	for (size_t i = 0; i < name.length; i++)
		if (!is_label_byte(name.bytes[i]) && !(has_dots && name.bytes[i] == '.'))
			return false;
	return true;
}

/* The rest of a path after "/pods/<UID>/". */
static bool below_pod(struct text root, const char *uid, struct text *ret)
{
	struct text segment;
	bool is_pods = false;

	while (text_cut(&root, '/', &segment)) {
		if (is_pods && text_equal(segment, text_of(uid))) {
			*ret = root;
			return true;
		}
		is_pods = text_equal(segment, TEXT("pods"));
	}
	return false;
}

static bool container_of_root(struct text root, const char *uid, struct text *ret)
{
	struct text rest, kind, volume, name, last;

	if (!below_pod(root, uid, &rest) || !text_cut(&rest, '/', &kind))
		return false;
	if (text_equal(kind, TEXT("volume-subpaths"))) {
		if (!text_cut(&rest, '/', &volume))
			return false;
	} else if (!text_equal(kind, TEXT("containers"))) {
		return false;
	}
	if (!text_cut(&rest, '/', &name) || !text_cut(&rest, '/', &last) || rest.length)
		return false;
	if (!is_dns_name(name, DNS_LABEL_MAX, false))
		return false;
	*ret = name;
	return true;
}

bool pod_mounts_container(struct text mountinfo, const char *uid, struct text *ret)
{
	struct text line, root;

	while (text_cut(&mountinfo, '\n', &line)) {
		bool has_root = true;

		for (int field = 0; has_root && field < 4; field++)
			has_root = text_word(&line, &root);
		if (has_root && container_of_root(root, uid, ret))
			return true;
	}
	return false;
}

bool pod_log_directory(struct text directory, const char *uid, struct text *namespace,
		       struct text *pod)
{
	struct text rest = directory, first, second;

	if (!text_cut(&rest, '_', &first) || !text_cut(&rest, '_', &second) ||
	    !text_equal(rest, text_of(uid)))
		return false;
	if (!is_dns_name(first, DNS_LABEL_MAX, false) || !is_dns_name(second, DNS_DOMAIN_MAX, true))
		return false;
	*namespace = first;
	*pod = second;
	return true;
}
