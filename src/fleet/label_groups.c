/* SPDX-License-Identifier: BSD-2-Clause */
#include "fleet/label_groups.h"

#include <string.h>

#include "base/file.h"
#include "base/glob.h"
#include "base/percent.h"
#include "fleet/cgroup_labels.h"
#include "fleet/hosts.h"
#include "fleet/query_url.h"
#include "store/no_rows.h"

static void member_deinit(struct fleet_member *member)
{
	free(member->host);
	free(member->value);
}

void fleet_groups_deinit(struct fleet_groups *groups)
{
	free(groups->label);
	free(groups->first);
	free(groups->second);
	for (size_t i = 0; i < groups->members.count; i++)
		member_deinit(&groups->members.items[i]);
	array_deinit(&groups->members);
}

/* --- what was asked for --- */

/* A copy of a part of --by, in which bytes may be written as %XX, as in URLs. */
static struct error *decode(const char *by, const char *part, size_t length, char **ret)
{
	*ret = strndup(part, length);
	if (!*ret)
		return &error_no_memory;
	if (!percent_decode(*ret, false))
		return error_create(
			"--by '%.100s': expected two hexadecimal digits after %%: write "
			"%%25 for %% itself, and %%2C for a comma in a value",
			by);
	return NULL;
}

struct error *fleet_groups_parse(const char *by, struct fleet_groups *groups)
{
	const char *equals = strchr(by, '='), *comma = equals ? strchr(equals, ',') : NULL;
	const char *second = comma ? comma + 1 : equals ? equals + 1 : NULL;
	struct error *err =
		decode(by, by, equals ? (size_t)(equals - by) : strlen(by), &groups->label);

	if (err)
		return err;
	if (!*groups->label || (second && !*second) || (comma && comma == equals + 1))
		return error_create(
			"--by '%.100s': expected LABEL, LABEL=VALUE or LABEL=FIRST,SECOND", by);
	if (comma && strchr(comma + 1, ','))
		return error_create("--by '%.100s': more than two values; write a comma in a value "
				    "as %%2C",
				    by);
	if (comma)
		err = decode(by, equals + 1, (size_t)(comma - equals - 1), &groups->first);
	if (!err && second)
		err = decode(by, second, strlen(second), &groups->second);
	if (err)
		return err;
	if (comma && strcmp(groups->first, groups->second) == 0)
		return error_create("--by '%.100s': both values are the same", by);
	return NULL;
}

/* --- values of hosts --- */

struct value {
	char *host, *value;
	uint64_t facts;
};

/* Values of a label, by host and facts. */
struct values {
	ARRAY(struct value);
};

static struct error *add_value(struct values *values, struct text host, uint64_t facts,
			       struct text value)
{
	struct value one = { strndup(host.length ? host.bytes : "", host.length),
			     strndup(value.length ? value.bytes : "", value.length), facts };

	if (one.host && one.value && array_push(values, one))
		return NULL;
	free(one.host);
	free(one.value);
	return &error_no_memory;
}

static struct error *add_cgroup_label(void *context, struct text host, struct text value)
{
	return add_value(context, host, 0, value);
}

static void values_deinit(struct values *values)
{
	for (size_t i = 0; i < values->count; i++) {
		free(values->items[i].host);
		free(values->items[i].value);
	}
	array_deinit(values);
}

static struct error *load_values(struct store *store, const struct store_url *url,
				 struct fleet_groups *groups, struct values *values)
{
	const bool by_host = strcmp(groups->label, "host") == 0;
	struct fleet_hosts hosts = { 0 };
	struct error *err;

	if (fleet_is_cgroup_label(groups->label))
		return fleet_load_cgroup_labels(store, url, groups->label, add_cgroup_label,
						values);
	groups->by_facts = !by_host;
	err = by_host ? fleet_load_hosts(store, url, &hosts) : fleet_load_facts(store, url, &hosts);
	if (!err && !hosts.count)
		err = store_nothing(store, url, "loads");
	for (size_t i = 0; !err && i < hosts.count; i++) {
		const struct fleet_host *host = &hosts.items[i];
		const char *value = by_host ? host->name : fleet_host_label(host, groups->label);

		if (value)
			err = add_value(values, text_of(host->name), by_host ? 0 : host->facts,
					text_of(value));
	}
	fleet_hosts_deinit(&hosts);
	return err;
}

