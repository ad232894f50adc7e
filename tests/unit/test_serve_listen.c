/* SPDX-License-Identifier: BSD-2-Clause */
#include "serve/listen.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "serve/stream.h"
#include "unit/unit.h"

TEST(addresses)
{
	static const struct {
		const char *text, *host;
		unsigned port;
		bool is_loopback;
	} rows[] = {
		{ "127.0.0.1:7070", "127.0.0.1", 7070, true },
		{ "127.8.9.10:1", "127.8.9.10", 1, true },
		{ "localhost:80", "127.0.0.1", 80, true },
		{ "7070", "127.0.0.1", 7070, true },
		{ "0", "127.0.0.1", 0, true },
		{ ":65535", "0.0.0.0", 65535, false },
		{ "0.0.0.0:7070", "0.0.0.0", 7070, false },
		{ "192.0.2.7:7070", "192.0.2.7", 7070, false },
		{ "[::1]:7070", "::1", 7070, true },
		{ "[::]:7070", "::", 7070, false },
		{ "[2001:db8::7]:7070", "2001:db8::7", 7070, false },
		/* Reached by IPv4 from other hosts. */
		{ "[::ffff:192.0.2.7]:1", "::ffff:192.0.2.7", 1, false },
	};

	for (size_t i = 0; i < array_length(rows); i++) {
		struct listen_address address;
		char host[INET6_ADDRSTRLEN];
		bool is_v6;

		expect_ok(listen_parse(rows[i].text, &address));
		is_v6 = address.ip.any.sa_family == AF_INET6;
		assert_null(address.path);
		inet_ntop(address.ip.any.sa_family,
			  is_v6 ? (const void *)&address.ip.v6.sin6_addr
				: (const void *)&address.ip.v4.sin_addr,
			  host, sizeof(host));
		assert_string_equal(host, rows[i].host);
		assert_int_equal(ntohs(is_v6 ? address.ip.v6.sin6_port : address.ip.v4.sin_port),
				 rows[i].port);
		assert_int_equal(address.is_loopback, rows[i].is_loopback);
	}
}

TEST(no_addresses)
{
	static const char *const texts[] = {
		"",
		":",
		"x",
		"web7:7070",
		"-1",
		"65536",
		"127.0.0.1",
		"127.0.0.1:",
		"127.0.0.1:65536",
		"127.0.0.1:70 ",
		"127.0.0.1:+7",
		"127.1:70",
		"::1:70",
		"[::1]",
		"[::1]70",
		"[::1:70",
		"[]:70",
		"[:70",
		"[127.0.0.1]:70",
		"[fe80::1%eth0]:70",
		"[1111:2222:3333:4444:5555:6666:7777:8888:9999:aaaa:bbbb]:70",
		"a-name-that-is-longer-than-any-address-that-there-is-and-than-72-bytes.example:70",
		"http://127.0.0.1:70",
	};

	for (size_t i = 0; i < array_length(texts); i++) {
		struct listen_address address;

		expect_error(listen_parse(texts[i], &address), "is no address: expected");
	}
}

TEST(paths)
{
	char text[5 + sizeof(((struct sockaddr_un *)0)->sun_path) + 1] = "unix:";
	struct listen_address address;

	expect_ok(listen_parse("unix:/run/a:7070", &address));
	assert_string_equal(address.path, "/run/a:7070");
	assert_true(address.is_loopback);
	expect_error(listen_parse("unix:", &address), "1 to 107 bytes");
	memset(text + 5, 'x', sizeof(text) - 6);
	expect_error(listen_parse(text, &address), "1 to 107 bytes");
	text[sizeof(text) - 2] = '\0';
	expect_ok(listen_parse(text, &address));
}

/* A socket whose server has ended is replaced; a file, and one that is served, are left alone. */
TEST(sockets)
{
	struct scratch scratch;
	struct listen_address address;
	char text[LISTEN_TEXT_MAX], path[128];
	_cleanup_close_ int again = -1;
	struct stat st;
	int fd;

	scratch_init(&scratch);
	snprintf(path, sizeof(path), "unix:%s", scratch_path(&scratch, "socket"));
	expect_ok(listen_parse(path, &address));
	expect_ok(listen_open(&address, text, &fd));
	assert_string_equal(text, "");
	assert_int_equal(fstatat(scratch.dir, "socket", &st, 0), 0);
	assert_int_equal(st.st_mode, S_IFSOCK | 0600);
	expect_error(listen_open(&address, text, &again), "cannot listen: Address already in use");
	close(fd);
	expect_ok(listen_open(&address, text, &again));
	assert_int_equal(unlinkat(scratch.dir, "socket", 0), 0);
	scratch_write(&scratch, "socket", TEXT("a file"));
	expect_error(listen_open(&address, text, &fd), "cannot listen: Address already in use");
	scratch_deinit(&scratch);
}

/* What is printed is an address that others can use. */
TEST(printed_addresses)
{
	struct listen_address address;
	char text[LISTEN_TEXT_MAX];
	unsigned port;
	int fd;

	expect_ok(listen_parse("127.0.0.1:0", &address));
	expect_ok(listen_open(&address, text, &fd));
	assert_int_equal(sscanf(text, "127.0.0.1:%u", &port), 1);
	assert_in_range(port, 1, 65535);
	close(fd);
	expect_ok(listen_parse(":0", &address));
	expect_ok(listen_open(&address, text, &fd));
	if (!strncmp(text, "0.0.0.0:", 8))
		fail_msg("got %s", text);
	close(fd);
}

TEST(ids_of_ticks)
{
	static const char *const wrong[] = {
		"",     "3",    "3.",   ".7", "3.7.8", "3.7 ",
		"-3.7", "3.-7", "+3.7", "x",  "3,7",   "3.18446744073709551616",
	};
	struct stream_position position = { .seq = 77 };

	for (size_t i = 0; i < array_length(wrong); i++)
		if (stream_parse_id(wrong[i], &position))
			fail_msg("'%s' is accepted", wrong[i]);
	assert_int_equal(position.generation, 0);
	assert_int_equal(position.seq, 77);
	assert_true(stream_parse_id("3.18446744073709551615", &position));
	assert_int_equal(position.generation, 3);
	assert_int_equal(position.seq, UINT64_MAX);
}

UNIT_TESTS(cmocka_unit_test(addresses), cmocka_unit_test(no_addresses), cmocka_unit_test(paths),
	   cmocka_unit_test(sockets), cmocka_unit_test(printed_addresses),
	   cmocka_unit_test(ids_of_ticks))
