/* SPDX-License-Identifier: BSD-2-Clause */
#include "store/sql.h"

#include <stdio.h>
#include <string.h>

#include "base/percent.h"

static void add_bytes(struct sql *sql, const char *bytes, size_t length)
{
	if (!array_reserve(&sql->text, length)) {
		sql->has_failed = true;
		return;
	}
	memcpy(sql->text.items + sql->text.count, bytes, length);
	sql->text.count += length;
}

void sql_add(struct sql *sql, const char *format, ...)
{
	_cleanup_free_ char *text = NULL;
	va_list values;

	va_start(values, format);
	text = text_print_v(format, values);
	va_end(values);
	if (text)
		add_bytes(sql, text, strlen(text));
	else
		sql->has_failed = true;
}

void sql_put_identifier(FILE *out, const char *name)
{
	fputc('`', out);
	for (; *name; name++) {
		if (*name == '`' || *name == '\\')
			fputc('\\', out);
		fputc(*name, out);
	}
	fputc('`', out);
}

void sql_put_bytes(FILE *out, struct text bytes)
{
	fputs("unhex('", out);
	for (size_t i = 0; i < bytes.length; i++)
		fprintf(out, "%02x", (unsigned char)bytes.bytes[i]);
	fputs("')", out);
}

/* --- values --- */

struct sql_bytes {
	ARRAY(char);
};

static bool put(struct sql_bytes *bytes, const char *text)
{
	const size_t length = strlen(text);

	if (!array_reserve(bytes, length))
		return false;
	memcpy(bytes->items + bytes->count, text, length);
	bytes->count += length;
	return true;
}

/* Values of parameters are read as TabSeparated: deserializeTextEscaped(),
 * src/Interpreters/ReplaceQueryParameterVisitor.cpp. */
static bool escape(struct sql_bytes *bytes, struct text value)
{
	static const struct {
		char byte;
		const char *escaped;
	} escapes[] = { { '\\', "\\\\" }, { '\t', "\\t" }, { '\n', "\\n" },
			{ '\r', "\\r" },  { '\0', "\\0" }, { '\'', "\\'" } };

	for (size_t i = 0; i < value.length; i++) {
		char plain[2] = { value.bytes[i], '\0' };
		const char *written = plain;

		for (size_t k = 0; k < array_length(escapes); k++)
			if (escapes[k].byte == value.bytes[i])
				written = escapes[k].escaped;
		if (!put(bytes, written))
			return false;
	}
	return true;
}

/* The number of the parameter that has this value; the number of all: none has. */
static unsigned find_parameter(const struct sql *sql, struct text encoded)
{
	struct text rest = { sql->parameters.items, sql->parameters.count }, parameter, name;

	/* Before the first & is nothing. */
	for (unsigned i = 0; text_cut(&rest, '&', &parameter); i++)
		if (text_cut(&parameter, '=', &name) && i && text_equal(parameter, encoded))
			return i - 1;
	return sql->parameter_count;
}

static bool put_parameter(struct sql *sql, const char *encoded)
{
	_cleanup_free_ char *parameter = text_print("&param_p%u=%s", sql->parameter_count, encoded);
	const size_t length = parameter ? strlen(parameter) : 0;

	if (!parameter || !array_reserve(&sql->parameters, length))
		return false;
	memcpy(sql->parameters.items + sql->parameters.count, parameter, length);
	sql->parameters.count += length;
	sql->parameter_count++;
	return true;
}

/* Values that a query has several times, as in each part of a time, are sent once. */
static bool add_parameter(struct sql *sql, struct text value)
{
	_cleanup_free_ char *encoded = NULL;
	struct sql_bytes escaped = { 0 };
	unsigned number;

	if (escape(&escaped, value))
		encoded = percent_encode((struct text){ escaped.items, escaped.count });
	array_deinit(&escaped);
	if (!encoded)
		return false;
	number = find_parameter(sql, text_of(encoded));
	if (number == sql->parameter_count && !put_parameter(sql, encoded))
		return false;
	sql_add(sql, "{p%u:String}", number);
	return true;
}

static bool add_digits(struct sql *sql, struct text value)
{
	_cleanup_free_ char *digits = NULL;
	size_t length;
	FILE *out = open_memstream(&digits, &length);

	if (!out)
		return false;
	sql_put_bytes(out, value);
	if (fclose(out) != 0)
		return false;
	add_bytes(sql, digits, length);
	return true;
}

void sql_add_value(struct sql *sql, struct text value)
{
	if (!(sql->has_parameters ? add_parameter(sql, value) : add_digits(sql, value)))
		sql->has_failed = true;
}

/* --- globs --- */

enum glob_form { GLOB_LITERAL, GLOB_LIKE, GLOB_REGEX };

static enum glob_form form_of(const char *glob)
{
	return strchr(glob, '[') ? GLOB_REGEX : strpbrk(glob, "*?\\") ? GLOB_LIKE : GLOB_LITERAL;
}

/* For LIKE: % is any bytes, _ any character, and a backslash takes their meaning. */
static bool put_like(struct sql_bytes *bytes, char c, bool is_escaped)
{
	char escaped[3] = { '\\', c, '\0' };

	if (!is_escaped && c == '*')
		return put(bytes, "%");
	if (!is_escaped && c == '?')
		return put(bytes, "_");
	return put(bytes, strchr("%_\\", c) ? escaped : escaped + 1);
}

static bool put_literal(struct sql_bytes *bytes, char c)
{
	char escaped[3] = { '\\', c, '\0' };

	return put(bytes, strchr("\\.+*?()|[]{}^$-&", c) ? escaped : escaped + 1);
}