/* --- groups of these --- */

static bool has_value(const struct values *values, const char *wanted)
{
	for (size_t i = 0; i < values->count; i++)
		if (strcmp(values->items[i].value, wanted) == 0)
			return true;
	return false;
}

static bool has_text(const char *const *items, size_t count, const char *text)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(items[i], text) == 0)
			return true;
	return false;
}

/* A value as --by takes it, to be freed; NULL: no memory. */
static char *encode_value(const char *value)
{
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	if (!out)
		return NULL;
	for (const char *at = value; *at; at++)
		if (*at == ',' || *at == '%')
			fprintf(out, "%%%02X", (unsigned char)*at);
		else
			fputc(*at, out);
	return file_close_memory(out, &text) ? text : NULL;
}

/* "1.4, 1.5, 1.6": those that there are, each once, until the text is long enough; to be freed. */
static char *all_values(const struct values *values)
{
	struct {
		ARRAY(const char *);
	} seen = { 0 };
	char *text = strdup("");
	bool is_cut = false;

	for (size_t i = 0; text && !is_cut && i < values->count; i++) {
		const char *value = values->items[i].value;
		_cleanup_free_ char *encoded = encode_value(value);
		char *more = NULL;

		if (has_text(seen.items, seen.count, value))
			continue;
		is_cut = strlen(text) > 200;
		if (is_cut)
			more = text_print("%s, ...", text);
		else if (encoded && array_push(&seen, value))
			more = text_print("%s%s%.40s", text, seen.count > 1 ? ", " : "",
					  *encoded ? encoded : "\"\"");
		free(text);
		text = more;
	}
	array_deinit(&seen);
	if (text)
		text_make_safe(text);
	return text;
}

static struct error *no_group(const struct fleet_groups *groups, const struct values *values,
			      const char *why)
{
	_cleanup_free_ char *all = all_values(values);

	return all ? error_create("--by %.60s%s; there are: %s", groups->label, why, all)
		   : &error_no_memory;
}

static struct error *no_value(const struct fleet_groups *groups, const struct values *values,
			      const char *value)
{
	_cleanup_free_ char *why = text_print(": no host has the value '%.60s'", value);

	return why ? no_group(groups, values, why) : &error_no_memory;
}

/* Without values the label must have two, of which the second is the later by name. */
static struct error *choose_values(struct fleet_groups *groups, const struct values *values)
{
	const char *first = NULL, *second = NULL;

	for (size_t i = 0; i < values->count; i++) {
		const char *value = values->items[i].value;

		if (!first || strcmp(value, first) == 0)
			first = value;
		else if (!second || strcmp(value, second) == 0)
			second = value;
		else
			return no_group(groups, values, "=FIRST,SECOND is needed");
	}
	if (!second)
		return no_group(groups, values, " has no two values");
	if (strverscmp(first, second) > 0) {
		const char *before = first;

		first = second;
		second = before;
	}
	groups->first = strdup(first);
	groups->second = strdup(second);
	return groups->first && groups->second ? NULL : &error_no_memory;
}

/* By host, and by facts. */
static int compare_members(const void *a, const void *b)
{
	const struct fleet_member *x = a, *y = b;
	const int order = strcmp(x->host, y->host);

	return order ? order : (x->facts > y->facts) - (x->facts < y->facts);
}

/* One that has both values at once is in the second of "all others", and else in none. */
static uint8_t both_groups(const struct fleet_groups *groups, uint8_t one, uint8_t other)
{
	if (one == other || other == FLEET_NO_GROUP)
		return one;
	if (one == FLEET_NO_GROUP)
		return other;
	return groups->first ? FLEET_NO_GROUP : FLEET_SECOND;
}

