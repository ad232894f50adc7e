/* SPDX-License-Identifier: BSD-2-Clause */
#include "serve/http_clients.h"

#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "unit/unit.h"

static struct sockaddr_in address_of(unsigned number)
{
	return (struct sockaddr_in){ .sin_family = AF_INET,
				     .sin_addr.s_addr = htonl(0x0a000000 + number) };
}

static struct http_peer *add(struct http_clients *clients, unsigned address, uint64_t now_ms)
{
	const struct sockaddr_in from = address_of(address);
	/* No descriptor: to shut it down fails, which is of no interest here. */
	struct http_peer *client =
		http_clients_add(clients, -1, (const struct sockaddr *)&from, now_ms);

	assert_non_null(client);
	return client;
}

static void remove_all(struct http_clients *clients)
{
	while (clients->first)
		http_clients_remove(clients, clients->first);
	assert_int_equal(clients->count, 0);
}

TEST(slowest_client_goes)
{
	struct http_clients clients = { .most = 4 };
	struct http_peer *first = add(&clients, 1, 1000), *second = add(&clients, 1, 1001);
	struct http_peer *answered = add(&clients, 2, 900), *other = add(&clients, 3, 950);

	http_client_set_deadline(answered, DEADLINE_ANSWER, 1, 1002);
	assert_int_equal(clients.count, 4);
	add(&clients, 4, 1003);
	assert_int_equal(clients.count, 4);
	/* Not the oldest of all: the oldest of the address that has most. */
	assert_true(first->is_ended);
	assert_false(second->is_ended || answered->is_ended || other->is_ended);
	remove_all(&clients);
}

TEST(share_of_an_address)
{
	struct http_clients clients = { .most = 8 };
	struct http_peer *first = add(&clients, 1, 1), *last = NULL;

	for (unsigned i = 2; i <= 7; i++)
		last = add(&clients, 1, i);
	/* The seventh is one too many, with room for another address. */
	assert_true(first->is_ended);
	assert_int_equal(clients.count, 6);
	assert_false(add(&clients, 2, 8)->is_ended);
	assert_false(add(&clients, 3, 8)->is_ended);
	for (struct http_peer *i = clients.first; i; i = i->next)
		http_client_clear_deadline(i);
	/* Those that take an answer are left alone for 2 s. */
	http_client_set_deadline(last, DEADLINE_ANSWER, 1, 9);
	/* Where all others wait for the server, the new one goes. */
	assert_true(add(&clients, 1, 9)->is_ended);
	assert_true(add(&clients, 4, 9)->is_ended);
	assert_false(last->is_ended);
	assert_int_equal(clients.count, 8);
	assert_false(add(&clients, 5, 2009)->is_ended);
	assert_true(last->is_ended);
	remove_all(&clients);
}

TEST(deadlines)
{
	struct http_clients clients = { .most = 8 };
	struct http_peer *head = add(&clients, 1, 1000), *large = add(&clients, 2, 1000);

	assert_int_equal(http_clients_wait_ms(&clients, 1000), 10000);
	http_client_set_deadline(large, DEADLINE_ANSWER, 16000, 2000);
	http_clients_end_late(&clients, 10999);
	assert_false(head->is_ended);
	assert_int_equal(http_clients_wait_ms(&clients, 11000), 0);
	http_clients_end_late(&clients, 11000);
	assert_true(head->is_ended);
	assert_int_equal(http_clients_wait_ms(&clients, 11000), 22000);
	http_client_clear_deadline(large);
	assert_int_equal(http_clients_wait_ms(&clients, 1000000), -1);
	http_clients_end_late(&clients, 1000000);
	assert_false(large->is_ended);
	remove_all(&clients);
}

static unsigned allowed(struct http_clients *clients, struct http_peer *client, unsigned tries,
			uint64_t now_ms)
{
	unsigned count = 0;

	for (unsigned i = 0; i < tries; i++)
		count += http_clients_count_request(clients, RATE_ANSWERED, client, now_ms);
	return count;
}

TEST(rates)
{
	struct http_clients clients = { .most = 300 };
	struct http_peer *one = add(&clients, 1, 1), *other = add(&clients, 2, 1);

	assert_int_equal(allowed(&clients, one, 3000, 5000), 2000);
	assert_int_equal(allowed(&clients, other, 10, 5000), 10);
	assert_true(http_clients_count_request(&clients, RATE_REFUSED, one, 5000));
	assert_int_equal(allowed(&clients, one, 10, 5000), 0);
	assert_int_equal(allowed(&clients, one, 10, 5001), 1);
	assert_int_equal(allowed(&clients, one, 3000, 6001), 1000);
	assert_int_equal(allowed(&clients, one, 3000, UINT64_MAX / 2), 2000);
	/* More addresses than there are rates. */
	for (unsigned i = 0; i < 200; i++)
		assert_int_equal(allowed(&clients, add(&clients, 10 + i, 1), 2, UINT64_MAX / 2 + i),
				 2);
	remove_all(&clients);
}

TEST(networks)
{
	struct sockaddr_in v4 = address_of(1);
	struct sockaddr_in6 mapped = { .sin6_family = AF_INET6 }, v6 = mapped, sibling = mapped;
	struct sockaddr local = { .sa_family = AF_UNIX };
	struct http_address a = http_address_of((const struct sockaddr *)&v4), b;

	memcpy(&mapped.sin6_addr, "\0\0\0\0\0\0\0\0\0\0\xff\xff\x0a\0\0\x01", 16);
	b = http_address_of((const struct sockaddr *)&mapped);
	assert_memory_equal(&a, &b, sizeof(a));
	memcpy(&v6.sin6_addr, "\x20\x01\x0d\xb8\0\0\0\x01\0\0\0\0\0\0\0\x01", 16);
	memcpy(&sibling.sin6_addr, "\x20\x01\x0d\xb8\0\0\0\x01\x77\0\0\0\0\0\0\x01", 16);
	a = http_address_of((const struct sockaddr *)&v6);
	b = http_address_of((const struct sockaddr *)&sibling);
	assert_memory_equal(&a, &b, sizeof(a));
	a = http_address_of(&local);
	b = http_address_of(NULL);
	assert_memory_equal(&a, &b, sizeof(a));
}

UNIT_TESTS(cmocka_unit_test(slowest_client_goes), cmocka_unit_test(share_of_an_address),
	   cmocka_unit_test(deadlines), cmocka_unit_test(rates), cmocka_unit_test(networks))
