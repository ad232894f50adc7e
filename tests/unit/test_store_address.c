/* SPDX-License-Identifier: BSD-2-Clause */
#include "store/address.h"

#include "unit/unit.h"

static void expect_address(const char *url, const char *server, const char *database)
{
	struct store_address address = { 0 };

	expect_ok(store_address_parse(url, STORE_ADDRESS_HTTP, &address));
	assert_string_equal(address.server, server);
	assert_string_equal(address.database, database);
	store_address_deinit(&address);
}

static void refuse(const char *url, const char *message)
{
	struct store_address address = { 0 };

	expect_error(store_address_parse(url, STORE_ADDRESS_HTTP, &address), message);
}

TEST(a_url_has_a_server_and_a_database)
{
	expect_address("http://store:8123/ctprof", "http://store:8123/", "ctprof");
	expect_address("https://[::1]/a-b/", "https://[::1]/", "a-b");
	expect_address("http://h/a%60b%2Fc", "http://h/", "a`b/c");
	expect_address("http://[fe80::1%25eth0]:8123/d", "http://[fe80::1%25eth0]:8123/", "d");
	expect_address("http://b\303\274cher/d", "http://b\303\274cher/", "d");
}

TEST(others_are_refused)
{
	refuse("store:8123/ctprof", "expected http[s]://HOST:8123/DATABASE");
	refuse("ch://store/ctprof", "expected http");
	refuse("ftp://store/ctprof", "expected http");
	refuse("http:///ctprof", "invalid host ''");
	refuse("http://h:x/ctprof", "invalid port 'x'");
	refuse("http://h:0/ctprof", "invalid port '0'");
	refuse("http://h:65536/ctprof", "invalid port");
	refuse("http://[::1/ctprof", "invalid host");
	refuse("http://a b/ctprof", "invalid host 'a b'");
	refuse("http://me@h/ctprof", "--netrc-file");
	refuse("http://h/a?user=x", "expected");
	refuse("http://h/a#b", "expected");
	refuse("http://h", "no name of a database");
	refuse("http://h/", "no name of a database");
	refuse("http://h/a/b", "the path '/a/b' is more than the name of a database");
	refuse("http://h/a%", "two hexadecimal digits");
	refuse("http://h/a%0", "two hexadecimal digits");
	refuse("http://h/a%00", "two hexadecimal digits");
	refuse("http://h/a%zz", "two hexadecimal digits");
}

UNIT_TESTS(cmocka_unit_test(a_url_has_a_server_and_a_database),
	   cmocka_unit_test(others_are_refused))