static void join_members(struct fleet_groups *groups)
{
	size_t count = 0;

	qsort(groups->members.items, groups->members.count, sizeof(*groups->members.items),
	      compare_members);
	for (size_t i = 0; i < groups->members.count; i++) {
		struct fleet_member *member = &groups->members.items[i];
		struct fleet_member *last = count ? &groups->members.items[count - 1] : NULL;

		if (last && compare_members(last, member) == 0) {
			last->group = both_groups(groups, last->group, member->group);
			member_deinit(member);
		} else {
			groups->members.items[count++] = *member;
		}
	}
	groups->members.count = count;
}

static struct error *divide(struct fleet_groups *groups, const struct values *values)
{
	for (size_t i = 0; i < values->count; i++) {
		const struct value *value = &values->items[i];
		struct fleet_member member = { .host = strdup(value->host),
					       .value = strdup(value->value),
					       .facts = value->facts };

		if (strcmp(value->value, groups->second) == 0)
			member.group = FLEET_SECOND;
		else if (!groups->first || strcmp(value->value, groups->first) == 0)
			member.group = FLEET_FIRST;
		if (!member.host || !member.value || !array_push(&groups->members, member)) {
			member_deinit(&member);
			return &error_no_memory;
		}
	}
	join_members(groups);
	return NULL;
}

struct error *fleet_find_groups(struct store *store, const struct store_url *url,
				struct fleet_groups *groups)
{
	struct values values = { 0 };
	struct error *err = load_values(store, url, groups, &values);

	if (!err && !values.count)
		err = store_no_label(store, url, groups->label);
	else if (!err && !groups->second)
		err = choose_values(groups, &values);
	else if (!err && !has_value(&values, groups->second))
		err = no_value(groups, &values, groups->second);
	else if (!err && groups->first && !has_value(&values, groups->first))
		err = no_value(groups, &values, groups->first);
	if (!err)
		err = divide(groups, &values);
	values_deinit(&values);
	return err;
}

static uint8_t part_of(const void *context, struct text host, uint64_t facts)
{
	const struct fleet_groups *groups = context;
	_cleanup_free_ char *name = strndup(host.length ? host.bytes : "", host.length);
	const struct fleet_member key = { .host = name, .facts = facts };
	const struct fleet_member *member =
		name ? bsearch(&key, groups->members.items, groups->members.count, sizeof(key),
			       compare_members)
		     : NULL;

	return member ? member->group : FLEET_NO_PART;
}

const struct fleet_parts *fleet_groups_parts(const struct fleet_groups *groups,
					     struct fleet_parts *ret)
{
	*ret = (struct fleet_parts){ part_of, groups };
	return groups->by_facts ? ret : NULL;
}

struct error *fleet_groups_of(const struct fleet_groups *groups, const struct fleet_data *data,
			      uint8_t **ret)
{
	uint8_t *of = calloc(data->hosts.count + 1, 1);

	if (!of)
		return &error_no_memory;
	for (size_t i = 0; groups->by_facts && i < data->hosts.count; i++)
		of[i] = fleet_part_of_name(name_text(data->hosts.items[i]));
	for (size_t i = 0; !groups->by_facts && i < groups->members.count; i++) {
		const struct fleet_member *member = &groups->members.items[i];
		const uint32_t host = fleet_data_find_host(data, text_of(member->host));

		if (host != FLEET_NONE)
			of[host] = member->group;
	}
	*ret = of;
	return NULL;
}

/* The members of a host come together, one for each of its facts. Is it the first of its host in
 * the group? */
static bool is_first_member(const struct fleet_groups *groups, size_t at)
{
	const struct fleet_member *items = groups->members.items;

	for (size_t i = at; i > 0 && strcmp(items[i - 1].host, items[at].host) == 0; i--)
		if (items[i - 1].group == items[at].group)
			return false;
	return true;
}

size_t fleet_group_size(const struct fleet_groups *groups, bool second)
{
	const uint8_t group = second ? FLEET_SECOND : FLEET_FIRST;
	size_t count = 0;

	for (size_t i = 0; i < groups->members.count; i++)
		count += groups->members.items[i].group == group && is_first_member(groups, i);
	return count;
}

