// SPDX-License-Identifier: BSD-2-Clause

// A program of Go with nothing to do but a little every BEAT ms: `go idle BEAT`. `go block BEAT` has
// threads that really block as well, and says which: "block TID WHAT". Goroutines that wait block no
// thread.
package main

import (
	"fmt"
	"net"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"sync"
	"syscall"
	"time"
)

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func listen() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	for {
		listener.Accept()
	}
}

func work(tasks chan int, done *sync.WaitGroup) {
	sum := 0
	for task := range tasks {
		sum += len(make([]byte, 1000*task))
		done.Done()
	}
}

// A goroutine that keeps its thread waits in another way than others.
func keepThread(never chan int) {
	runtime.LockOSThread()
	<-never
}

func heartbeat() {
	tasks := make(chan int)
	var done sync.WaitGroup
	ms, err := strconv.Atoi(os.Args[2])

	check(err)
	for i := 0; i < 4; i++ {
		go work(tasks, &done)
	}
	for beat := 0; ; beat++ {
		done.Add(8)
		for i := 0; i < 8; i++ {
			tasks <- i
		}
		done.Wait()
		if beat%10 == 0 {
			runtime.GC()
		}
		time.Sleep(time.Duration(ms) * time.Millisecond)
	}
}

func readPipe() {
	var ends [2]int

	check(syscall.Pipe(ends[:]))
	syscall.Read(ends[0], make([]byte, 1))
}

func lockFile() {
	file, err := os.CreateTemp("", "ctprof-test.")
	check(err)
	os.Remove(file.Name())
	// The same file, opened again: its lock is another one's.
	again, err := os.Open(fmt.Sprintf("/proc/self/fd/%d", file.Fd()))
	check(err)
	check(syscall.Flock(int(file.Fd()), syscall.LOCK_EX))
	syscall.Flock(int(again.Fd()), syscall.LOCK_EX)
	// Collected earlier, it would be closed.
	runtime.KeepAlive(file)
}

func sleepShortly() {
	for {
		syscall.Nanosleep(&syscall.Timespec{Nsec: 100e6}, nil)
	}
}

func main() {
	signals := make(chan os.Signal, 1)
	never := make(chan int)

	go listen()
	go heartbeat()
	go keepThread(never)
	signal.Notify(signals, syscall.SIGUSR1)
	if os.Args[1] == "block" {
		for what, block := range map[string]func(){
			"pipe": readPipe, "lock": lockFile, "sleep": sleepShortly} {
			what, block := what, block
			said := make(chan bool)
			go func() {
				runtime.LockOSThread()
				fmt.Println("block", syscall.Gettid(), what)
				close(said)
				block()
			}()
			<-said
		}
	}
	time.Sleep(300 * time.Millisecond)
	fmt.Println("ready")
	<-signals
}
