/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kstats_dlopen LIBRARY: a program without libkstats, one of whose threads loads it, records and
 * drops it, again and again, while threads that recorded with it go on and are preempted. Prints
 * "ready N" with how many values its metric "loaded" has, and waits.
 */
#include <dlfcn.h>
#include <err.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define TURNS   200
#define RECORDS 1000
#define THREADS 4

static const char *library;

struct functions {
	void *handle;
	void *(*make)(const char *, unsigned);
	void (*record)(void *, uint64_t);
	void (*delete)(void *);
};

static struct functions load(void)
{
	struct functions ret = { .handle = dlopen(library, RTLD_NOW | RTLD_LOCAL) };

	if (!ret.handle)
		errx(1, "%s", dlerror());
	ret.make = (void *(*)(const char *, unsigned))dlsym(ret.handle, "kstats_new");
	ret.record = (void (*)(void *, uint64_t))dlsym(ret.handle, "kstats_record");
	ret.delete = (void (*)(void *))dlsym(ret.handle, "kstats_delete");
	if (!ret.make || !ret.record || !ret.delete)
		errx(1, "%s", dlerror());
	return ret;
}

/* After dlclose() the thread keeps running, to be preempted and sent signals. */
static void *turn(void *context)
{
	char name[32];

	snprintf(name, sizeof(name), "thread%d", (int)(intptr_t)context);
	for (unsigned i = 0; i < TURNS; i++) {
		struct functions kstats = load();
		void *key = kstats.make(name, 3);

		if (!key)
			err(1, "kstats_new");
		for (unsigned record = 0; record < RECORDS; record++)
			kstats.record(key, record);
		kstats.delete(key);
		dlclose(kstats.handle);
		for (volatile unsigned spin = 0; spin < 100000; spin++)
			;
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];
	struct functions kstats;
	void *key;

	if (argc != 2)
		errx(2, "kstats_dlopen LIBRARY");
	library = argv[1];
	for (intptr_t i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, turn, (void *)i))
			err(1, "thread");
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	kstats = load();
	key = kstats.make("loaded", 3);
	for (unsigned record = 0; record < RECORDS; record++)
		kstats.record(key, record);
	printf("ready %d\n", RECORDS);
	fflush(stdout);
	for (;;)
		pause();
}