char *fleet_group_name(const struct fleet_groups *groups, bool second)
{
	char *name = !second && !groups->first
			     ? text_print("all others")
			     : text_print("%s %s", groups->label,
					  second ? groups->second : groups->first);

	if (name)
		text_make_safe(name);
	return name;
}

/* --- queries of groups --- */

/* How many hosts a query may name beside its other values. */
#define HOSTS_OF_URL ((size_t)STORE_URL_VALUES_MAX / 2)

/* What the query of a group selects: some of its hosts, at equal distances in the order of their
 * names, and the values that the label of these has in the group. The members own the texts. */
struct selected {
	struct {
		ARRAY(const char *);
	} hosts, values;
};

static void selected_deinit(struct selected *selected)
{
	array_deinit(&selected->hosts);
	array_deinit(&selected->values);
}

static bool select_members(const struct fleet_groups *groups, uint8_t group, size_t most,
			   struct selected *selected)
{
	const size_t size = fleet_group_size(groups, group == FLEET_SECOND);
	size_t number = 0;
	bool is_taken = false;

	for (size_t i = 0; i < groups->members.count; i++) {
		const struct fleet_member *member = &groups->members.items[i];

		if (member->group != group)
			continue;
		if (is_first_member(groups, i)) {
			number++;
			is_taken = number * most / size != (number - 1) * most / size;
			if (is_taken && !array_push(&selected->hosts, member->host))
				return false;
		}
		if (is_taken && groups->by_facts &&
		    !has_text(selected->values.items, selected->values.count, member->value) &&
		    !array_push(&selected->values, member->value))
			return false;
	}
	return true;
}

/* "NAME=PATTERN" behind the URL. */
static bool add_parameter(char **url, const char *name, const char *value)
{
	_cleanup_free_ char *encoded_name = percent_encode(text_of(name));
	_cleanup_free_ char *pattern = pattern_of_text(value);
	_cleanup_free_ char *encoded = pattern ? percent_encode(text_of(pattern)) : NULL;
	char *more = encoded_name && encoded ? text_print("%s&%s=%s", *url, encoded_name, encoded)
					     : NULL;

	free(*url);
	*url = more;
	return more;
}

/* The first of each replaces those of the URL. */
static char *url_of_selected(const char *url, const char *label, const struct selected *selected)
{
	const bool has_label = selected->values.count;
	char *text = fleet_url_with(
		url, &(struct fleet_parameters){ .host = selected->hosts.items[0],
						 .label_name = has_label ? label : NULL,
						 .label = has_label ? selected->values.items[0]
								    : NULL });
	bool ok = text;

	for (size_t i = 1; ok && i < selected->values.count; i++)
		ok = add_parameter(&text, label, selected->values.items[i]);
	for (size_t i = 1; ok && i < selected->hosts.count; i++)
		ok = add_parameter(&text, "host", selected->hosts.items[i]);
	return text;
}

/* The query for `most` hosts of the group, which has at least so many. */
static char *url_of_group(const struct fleet_groups *groups, const char *url, uint8_t group,
			  size_t most)
{
	_cleanup_free_ char *label = text_print("label.%s", groups->label);
	struct selected selected = { 0 };
	char *text = NULL;

	if (label && select_members(groups, group, most, &selected))
		text = url_of_selected(url, label, &selected);
	selected_deinit(&selected);
	return text;
}

struct error *fleet_group_urls(const struct fleet_groups *groups, const char *url, size_t *ret_most,
			       char **ret_first, char **ret_second)
{
	const size_t first = fleet_group_size(groups, false);
	const size_t second = fleet_group_size(groups, true);
	size_t most = first < second ? first : second;

	if (!most)
		return error_create("no host is in the %s group", first ? "second" : "first");
	if (most > HOSTS_OF_URL)
		most = HOSTS_OF_URL;
	*ret_most = most;
	*ret_first = url_of_group(groups, url, FLEET_FIRST, most);
	*ret_second = url_of_group(groups, url, FLEET_SECOND, most);
	return *ret_first && *ret_second ? NULL : &error_no_memory;
}
