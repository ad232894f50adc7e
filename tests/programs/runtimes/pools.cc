// SPDX-License-Identifier: BSD-2-Clause

// Pools of threads with nothing to do but a little every BEAT ms: `pools KIND idle BEAT`, where the
// kind of pool is std, glib, omp or tbb. `pools KIND block BEAT` has tasks in the pool that really
// block as well, and says on which thread: "block TID WHAT". So says the thread that hands out
// work, which sleeps.

#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include <glib.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>
#include <unistd.h>

static std::mutex held;

static void say(const char *what)
{
	printf("block %d %s\n", gettid(), what);
	fflush(stdout);
}

__attribute__((noinline)) static void read_pipe()
{
	int ends[2];
	char byte;

	say("pipe");
	if (pipe(ends) || read(ends[0], &byte, 1) < 0)
		perror("pipe");
}

__attribute__((noinline)) static void take_lock()
{
	say("lock");
	held.lock();
}

__attribute__((noinline)) static void wait_for_condition()
{
	std::condition_variable never;
	std::mutex mutex;
	std::unique_lock<std::mutex> guard(mutex);

	say("condition");
	never.wait(guard, [] { return false; });
}

__attribute__((noinline)) static void sleep_shortly()
{
	say("sleep");
	for (;;)
		usleep(100000);
}

typedef void (*block_function)();
static const block_function blocks[] = { read_pipe, take_lock, wait_for_condition, sleep_shortly };
static const int block_count = sizeof(blocks) / sizeof(*blocks);

static void work()
{
	volatile int sum = 0;

	for (int i = 0; i < 1000; i++)
		sum = sum + i;
}

// A pool as people write them.
class ThreadPool
{
      public:
	explicit ThreadPool(int count)
	{
		for (int i = 0; i < count; i++)
			threads.emplace_back([this] { run_worker(); });
	}
	void submit(std::function<void()> task)
	{
		{
			std::lock_guard<std::mutex> guard(mutex);
			tasks.push_back(std::move(task));
		}
		changed.notify_one();
	}

      private:
	void run_worker()
	{
		for (;;) {
			std::unique_lock<std::mutex> guard(mutex);
			changed.wait(guard, [this] { return !tasks.empty(); });
			auto task = std::move(tasks.front());
			tasks.pop_front();
			guard.unlock();
			task();
		}
	}
	std::mutex mutex;
	std::condition_variable changed;
	std::deque<std::function<void()>> tasks;
	std::vector<std::thread> threads;
};

static void std_pool(bool block)
{
	static ThreadPool pool(8);

	if (block)
		for (auto function : blocks)
			pool.submit(function);
	for (int i = 0; i < 4; i++)
		pool.submit(work);
}

static void run_of_glib(gpointer task, gpointer)
{
	reinterpret_cast<block_function>(task)();
}

static void glib_pool(bool block)
{
	static GThreadPool *pool = g_thread_pool_new(run_of_glib, nullptr, 8, TRUE, nullptr);

	if (block)
		for (auto function : blocks)
			g_thread_pool_push(pool, reinterpret_cast<gpointer>(function), nullptr);
	for (int i = 0; i < 4; i++)
		g_thread_pool_push(pool, reinterpret_cast<gpointer>(work), nullptr);
}

static void omp_pool(bool block)
{
	// Those that block would hold the team for good: a team of their own, of another thread.
	if (block)
		std::thread([] {
#pragma omp parallel for num_threads(block_count) schedule(static, 1)
			for (int i = 0; i < block_count; i++)
				blocks[i]();
		}).detach();
#pragma omp parallel for num_threads(4)
	for (int i = 0; i < 4; i++)
		work();
}

static void tbb_pool(bool block)
{
	static tbb::task_arena arena(8, 0);
	static tbb::global_control *wide =
		new tbb::global_control(tbb::global_control::max_allowed_parallelism, 9);

	(void)wide;
	if (block)
		for (auto function : blocks)
			arena.enqueue(function);
	for (int i = 0; i < 4; i++)
		arena.enqueue(work);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*beat)(bool block);
	} kinds[] = {
		{ "std", std_pool }, { "glib", glib_pool }, { "omp", omp_pool }, { "tbb", tbb_pool }
	};

	held.lock();
	for (auto &kind : kinds) {
		if (argc < 4 || strcmp(kind.name, argv[1]))
			continue;
		say("main");
		for (int beat = 0;; beat++) {
			kind.beat(!beat && !strcmp(argv[2], "block"));
			if (!beat) {
				usleep(300000);
				printf("ready\n");
				fflush(stdout);
			}
			usleep(1000 * atoi(argv[3]));
		}
	}
	return 2;
}
