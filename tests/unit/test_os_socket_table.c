/* SPDX-License-Identifier: BSD-2-Clause */
#include "os/socket_table.h"

#include <sys/socket.h>
#include <sys/stat.h>

#include "unit/unit.h"

static const char lines[] =
	"  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  "
	"timeout "
	"inode\n"
	"   0: 0100007F:1538 00000000:0000 0A 00000000:00000002 00:00000000 00000000     0        "
	"0 "
	"812 1 0000000000000000 100 0 0 10 0\n"
	"   1: 0100007F:D431 0200007F:1538 01 0000001A:00001000 00:00000000 00000000  1000        "
	"0 "
	"813 1 0000000000000000 20 4 30 10 -1\n"
	"   2: 0000000000000000FFFF00000200007F:1538 0000000000000000FFFF00000100007F:D431 01 "
	"00000000:00000000 00:00000000 00000000     0        0 814 1 0 20 4 30 10 -1\n"
	"   3: 00000000000000000000000001000000:0050 00000000000000000000000000000000:0000 0A "
	"00000000:00000000 00:00000000 00000000     0        0 815 1 0 20 4 30 10 -1\n";

static void expect_address(const struct socket_address *address, const char *expected)
{
	char text[SOCKET_ADDRESS_MAX];

	socket_address_print(address, text);
	assert_string_equal(text, expected);
}

TEST(lines_of_sockets)
{
	struct text bytes = guarded(lines, sizeof(lines) - 1), rest = bytes;
	struct socket_line listener, client, server, six, none;

	assert_true(socket_table_next(&rest, &listener));
	expect_address(&listener.local, "127.0.0.1:5432");
	assert_int_equal(listener.state, SOCKET_LISTENS);
	assert_int_equal(listener.bytes_in, 2);
	assert_int_equal(listener.inode, 812);
	assert_true(socket_table_next(&rest, &client));
	expect_address(&client.peer, "127.0.0.2:5432");
	assert_int_equal(client.bytes_out, 26);
	assert_int_equal(client.bytes_in, 4096);
	assert_true(socket_table_next(&rest, &server));
	expect_address(&server.local, "127.0.0.2:5432");
	assert_true(socket_addresses_equal(&server.local, &client.peer));
	assert_true(socket_addresses_equal(&server.peer, &client.local));
	assert_false(socket_addresses_equal(&server.peer, &client.peer));
	assert_true(socket_table_next(&rest, &six));
	expect_address(&six.local, "[::1]:80");
	assert_false(socket_table_next(&rest, &none));
	unguard(bytes);
}

TEST(lines_that_are_none)
{
	static const char *const wrong[] = {
		"0: 0100007F:1538",
		"0: 0100007F 00000000:0000 0A 0:0 0:0 0 0 0 1",
		"0: 0100007FF:1538 00000000:0000 0A 0:0 0:0 0 0 0 1",
		"0: 0100007F:15380 00000000:0000 0A 0:0 0:0 0 0 0 1",
		"0: 0100007X:1538 00000000:0000 0A 0:0 0:0 0 0 0 1",
		"0: 0100007F:1538 00000000:0000 0A 0-0 0:0 0 0 0 1",
		"0: 0100007F:1538 00000000:0000 0A 0:0 0:0 0 0 0",
		"0: 0100007F:1538 00000000:0000 0A 0:0 0:0 0 0 0 x",
	};
	struct socket_line line;

	for (size_t i = 0; i < array_length(wrong); i++) {
		struct text bytes = guarded(wrong[i], strlen(wrong[i])), rest = bytes;

		assert_false(socket_table_next(&rest, &line));
		unguard(bytes);
	}
}

/* Of a pair that was just made, the kernel's answer is the other. */
TEST(peers_of_unix_sockets)
{
	struct unix_socket found;
	struct stat first, second;
	int ends[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	assert_int_equal(fstat(ends[0], &first), 0);
	assert_int_equal(fstat(ends[1], &second), 0);
	assert_int_equal(write(ends[1], "abc", 3), 3);
	if (unix_socket_find(first.st_ino, &found)) {
		assert_int_equal(found.peer, second.st_ino);
		assert_true(found.bytes_in >= 3);
	} else {
		print_message("the kernel does not answer about Unix sockets\n");
	}
	assert_false(unix_socket_find((uint64_t)1 << 40, &found));
	close(ends[0]);
	close(ends[1]);
}

UNIT_TESTS(cmocka_unit_test(lines_of_sockets), cmocka_unit_test(lines_that_are_none),
	   cmocka_unit_test(peers_of_unix_sockets))
