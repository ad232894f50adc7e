// SPDX-License-Identifier: BSD-2-Clause

// What of calls.go is in C.
package main

/*
#include <unistd.h>
__attribute__((noinline)) int one_nap(int us) { usleep(us); return us + 1; }
*/
import "C"

func init() {
	inC = func() { C.one_nap(2000) }
}
