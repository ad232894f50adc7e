/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/users.h"

#include <pwd.h>

#include "base/utf8.h"
#include "capture/session.h"

struct uids {
	ARRAY(uint32_t);
};

static bool list_uids(const struct ctprof_snapshot *s, struct uids *ret)
{
	for (size_t i = 0; i < s->processes.count; i++) {
		const struct reading *uid = &s->processes.items[i].uid;

		if (uid->measured && !array_push(ret, (uint32_t)uid->value))
			return false;
	}
	ret->count = sort_unique_u32(ret->items, ret->count);
	return true;
}

static void skip_line(FILE *file)
{
	int c;

	while ((c = getc(file)) != EOF && c != '\n')
		;
}

/* The next entry; false at the end. Lines that begin with '+' or '-' refer to NIS. */
static bool next_user(FILE *passwd, struct passwd *entry, char *line, size_t size)
{
	struct passwd *found;
	int failed;

	while ((failed = fgetpwent_r(passwd, entry, line, size, &found)) == 0 || failed == ERANGE) {
		if (failed == ERANGE)
			skip_line(passwd);
		else if (!strchr("+-", entry->pw_name[0]) && utf8_is_valid(text_of(entry->pw_name)))
			return true;
	}
	return false;
}

/* `names` has a place for each uid. */
static bool find_names(struct ctprof_snapshot *s, FILE *passwd, const struct uids *uids,
		       const struct name **names)
{
	char line[USERS_LINE_MAX];
	struct passwd entry;

	while (next_user(passwd, &entry, line, sizeof(line))) {
		uint32_t uid = entry.pw_uid;
		const uint32_t *at =
			bsearch(&uid, uids->items, uids->count, sizeof(uid), compare_u32);

		if (!at || names[at - uids->items])
			continue;
		names[at - uids->items] = snapshot_name(s, text_of(entry.pw_name));
		if (!names[at - uids->items])
			return false;
	}
	return true;
}

static bool add_names(struct ctprof_snapshot *s, const struct uids *uids,
		      const struct name *const *names)
{
	char digits[16];

	for (size_t i = 0; i < uids->count; i++) {
		snprintf(digits, sizeof(digits), "%u", uids->items[i]);
		if (names[i] &&
		    !label_pairs_add(s, &s->users, text_of(digits), name_text(names[i])))
			return false;
	}
	return true;
}

struct error *users_take(struct ctprof_snapshot *s, FILE *passwd)
{
	_cleanup_free_ const struct name **names = NULL;
	struct uids uids = { 0 };
	bool done = list_uids(s, &uids);

	s->users.measured = true;
	if (done && uids.count) {
		names = calloc(uids.count, sizeof(*names));
		done = names && find_names(s, passwd, &uids, names) && add_names(s, &uids, names);
	}
	array_deinit(&uids);
	return done ? NULL : &error_no_memory;
}

struct error *capture_users(struct capture *c)
{
	struct error *err;
	FILE *passwd;

	if (!c->ours)
		return NULL;
	if (capture_is_late(c)) {
		c->counts.not_reached++;
		return NULL;
	}
	passwd = fopen("/etc/passwd", "re");
	if (!passwd) {
		if (!capture_is_absent(errno))
			capture_count(c, FILE_HOST, errno);
		return NULL;
	}
	err = users_take(c->snapshot, passwd);
	fclose(passwd);
	return err;
}
