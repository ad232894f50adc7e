// SPDX-License-Identifier: BSD-2-Clause
//
// `chain.js spin` and `chain.js nap` do so below five functions that call each other.

'use strict';
const fs = require('fs');
const word = new Int32Array(new SharedArrayBuffer(4));
let sum = 0;

const acts = {
	spin() {
		for (let i = 0; i < 1000000; i++)
			sum += Math.sqrt(i) % 7;
	},
	nap() {
		Atomics.wait(word, 0, 0, 20);
	},
};
const act = acts[process.argv[2]];

function five() { act(); sum++; }
function four() { five(); sum++; }
function three() { four(); sum++; }
function two() { three(); sum++; }
function one() { two(); sum++; }

fs.writeSync(1, 'ready\n');
for (;;)
	one();
