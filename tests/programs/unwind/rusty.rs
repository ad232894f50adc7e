// SPDX-License-Identifier: BSD-2-Clause
//
// Five levels of Rust, with a closure, a panic that is caught, and a trait object among them; then
// it sleeps, 50 times a second anew.

use std::io::Write;
use std::panic;
use std::time::Duration;

/// So that the compiler does not know what it is.
fn black_box<T>(value: T) -> T {
    let seen = unsafe { std::ptr::read_volatile(&value) };
    std::mem::forget(value);
    seen
}

trait Step {
    fn step(&self, depth: u64) -> u64;
}

struct Sleeper;

impl Step for Sleeper {
    #[inline(never)]
    fn step(&self, depth: u64) -> u64 {
        let room = black_box([depth; 20]);
        loop {
            std::thread::sleep(Duration::from_millis(20));
            if black_box(room[3]) == 0 {
                return room[1];
            }
        }
    }
}

#[inline(never)]
fn rusty_4(what: &dyn Step, depth: u64) -> u64 {
    black_box(what.step(depth + 1)) + 1
}

#[inline(never)]
fn rusty_3(what: &dyn Step, depth: u64) -> u64 {
    // Behind a panic, and in what catches the next.
    let _ = panic::catch_unwind(|| {
        if black_box(depth) > 0 {
            panic!("on purpose");
        }
    });
    panic::catch_unwind(panic::AssertUnwindSafe(|| black_box(rusty_4(what, depth)) + 1)).unwrap()
}

#[inline(never)]
fn rusty_2(what: &dyn Step, depth: u64) -> u64 {
    let room = black_box([depth; 50]);
    black_box(rusty_3(what, room[7] + 1)) + room[1]
}

#[inline(never)]
fn rusty_1(what: &dyn Step, depth: u64) -> u64 {
    black_box(rusty_2(what, depth + 1)) + 1
}

fn main() {
    panic::set_hook(Box::new(|_| {}));
    println!("ready");
    std::io::stdout().flush().unwrap();
    black_box(rusty_1(&Sleeper, 1));
}
