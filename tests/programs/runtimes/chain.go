// SPDX-License-Identifier: BSD-2-Clause

// `chain spin` and `chain nap` do so below five functions that call each other.
package main

import (
	"fmt"
	"os"
	"runtime"
	"syscall"
)

var act func()
var sum int

func spin() {
	for i := 0; i < 1000000; i++ {
		sum += i
	}
}

// A goroutine that sleeps is no thread that does: this one is.
func nap() {
	syscall.Nanosleep(&syscall.Timespec{Nsec: 20e6}, nil)
}

//go:noinline
func five() {
	act()
	sum++
}

//go:noinline
func four() {
	five()
	sum++
}

//go:noinline
func three() {
	four()
	sum++
}

//go:noinline
func two() {
	three()
	sum++
}

//go:noinline
func one() {
	two()
	sum++
}

func main() {
	runtime.LockOSThread()
	act = map[string]func(){"spin": spin, "nap": nap}[os.Args[1]]
	fmt.Println("ready")
	for {
		one()
	}
}
