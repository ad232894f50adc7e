/* SPDX-License-Identifier: BSD-2-Clause */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "fuzz.h"

#include "serve/http_guard.h"
#include "serve/http_request.h"
#include "serve/listen.h"
#include "serve/stream.h"

/* Whatever was decoded, the path has one spelling. */
static void check_path(const char *path)
{
	must(path[0] == '/');
	must(!strstr(path, "//") && !strchr(path, '\\') && !strstr(path, "/../") &&
	     !strstr(path, "/./"));
	must(!text_ends(text_of(path), TEXT("/..")) && !text_ends(text_of(path), TEXT("/.")));
}

static void check_target(const char *uri)
{
	struct http_target target;
	struct error *err = http_target_parse(uri, &target);

	if (err) {
		error_destroy(err);
		return;
	}
	check_path(target.path);
	must(target.query.count <= HTTP_PAIRS_MOST);
	for (size_t i = 0; i < target.query.count; i++)
		must(http_target_value(&target, target.query.items[i].name));
	http_target_deinit(&target);
}

static bool is_within(struct text inner, struct text outer)
{
	return !inner.length || (inner.bytes >= outer.bytes &&
				 inner.bytes + inner.length <= outer.bytes + outer.length);
}

static void check_choices(struct text header)
{
	struct text rest = header, value;
	struct http_choice choice;
	size_t count = 0;

	while (http_choice_next(&rest, &choice)) {
		must(++count <= header.length);
		must(choice.weight <= 1000);
		must(is_within(choice.name, header) && is_within(choice.parameters, header));
		must(!http_choice_parameter(&choice, TEXT("version"), &value) ||
		     is_within(value, header));
	}
	must(!rest.length);
}

/* The same header with another name in it is of another host. */
static void check_host(const char *host)
{
	char *longer = text_print("%s.evil.example", host);

	must(longer);
	must(!http_host_is_own(longer));
	if (http_host_is_own(host))
		must(!strpbrk(host, "/@ \t\r\n"));
	free(longer);
}

/* What is accepted is printed as it was, but for zeros at the front. */
static void check_id(const char *id)
{
	struct stream_position position = { .seq = 77 };
	char again[48];

	if (!stream_parse_id(id, &position)) {
		must(!position.generation && position.seq == 77);
		return;
	}
	snprintf(again, sizeof(again), "%" PRIu64 ".%" PRIu64, position.generation, position.seq);
	must(strlen(again) <= strlen(id));
	must(strspn(id, "0123456789.") == strlen(id));
}

static void check_listen(const char *text)
{
	struct listen_address address;
	struct error *err = listen_parse(text, &address);

	if (!err) {
		must(address.path || address.ip.any.sa_family == AF_INET ||
		     address.ip.any.sa_family == AF_INET6);
		must(!address.path || (address.path == text + 5 && address.is_loopback));
	}
	error_destroy(err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *string = malloc(size + 1);
	struct http_source source = { .host = "h:1" };

	must(string);
	memcpy(string, data, size);
	string[size] = '\0';
	check_target(string);
	check_choices((struct text){ string, strlen(string) });
	http_accepts_encoding(string, TEXT("gzip"));
	check_host(string);
	check_id(string);
	check_listen(string);
	source.origin = string;
	if (http_source_is_own(&source, false))
		must(text_ends(text_of(string), TEXT("://h:1")) || strcasestr(string, "://h:1"));
	must(http_token_equals(string, "secret") == !strcmp(string, "secret"));
	must(http_token_equals(string, string));
	http_bearer_token(string);
	free(string);
	return 0;
}
