// SPDX-License-Identifier: BSD-2-Clause

// A program of Go whose calls are measured, and that says how often it made them and in how much time:
// "calls=N least=NS most=NS". The time of each call is at least that between its first and its last
// statement, and at most that around it.
//
//	calls nap GOROUTINES CALLS   main.(*S).Nap: its stack grows and moves while it sleeps
//	calls spin GOROUTINES CALLS  main.(*S).Spin: on one thread now, and on another then
//	calls deep GOROUTINES DEPTH  main.(*S).Deep: calls itself, sleeps 2 ms at the bottom; its frames are
//	                             large, so that its stack is too small again and again
//	calls panic CALLS            main.(*S).Panic never returns, and main.(*S).Recover does all the same
//	calls exit CALLS             main.(*S).Exit: its goroutine ends in it
//	calls c CALLS                one_nap of C, where it is built with cgo.go
package main

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

type S struct{ calls, least, most, threads int64 }

// As in the measured function, from its first to its last statement.
func (s *S) inside(began time.Time) { atomic.AddInt64(&s.least, int64(time.Since(began))) }

// Around the call.
func (s *S) around(began time.Time) {
	atomic.AddInt64(&s.most, int64(time.Since(began)))
	atomic.AddInt64(&s.calls, 1)
}

//go:noinline
func grow(depth int) int {
	var room [128]int

	if depth == 0 {
		return 0
	}
	room[depth%128] = depth
	return grow(depth-1) + room[depth%128]
}

//go:noinline
func (s *S) Nap(number int) int {
	began := time.Now()
	sum := grow(1 + number%200)
	time.Sleep(time.Duration(1+number%3) * time.Millisecond)
	runtime.GC()
	sum += grow(1 + number%50)
	s.inside(began)
	return sum
}

//go:noinline
func (s *S) Spin(number int) int {
	began := time.Now()
	for i := 0; i < 20; i++ {
		runtime.Gosched()
		grow(i)
	}
	s.inside(began)
	return number
}

//go:noinline
func (s *S) Deep(depth int) int {
	var room [64]int

	if depth == 0 {
		time.Sleep(2 * time.Millisecond)
		return 0
	}
	room[depth%64] = depth
	return s.Deep(depth-1) + room[depth%64]
}

//go:noinline
func (s *S) Panic(number int) int {
	if number >= 0 {
		panic("on purpose")
	}
	return number
}

//go:noinline
func (s *S) Recover(number int) (ret int) {
	defer func() {
		if recover() != nil {
			ret = -1
		}
	}()
	began := time.Now()
	time.Sleep(time.Millisecond)
	s.inside(began)
	return s.Panic(number)
}

//go:noinline
func (s *S) Exit(number int) int {
	if number >= 0 {
		runtime.Goexit()
	}
	return number
}

var inC = func() {}

func (s *S) times(goroutines, calls int, call func(number int)) {
	var all sync.WaitGroup

	for g := 0; g < goroutines; g++ {
		all.Add(1)
		go func(g int) {
			defer all.Done()
			for i := 0; i < calls; i++ {
				began := time.Now()
				call(g + i)
				s.around(began)
			}
		}(g)
	}
	all.Wait()
}

func number(at int) int {
	n, err := strconv.Atoi(os.Args[at])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return n
}

func main() {
	var s S

	switch os.Args[1] {
	case "nap":
		s.times(number(2), number(3), func(n int) { s.Nap(n) })
	case "spin":
		s.times(number(2), number(3), func(n int) { s.Spin(n) })
	case "deep":
		s.times(number(2), 1, func(int) { s.Deep(number(3)) })
	case "panic":
		s.times(1, number(2), func(n int) { s.Recover(n) })
	case "exit":
		s.times(number(2), 1, func(n int) {
			var done sync.WaitGroup
			done.Add(1)
			go func() { defer done.Done(); s.Exit(n) }()
			done.Wait()
		})
	case "c":
		s.times(4, number(2), func(int) { inC() })
	}
	fmt.Printf("calls=%d least=%d most=%d \n", s.calls, s.least, s.most)
}
