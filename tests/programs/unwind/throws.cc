/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * throws WAY ACT: stacks of C++.
 *
 *	cleanup    in a destructor, while an exception goes through its function
 *	caught     where one is caught
 *	uncaught   where none is, and the program is about to end
 *	sort       in a comparison that the library calls
 *	thread     in a std::thread
 */
#include <algorithm>
#include <exception>
#include <stdexcept>
#include <thread>
#include <vector>

extern "C" {
#include "acts.h"
}

namespace throws
{
act *last;

struct guard {
	~guard();
};

NOT_INLINED guard::~guard()
{
	last();
	calls = calls + 1;
}

NOT_INLINED void thrower(const char *what)
{
	if (goes_on)
		throw std::runtime_error(what);
}

NOT_INLINED void passed_by(void)
{
	guard one;

	thrower("passed by");
	calls = calls + 1;
}

NOT_INLINED void catcher(void (*inside)(void))
{
	try {
		inside();
	} catch (const std::exception &) {
		last();
		calls = calls + 1;
	}
}

NOT_INLINED void direct(void)
{
	thrower("caught");
	calls = calls + 1;
}

NOT_INLINED void at_the_end(void)
{
	last();
	_exit(0);
}

NOT_INLINED bool compare(int a, int b)
{
	last();
	return a < b;
}

NOT_INLINED void sorter(void)
{
	std::vector<int> numbers(100, 1);

	std::sort(numbers.begin(), numbers.end(), compare);
}

NOT_INLINED void in_thread(void)
{
	last();
	calls = calls + 1;
}

NOT_INLINED void starter(void)
{
	std::thread other(in_thread);

	other.join();
}

NOT_INLINED void uncaught(void) noexcept
{
	direct();
}
}

int main(int argc, char **argv)
{
	using namespace throws;
	const char *way = argc == 3 ? argv[1] : "";

	if (argc != 3)
		errx(2, "usage: throws WAY ACT");
	last = act_of(argv[2]);
	std::set_terminate(at_the_end);
	say_ready(argv);
	if (strcmp(way, "cleanup") == 0)
		catcher(passed_by);
	else if (strcmp(way, "caught") == 0)
		catcher(direct);
	else if (strcmp(way, "uncaught") == 0)
		uncaught();
	else if (strcmp(way, "sort") == 0)
		sorter();
	else if (strcmp(way, "thread") == 0)
		starter();
	else
		errx(2, "no way '%s'", way);
	return 0;
}
