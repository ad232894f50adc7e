/* SPDX-License-Identifier: BSD-2-Clause */
#include "store/address.h"

#include "unit/unit.h"

static void expect_address(const char *url, const char *server, const char *database)
{
	struct store_address address = { 0 };

	expect_ok(store_address_parse(url, &address));
	assert_string_equal(address.server, server);
	assert_string_equal(address.database, database);
	store_address_deinit(&address);
}

static void refuse(const char *url, const char *message)
{
	struct store_address address = { 0 };

	expect_error(store_address_parse(url, &address), message);
}

TEST(a_url_has_a_server_and_a_database)
{
	expect_address("http://store:8123/ctprof", "http://store:8123/", "ctprof");
	expect_address("https://[::1]/a-b/", "https://[::1]/", "a-b");
	expect_address("http://h/a%60b%2Fc", "http://h/", "a`b/c");
}

TEST(others_are_refused)
{
	refuse("store:8123/ctprof", "expected http://HOST:8123/DATABASE");
	refuse("http:///ctprof", "expected");
	refuse("http://h/a?user=x", "expected");
	refuse("http://h", "has no valid name of a database");
	refuse("http://h/", "has no valid name");
	refuse("http://h/a/b", "has no valid name");
	refuse("http://h/a%", "has no valid name");
	refuse("http://h/a%0", "has no valid name");
	refuse("http://h/a%00", "has no valid name");
	refuse("http://h/a%zz", "has no valid name");
}

UNIT_TESTS(cmocka_unit_test(a_url_has_a_server_and_a_database),
	   cmocka_unit_test(others_are_refused))
