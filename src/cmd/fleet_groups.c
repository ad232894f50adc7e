/* SPDX-License-Identifier: BSD-2-Clause */
#include "cmd/fleet.h"

#include <string.h>

#include "fleet/groups.h"

void fleet_groups_deinit(struct fleet_groups *groups)
{
	free(groups->label);
	free(groups->first);
	free(groups->second);
	for (size_t i = 0; i < groups->hosts.count; i++)
		free(groups->hosts.items[i]);
	array_deinit(&groups->hosts);
	array_deinit(&groups->in);
}

/* --- what was asked for --- */

static struct error *parse_by(const char *by, struct fleet_groups *groups)
{
	const char *equals = strchr(by, '='), *comma = equals ? strchr(equals, ',') : NULL;

	groups->label = strndup(by, equals ? (size_t)(equals - by) : strlen(by));
	if (!groups->label)
		return &error_no_memory;
	if (!*groups->label || (equals && (!equals[1] || (comma && !comma[1]))))
		return error_create(
			"--by '%.100s': expected LABEL, LABEL=VALUE or LABEL=FIRST,SECOND", by);
	if (comma)
		groups->first = strndup(equals + 1, (size_t)(comma - equals - 1));
	if (equals)
		groups->second = strdup(comma ? comma + 1 : equals + 1);
	return (comma && !groups->first) || (equals && !groups->second) ? &error_no_memory : NULL;
}

/* --- values of hosts --- */

struct value {
	char *host, *value;
};

/* Values of a label, by host. */
struct values {
	ARRAY(struct value);
};

static struct error *add_value(void *context, struct text host, struct text value)
{
	struct values *values = context;
	struct value one = { strndup(host.length ? host.bytes : "", host.length),
			     strndup(value.length ? value.bytes : "", value.length) };

	if (one.host && one.value && array_push(values, one))
		return NULL;
	free(one.host);
	free(one.value);
	return &error_no_memory;
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
				 const char *label, struct values *values)
{
	struct fleet_hosts hosts = { 0 };
	struct error *err;

	if (fleet_is_place(label))
		return fleet_load_places(store, url, label, add_value, values);
	err = fleet_load_hosts(store, url, &hosts);
	for (size_t i = 0; !err && i < hosts.count; i++) {
		const char *value = strcmp(label, "host") == 0
					    ? hosts.items[i].name
					    : fleet_host_label(&hosts.items[i], label);

		if (value)
			err = add_value(values, text_of(hosts.items[i].name), text_of(value));
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

/* "1.4, 1.5, 1.6": those that there are, to be freed. */
static char *all_values(const struct values *values)
{
	char *text = strdup("");

	for (size_t i = 0; text && i < values->count; i++) {
		char *more;
		bool is_new = true;

		for (size_t k = 0; k < i; k++)
			is_new &= strcmp(values->items[k].value, values->items[i].value) != 0;
		if (!is_new || strlen(text) > 200)
			continue;
		more = text_print("%s%s%s", text, *text ? ", " : "", values->items[i].value);
		free(text);
		text = more;
	}
	if (text)
		text_make_safe(text);
	return text;
}

static struct error *no_group(const struct fleet_groups *groups, const struct values *values,
			      const char *why)
{
	_cleanup_free_ char *all = all_values(values);

	if (!all)
		return &error_no_memory;
	if (!*all)
		return error_create("no host of this query has a label '%.60s'; ctprof fleet hosts "
				    "shows those that there are",
				    groups->label);
	return error_create("--by %.60s%s; there are: %s", groups->label, why, all);
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

static size_t place_of(struct fleet_groups *groups, const char *host)
{
	size_t at = 0;

	/* Rows of one host come together. */
	for (at = groups->hosts.count; at && strcmp(groups->hosts.items[at - 1], host) != 0; at--)
		;
	return at ? at - 1 : groups->hosts.count;
}

static struct error *add_host(struct fleet_groups *groups, const char *host, uint8_t group)
{
	const size_t at = place_of(groups, host);
	char *copy;

	if (at < groups->hosts.count) {
		/* One with both values is in the second of "all others", and else in none. */
		if (groups->first && group != groups->in.items[at] && group)
			groups->in.items[at] = groups->in.items[at] ? FLEET_NO_GROUP : group;
		else if (!groups->first && group == FLEET_SECOND)
			groups->in.items[at] = group;
		return NULL;
	}
	copy = strdup(host);
	if (copy && array_reserve(&groups->hosts, 1) && array_push(&groups->in, group)) {
		groups->hosts.items[groups->hosts.count++] = copy;
		return NULL;
	}
	free(copy);
	return &error_no_memory;
}

static struct error *divide(struct fleet_groups *groups, const struct values *values)
{
	struct error *err = NULL;

	for (size_t i = 0; !err && i < values->count; i++) {
		const char *value = values->items[i].value;
		uint8_t group = FLEET_NO_GROUP;

		if (strcmp(value, groups->second) == 0)
			group = FLEET_SECOND;
		else if (!groups->first || strcmp(value, groups->first) == 0)
			group = FLEET_FIRST;
		err = add_host(groups, values->items[i].host, group);
	}
	return err;
}

struct error *fleet_find_groups(struct store *store, const struct store_url *url, const char *by,
				struct fleet_groups *ret)
{
	struct values values = { 0 };
	struct error *err = parse_by(by, ret);

	if (!err)
		err = load_values(store, url, ret->label, &values);
	if (!err && !ret->second)
		err = choose_values(ret, &values);
	else if (!err && !has_value(&values, ret->second))
		err = no_group(ret, &values, " has no such second value");
	else if (!err && ret->first && !has_value(&values, ret->first))
		err = no_group(ret, &values, " has no such first value");
	if (!err)
		err = divide(ret, &values);
	values_deinit(&values);
	return err;
}

struct error *fleet_groups_of(const struct fleet_groups *groups, const struct fleet_data *data,
			      uint8_t **ret)
{
	uint8_t *of = calloc(data->hosts.count + 1, 1);

	if (!of)
		return &error_no_memory;
	for (size_t i = 0; i < groups->hosts.count; i++) {
		const uint32_t host = fleet_data_find_host(data, text_of(groups->hosts.items[i]));

		if (host != FLEET_NONE)
			of[host] = groups->in.items[i];
	}
	*ret = of;
	return NULL;
}

size_t fleet_group_size(const struct fleet_groups *groups, bool second)
{
	size_t count = 0;

	for (size_t i = 0; i < groups->in.count; i++)
		count += groups->in.items[i] == (second ? FLEET_SECOND : FLEET_FIRST);
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

/* Of `most` hosts, spread over all of the group in the order of the store. */
static char *url_of_group(const struct fleet_groups *groups, const char *url, uint8_t group,
			  size_t most)
{
	const size_t size = fleet_group_size(groups, group == FLEET_SECOND);
	size_t number = 0;
	char *text = NULL;

	for (size_t i = 0; i < groups->hosts.count; i++) {
		_cleanup_free_ char *host = NULL;
		char *more;

		if (groups->in.items[i] != group)
			continue;
		number++;
		if (number * most / size == (number - 1) * most / size)
			continue;
		/* The first one replaces those of the URL. */
		if (!text) {
			text = fleet_url_with(
				url, &(struct fleet_parameters){ .host = groups->hosts.items[i] });
			if (!text)
				return NULL;
			continue;
		}
		host = store_url_encode(text_of(groups->hosts.items[i]));
		more = host ? text_print("%s&host=%s", text, host) : NULL;
		free(text);
		if (!more)
			return NULL;
		text = more;
	}
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
