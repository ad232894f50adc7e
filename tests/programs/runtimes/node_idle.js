// SPDX-License-Identifier: BSD-2-Clause
//
// A program of Node.js with nothing to do but a little every BEAT ms: `node_idle.js idle BEAT`.
// `node_idle.js WHAT BEAT [FIFO]` really blocks in its main thread, or in its worker when that is WHAT, and
// says so: "block TID WHAT". The threads of its event loops say "loop TID".

'use strict';
const fs = require('fs');
const net = require('net');
const { execFileSync, spawnSync } = require('child_process');
const { Worker, isMainThread, workerData } = require('worker_threads');

// A worker has arguments of its own.
const argv = workerData ?? process.argv;

function say(...what) {
	const self = fs.readlinkSync('/proc/thread-self').split('/').pop();
	fs.writeSync(1, `${what[0]} ${self} ${what.slice(1)}\n`);
}

function ready() {
	fs.writeSync(1, 'ready\n');
}

const blocks = {
	pipe(fifo) {
		const file = fs.openSync(fifo, 'r+');
		fs.readSync(file, Buffer.alloc(1));
	},
	lock() {
		Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
	},
	sleep() {
		const word = new Int32Array(new SharedArrayBuffer(4));
		for (;;)
			Atomics.wait(word, 0, 0, 100);
	},
	child() {
		spawnSync('sleep', ['1000']);
	},
};

function idle() {
	net.createServer().listen(0, '127.0.0.1');
	const beat = () => fs.stat('/', () => {});
	for (let i = 0; i < 4; i++)
		beat();
	setInterval(beat, Number(argv[3]));
}

if (!isMainThread) {
	if (argv[2] === 'worker') {
		say('block', 'worker');
		blocks.lock();
	}
	say('loop');
	idle();
} else {
	const kind = argv[2];
	idle();
	new Worker(__filename, { workerData: argv });
	setTimeout(() => {
		if (kind === 'idle' || kind === 'worker') {
			say('loop');
			return ready();
		}
		say('block', kind);
		ready();
		blocks[kind](argv[4]);
	}, 500);
}
