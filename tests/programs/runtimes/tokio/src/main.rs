// SPDX-License-Identifier: BSD-2-Clause

//! A program of Tokio with nothing to do but a little every BEAT ms: `tokio-idle idle BEAT`. `tokio-idle
//! block BEAT` has tasks that really block as well, and says on which thread: "block TID WHAT". The
//! threads of its event loops say "loop TID".

use std::io::Read;
use std::os::unix::io::FromRawFd;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::runtime::Builder;

fn say(what: &str) {
    println!("block {} {}", unsafe { libc::gettid() }, what);
}

fn say_loop() {
    println!("loop {}", unsafe { libc::gettid() });
}

#[inline(never)]
fn read_pipe() {
    let mut ends = [0; 2];
    assert_eq!(unsafe { libc::pipe(ends.as_mut_ptr()) }, 0);
    let mut file = unsafe { std::fs::File::from_raw_fd(ends[0]) };
    let _ = file.read(&mut [0; 1]);
}

#[inline(never)]
fn take_lock(lock: &Mutex<i32>) {
    *lock.lock().unwrap() += 1;
}

#[inline(never)]
fn sleep_shortly() {
    loop {
        std::thread::sleep(Duration::from_millis(100));
    }
}

async fn listen() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    loop {
        let _ = listener.accept().await;
    }
}

/// Tasks for the workers and for the threads that may block.
async fn heartbeat() {
    let ms = std::env::args().nth(2).unwrap().parse().unwrap();
    let mut beats = tokio::time::interval(Duration::from_millis(ms));
    loop {
        beats.tick().await;
        let tasks: Vec<_> = (0..4).map(|i| tokio::spawn(async move { i + 1 })).collect();
        for task in tasks {
            task.await.unwrap();
        }
        tokio::task::spawn_blocking(|| vec![1; 1000].len()).await.unwrap();
    }
}

fn block() {
    let held = Arc::new(Mutex::new(0));
    let lock = held.clone();

    // Tasks may not block, but they do: two of the four workers.
    tokio::spawn(async {
        say("pipe");
        read_pipe();
    });
    tokio::spawn(async {
        say("sleep");
        sleep_shortly();
    });
    std::thread::sleep(Duration::from_millis(50));
    // Threads that may.
    tokio::task::spawn_blocking(move || {
        let _guard = held.lock().unwrap();
        say("pipe-of-blocking");
        read_pipe();
    });
    std::thread::sleep(Duration::from_millis(50));
    tokio::task::spawn_blocking(move || {
        say("lock-of-blocking");
        take_lock(&lock);
    });
}

fn main() {
    let blocks = std::env::args().nth(1).as_deref() == Some("block");

    // A runtime of one thread beside the usual one.
    std::thread::spawn(|| {
        say_loop();
        Builder::new_current_thread().enable_all().build().unwrap().block_on(heartbeat());
    });
    let runtime = Builder::new_multi_thread().worker_threads(4).enable_all().build().unwrap();
    runtime.block_on(async {
        tokio::spawn(listen());
        tokio::spawn(heartbeat());
        tokio::time::sleep(Duration::from_millis(100)).await;
        if blocks {
            block();
        }
        tokio::time::sleep(Duration::from_millis(300)).await;
        println!("ready");
        std::future::pending::<()>().await;
    });
}
