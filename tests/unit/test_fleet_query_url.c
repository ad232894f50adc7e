/* SPDX-License-Identifier: BSD-2-Clause */
#include "fleet/query_url.h"

#include "store/url.h"
#include "unit/unit.h"

TEST(parameters_are_replaced)
{
	const struct fleet_parameters parameters = { .host = "web-1",
						     .label_name = "label.version",
						     .label = "1.5" };
	char *url = fleet_url_with("ch://s/d?host=a&by=host&%68ost=b&label.version=1.*&from=-2h",
				   &parameters);

	assert_string_equal(url, "ch://s/d?by=host&from=-2h&host=web-1&label.version=1.5");
	free(url);
}

/* In URLs they are globs. */
TEST(names_match_themselves_only)
{
	const struct fleet_parameters parameters = { .host = "*[a]?\\-1&",
						     .process = "sh [x]",
						     .from = "-1h" };
	char *text = fleet_url_with("ch://s/d", &parameters);
	struct store_url url;

	expect_ok(store_url_parse(text, 1795177800, &url));
	assert_string_equal(url.globs[STORE_SELECT_HOST].items[0], "\\*\\[a]\\?\\\\-1&");
	assert_string_equal(url.globs[STORE_SELECT_PROCESS].items[0], "sh \\[x]");
	store_url_deinit(&url);
	free(text);
}

UNIT_TESTS(cmocka_unit_test(parameters_are_replaced), cmocka_unit_test(names_match_themselves_only))