/* Of "[!a-f_]", at the bracket: returns its end. pattern_check() has found that there is one. */
static const char *put_class(struct sql_bytes *bytes, const char *at, bool *ok)
{
	bool is_first = true;

	*ok &= put(bytes, "[");
	at++;
	if (*at == '!' || *at == '^') {
		*ok &= put(bytes, "^");
		at++;
	}
	for (; *at && (*at != ']' || is_first); at++, is_first = false) {
		if (*at == '\\' && at[1])
			*ok &= put_literal(bytes, *++at);
		else
			*ok &= *at == '-' ? put(bytes, "-") : put_literal(bytes, *at);
	}
	*ok &= put(bytes, "]");
	return at;
}

static bool put_regex(struct sql_bytes *bytes, const char *glob)
{
	bool ok = put(bytes, "^(?s:");

	for (const char *at = glob; *at && ok; at++) {
		if (*at == '[')
			at = put_class(bytes, at, &ok);
		else if (*at == '*')
			ok &= put(bytes, ".*");
		else if (*at == '?')
			ok &= put(bytes, ".");
		else if (*at == '\\' && at[1])
			ok &= put_literal(bytes, *++at);
		else
			ok &= put_literal(bytes, *at);
		if (!*at)
			break;
	}
	return ok && put(bytes, ")$");
}

static bool put_pattern(struct sql_bytes *bytes, const char *glob, enum glob_form form)
{
	if (form == GLOB_LITERAL)
		return put(bytes, glob);
	if (form == GLOB_REGEX)
		return put_regex(bytes, glob);
	for (const char *at = glob; *at; at++) {
		const bool is_escaped = *at == '\\' && at[1];

		at += is_escaped;
		if (!put_like(bytes, *at, is_escaped))
			return false;
	}
	return true;
}

static void add_glob(struct sql *sql, const char *column, const char *glob)
{
	const enum glob_form form = form_of(glob);
	struct sql_bytes pattern = { 0 };

	if (!put_pattern(&pattern, glob, form))
		sql->has_failed = true;
	sql_add(sql,
		form == GLOB_LITERAL ? "%s = "
		: form == GLOB_LIKE  ? "%s LIKE "
				     : "match(%s, ",
		column);
	sql_add_value(sql, (struct text){ pattern.items, pattern.count });
	if (form == GLOB_REGEX)
		sql_add(sql, ")");
	array_deinit(&pattern);
}

void sql_add_globs(struct sql *sql, const char *column, char *const *globs, size_t count)
{
	sql_add(sql, "(");
	for (size_t i = 0; i < count; i++) {
		if (i)
			sql_add(sql, " OR ");
		add_glob(sql, column, globs[i]);
	}
	sql_add(sql, count ? ")" : "1)");
}

/* --- selections --- */

static bool is_first_of_name(const struct store_url *url, size_t label)
{
	for (size_t i = 0; i < label; i++)
		if (strcmp(url->labels.items[i].name, url->labels.items[label].name) == 0)
			return false;
	return true;
}

const struct sql_fact sql_facts[SQL_FACTS] = { { "kernel", "kernel" },
					       { "arch", "arch" },
					       { "cpu_model", "cpu_model" },
					       { "agent", "version" } };

const char *sql_fact_column(const char *name)
{
	for (size_t i = 0; i < SQL_FACTS; i++)
		if (strcmp(sql_facts[i].name, name) == 0)
			return sql_facts[i].column;
	return NULL;
}

/* "(v = ... OR v LIKE ...)": all values of this label in the URL. */
static void add_values(struct sql *sql, const struct store_url *url, size_t label,
		       const char *value)
{
	const char *name = url->labels.items[label].name, *separator = "(";

	for (size_t i = label; i < url->labels.count; i++) {
		if (strcmp(url->labels.items[i].name, name) != 0)
			continue;
		sql_add(sql, "%s", separator);
		add_glob(sql, value, url->labels.items[i].glob);
		separator = " OR ";
	}
	sql_add(sql, ")");
}

/* A label of the configuration comes before a fact of the same name. */
static void add_label(struct sql *sql, const struct store_url *url, size_t label, bool has_facts)
{
	const char *name = url->labels.items[label].name, *fact = sql_fact_column(name);

	sql_add(sql, " AND %s IN (SELECT %s FROM hosts WHERE ",
		has_facts ? "(host, facts)" : "host", has_facts ? "host, facts" : "host");
	if (fact) {
		sql_add(sql, "(NOT has(label_names, ");
		sql_add_value(sql, text_of(name));
		sql_add(sql, ") AND ");
		add_values(sql, url, label, fact);
		sql_add(sql, ") OR ");
	}
	sql_add(sql, "arrayExists((n, v) -> n = ");
	sql_add_value(sql, text_of(name));
	sql_add(sql, " AND ");
	add_values(sql, url, label, "v");
	sql_add(sql, ", label_names, label_values))");
}

void sql_add_selection(struct sql *sql, const struct store_url *url, unsigned selectors)
{
	for (size_t i = 0; i < STORE_SELECTORS; i++) {
		if (!(selectors & (1u << i)) || !url->globs[i].count)
			continue;
		sql_add(sql, " AND ");
		sql_add_globs(sql, store_selector_names[i], url->globs[i].items,
			      url->globs[i].count);
	}
	for (size_t i = 0; i < url->labels.count; i++)
		if (is_first_of_name(url, i))
			add_label(sql, url, i, selectors & SQL_HAS_FACTS);
}

char *sql_text(const struct sql *sql)
{
	return sql->has_failed || !sql->text.count ? NULL
						   : strndup(sql->text.items, sql->text.count);
}

void sql_deinit(struct sql *sql)
{
	array_deinit(&sql->text);
	array_deinit(&sql->parameters);
	*sql = (struct sql){ 0 };
}
