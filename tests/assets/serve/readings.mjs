// SPDX-License-Identifier: BSD-2-Clause
//
// Synthetic readings of a host, as doc/serve.md describes the ticks of /api/live.
//
//	const readings = new Readings({ seed: 1, crowd: 0, stacks: 0 });
//	readings.about(), readings.next()
//
// The host has a shop whose workers stand at a lock, a database that waits for storage, a web server
// that waits at sockets and for events, a timer, a pipe and workers of the kernel. `crowd`: so many
// more threads, all idle; `stacks`: so many more stacks of a program in each tick; `kstats`: metrics are recorded.

const STATES = ["exec", "exec_user", "exec_system", "runnable", "paging", "sleep", "sleep_disk", "sleep_network", "sleep_pipe",
	"sleep_timer", "sleep_child", "sleep_other", "lock", "lock_futex", "lock_kernel", "idle", "idle_poll", "idle_cond",
	"idle_accept", "idle_worker", "stopped"];
const MAINS = [0, 0, 0, 3, 4, 5, 5, 5, 5, 5, 5, 5, 12, 12, 12, 15, 15, 15, 15, 15, 20];
const CLASSES = ["on-cpu", "runnable", "interruptible", "uninterruptible", "io-wait", "stopped", "traced", "parked", "idle", "event"];
const [USER, KERNEL] = [0, 1];
const CPUS = 2, SECOND = 1e9, LATER = 95;

export function random(seed) {
	let s = seed >>> 0 || 1;
	return () => {
		s ^= s << 13; s >>>= 0;
		s ^= s >>> 17;
		s ^= s << 5; s >>>= 0;
		return s / 4294967296;
	};
}

// name, file, [stack of names; "k:" begins a kernel function, "c:" one of the C library], class, state, share of the time, chance to last
const LOCKED = ["main", "serve", "Cart::update(Cart::Item const&)", "pthread_mutex_lock", "k:entry_SYSCALL_64_after_hwframe", "k:do_futex", "k:futex_do_wait", "k:schedule"];
// Those who wait for an answer, and rules of the form that the program has.
const ASKING = ["getaddrinfo", "PQexec"];
export const PRESETS = { go: ["runtime.findRunnable"], "cpp-pools": ["waiter:*take_jo? & *pthread_cond_* & thread:shopd/*", "only:postgres & *recv* & !thread:postgres/0"] };
const KINDS = {
	shopd: { threads: 8, file: "/opt/shop/shopd", cgroup: "/system.slice/docker-" + "3fe1".repeat(16) + ".scope", container: "3fe1".repeat(3), does: [
		[["main", "serve", "Cart::update(Cart::Item const&)", "json_parse"], "on-cpu", "exec_user", 0.06],
		[["main", "serve", "render", "memcpy"], "on-cpu", "exec_user", 0.03],
		[LOCKED, "interruptible", "lock_futex", 0.30],
		[["main", "serve", "recv", "k:entry_SYSCALL_64_after_hwframe", "k:tcp_recvmsg", "k:schedule"], "interruptible", "sleep_network", 0.10],
		[["main", "serve", "take_job", "c:pthread_cond_wait", "k:futex_do_wait", "k:schedule"], "interruptible", "idle_cond", 0.45],
		[["main", "serve", "json_parse"], "runnable", "runnable", 0.02] ] },
	postgres: { threads: 3, file: "/usr/lib/postgresql/15/bin/postgres", cgroup: "/system.slice/postgresql.service", does: [
		[["main", "PostgresMain", "exec_simple_query", "ExecScan", "heap_getnext", "ReadBuffer", "pread64", "k:vfs_read", "k:folio_wait_bit", "k:io_schedule"], "io-wait", "sleep_disk", 0.25],
		[["main", "PostgresMain", "exec_simple_query", "ExecScan", "ExecQual"], "on-cpu", "exec_user", 0.12],
		[["main", "PostgresMain", "ReadCommand", "recv", "k:unix_stream_recvmsg", "k:schedule"], "interruptible", "sleep_network", 0.55],
		[["main", "PostgresMain", "exec_simple_query", "k:asm_sysvec_apic_timer_interrupt", "k:schedule"], "runnable", "runnable", 0.03] ] },
	nginx: { threads: 2, file: "/usr/sbin/nginx", cgroup: "/system.slice/nginx.service", does: [
		[["main", "ngx_process_events_and_timers", "ngx_epoll_process_events", "epoll_wait", "k:ep_poll", "k:schedule"], "interruptible", "idle_poll", 0.93],
		[["main", "ngx_process_events_and_timers", "ngx_http_process_request", "writev", "k:tcp_sendmsg"], "on-cpu", "exec_system", 0.05] ] },
	cron: { threads: 1, file: "/usr/sbin/cron", cgroup: "/system.slice/cron.service", does: [
		[["main", "nanosleep", "k:hrtimer_nanosleep", "k:do_nanosleep", "k:schedule"], "interruptible", "sleep_timer", 1, 0.95] ] },
	logger: { threads: 1, file: "/usr/bin/logger", cgroup: "/system.slice/log.service", does: [
		[["main", "read", "k:pipe_read", "k:schedule"], "interruptible", "sleep_pipe", 0.7],
		[["main", "fsync", "k:ext4_sync_file", "k:io_schedule"], "io-wait", "sleep_disk", 0.2],
		[["main", "format"], "on-cpu", "exec_user", 0.04] ] },
	crawler: { threads: 1, file: "/usr/bin/crawler", cgroup: "/user.slice", does: [
		[["main", "getaddrinfo", "__res_context_send", "poll", "k:do_sys_poll", "k:schedule"], "interruptible", "idle_poll", 0.995] ] },
	// Idle at first.
	batch: { threads: 1, file: "/usr/bin/batch", cgroup: "/system.slice/batch.service", does: [
		[["main", "next_job", "pthread_cond_wait", "k:futex_do_wait", "k:schedule"], "interruptible", "idle_cond", 0.99],
		[["main", "tick"], "on-cpu", "exec_user", 0.002] ], later: [
		[["main", "next_job", "pthread_cond_wait", "k:futex_do_wait", "k:schedule"], "interruptible", "idle_cond", 0.5],
		[["main", "work"], "on-cpu", "exec_user", 0.3] ] },
	kworker: { threads: 6, file: null, cgroup: "/", kernel: 1, does: [
		[["k:ret_from_fork", "k:kthread", "k:worker_thread", "k:schedule"], "idle", "idle_worker", 1, 0.97] ] },
};

const METRICS = [
	{ name: "reads", unit: "ns", recorder: "bpf", start: "syscall:read", end: null, scope: "only comm shopd", frac_bits: 3, middle: 80 },
	{ name: "sizes", unit: null, recorder: "module", start: null, end: null, scope: null, frac_bits: 1, middle: 20 },
];

export class Readings {
	constructor({ seed = 1, crowd = 0, stacks = 0, kstats = false, beginMs = Date.UTC(2026, 10, 26, 12), intervalNs = SECOND, keptNs = 900 * SECOND } = {}) {
		Object.assign(this, { random: random(seed), stacks, kstats, beginMs, intervalNs, keptNs, seq: 0 });
		this.reset();
		this.actors = [];
		let tid = 1000;
		for (const [name, kind] of Object.entries(KINDS)) {
			const tgid = tid;
			for (let i = 0; i < kind.threads; i++, tid++)
				this.actors.push({ tid, tgid: kind.kernel ? tid : tgid, name: kind.threads > 1 && !kind.kernel ? name + "/" + i : name, process: name, kind });
		}
		for (let i = 0; i < crowd; i++)
			this.actors.push({ tid: 100000 + i, tgid: 100000 + i % 97, name: "idle-" + i, process: "crowd" + i % 97, kind: KINDS.kworker });
		if (stacks)
			this.actors.push({ tid: 900, tgid: 900, name: "wide", process: "wide", kind: { file: "/opt/wide", cgroup: "/wide", does: [] } });
		this.actors.forEach((actor, number) => { actor.number = number; });
	}

	// The dictionary is empty again, as after `reset`.
	reset() {
		this.names = new Map();
		this.frames = new Map();
		this.nodes = new Map();
		this.lasts = new Map();
		this.wide = [];
		this.areThreadsTold = false;
		this.areMetricsTold = false;
	}

	about() {
		return { version: "0.0", host: "shop1", kernel: "6.18.0", cpus: CPUS, mode: "both", target: null, interval_ns: this.intervalNs,
			kept_ns: this.keptNs, on_cpu_period_ns: 10101010,
			classes: { name: CLASSES, letter: CLASSES.map(c => c[0]), off_cpu: CLASSES.map(c => c !== "on-cpu" && c !== "event"), prose: CLASSES },
			states: { name: STATES, label: STATES, letter: STATES.map(s => s[0]), main: MAINS, prose: STATES },
			kinds: ["user", "kernel", "note", "idle"], presets: PRESETS };
	}

	name(text) {
		return this.number(this.names, text, () => this.tick.names.add.push(text));
	}

	number(map, key, add) {
		let number = map.get(key);
		if (number === undefined) {
			number = map.size;
			map.set(key, number);
			add();
		}
		return number;
	}

	frame(text, file) {
		const kernel = text.startsWith("k:"), isC = text.startsWith("c:"), name = this.name(kernel || isC ? text.slice(2) : text);
		const module = kernel ? this.name("[kernel]") : isC ? this.name("/lib/libc.so.6") : file === null ? null : this.name(file);
		return this.number(this.frames, name + "," + module, () => {
			const { frames } = this.tick;
			frames.name.push(name);
			frames.module.push(module);
			frames.kind.push(kernel ? KERNEL : USER);
			frames.traits.push(ASKING.includes(text) ? 2 : text === "main" ? 8 : /^k:(schedule|io_schedule|futex_do_wait|entry_)/.test(text) ? 4 : 0);
		});
	}

	node(stack, file) {
		let parent = null;
		for (const text of stack) {
			const frame = this.frame(text, file), above = parent;
			parent = this.number(this.nodes, above + "," + frame, () => {
				this.tick.nodes.parent.push(above);
				this.tick.nodes.frame.push(frame);
			});
		}
		return parent;
	}

	threads() {
		const t = this.tick.threads;
		if (this.areThreadsTold)
			return;
		this.areThreadsTold = true;
		for (const actor of this.actors) {
			t.tid.push(actor.tid);
			t.tgid.push(actor.tgid);
			t.uid.push(actor.kind.kernel ? 0 : 1000);
			t.name.push(this.name(actor.name));
			t.process.push(this.name(actor.process));
			t.cgroup.push(this.name(actor.kind.cgroup));
			t.container.push(actor.kind.container || null);
			t.kernel.push(actor.kind.kernel || 0);
		}
		this.tick.wakers.tid.push(1000, 1009, 0);
		this.tick.wakers.name.push(this.name("shopd/0"), this.name("postgres/1"), this.name("swapper/0"));
	}

	// One tick more.
	next() {
		const { random } = this, from = map => map.size, begin = this.beginMs + this.seq * this.intervalNs / 1e6;
		this.seq++;
		const ns = Math.round(this.intervalNs * (1 + (random() - 0.5) / 500));
		const tick = this.tick = { seq: this.seq, begin_ms: begin, end_ms: begin + this.intervalNs / 1e6, ns,
			names: { from: from(this.names), add: [] }, frames: { from: from(this.frames), name: [], module: [], kind: [], traits: [] },
			nodes: { from: from(this.nodes), parent: [], frame: [] },
			threads: { from: this.areThreadsTold ? this.actors.length : 0, tid: [], tgid: [], uid: [], name: [], process: [], cgroup: [], container: [], kernel: [] },
			wakers: { from: this.areThreadsTold ? 3 : 0, tid: [], name: [] },
			metrics: { from: this.areMetricsTold ? METRICS.length : 0, name: [], unit: [], recorder: [], start: [], end: [], scope: [], frac_bits: [] },
			kstats: { metric: [], active: [], lost: [], sum: [], slots: [], counts: [], omitted: 0 },
			samples: { thread: [], node: [], class: [], state: [], ns: [], count: [], longest_ns: [], waker: [] },
			lasting: { begin: { thread: [], node: [], class: [], state: [] }, end: [] }, cpu: { thread: [], ns: [] }, host: null,
			losses: { lost: 0, lost_ns: 0, missed: this.seq % 50 === 7 ? 3 : 0, truncated: 0, programs_ns: 1e6, own_cpu_ns: 5e6 } };
		this.threads();
		if (this.kstats)
			this.record();
		let busy = 0;
		for (const actor of this.actors)
			busy += this.act(actor, ns, 1 + 0.8 * Math.sin(this.seq / 9));
		if (this.stacks)
			this.addWide(ns);
		const part = Math.min(CPUS * ns, Math.round(busy + 0.05 * ns));
		tick.host = { cpu_ns: part, memory_total: 4 * 2 ** 30, memory_available: 2.5 * 2 ** 30, load: 1.25, pressure: {
			cpu_some: Math.round(0.08 * ns * random()), memory_some: 0, memory_full: 0,
			io_some: Math.round(0.3 * ns * random()), io_full: Math.round(0.1 * ns * random()), irq_full: null } };
		return tick;
	}

	// Each metric has values around a middle, and some far above it.
	record() {
		const { tick, random } = this, { metrics, kstats } = tick;
		METRICS.forEach((metric, number) => {
			if (!this.areMetricsTold)
				for (const column of Object.keys(metric).filter(key => key !== "middle"))
					metrics[column].push(metric[column]);
			const counts = new Map(), values = 50 + Math.floor(random() * 400);
			for (let i = 0; i < values; i++) {
				const slot = Math.max(0, Math.round(metric.middle + 2 ** metric.frac_bits * (random() + random() + random() - 1.5) * 2
					+ (random() < 0.02 ? 2 ** metric.frac_bits * 6 : 0) + 6 * Math.sin(this.seq / 11)));
				counts.set(slot, (counts.get(slot) || 0) + 1);
			}
			const slots = [...counts.keys()].sort((a, b) => a - b);
			kstats.metric.push(number);
			kstats.active.push(1);
			kstats.lost.push(this.seq % 40 === 3 ? 2 : 0);
			kstats.sum.push(values * 5000);
			kstats.slots.push(slots);
			kstats.counts.push(slots.map(slot => counts.get(slot)));
		});
		this.areMetricsTold = true;
	}

	act(actor, ns, swing) {
		const { tick, random } = this, s = tick.samples, { file } = actor.kind, last = this.lasts.get(actor.number);
		if (last && random() < 0.9)
			return 0;
		if (last) {
			this.lasts.delete(actor.number);
			tick.lasting.end.push(actor.number);
		}
		const does = actor.kind.later && this.seq > LATER ? actor.kind.later : actor.kind.does;
		let left = ns, cpu = 0;
		for (const [stack, cls, state, share, lasts] of does) {
			const stackNode = this.node(stack, file), part = Math.min(left, Math.round(ns * share * (state === "lock_futex" ? swing : 1) * (0.7 + 0.6 * random())));
			if (lasts && random() < lasts) {
				tick.lasting.begin.thread.push(actor.number);
				tick.lasting.begin.node.push(stackNode);
				tick.lasting.begin.class.push(CLASSES.indexOf(cls));
				tick.lasting.begin.state.push(STATES.indexOf(state));
				this.lasts.set(actor.number, true);
				return 0;
			}
			if (!part)
				continue;
			left -= part;
			const count = 1 + Math.floor(random() * 40);
			s.thread.push(actor.number);
			s.node.push(random() < 0.02 ? null : stackNode);
			s.class.push(CLASSES.indexOf(cls));
			s.state.push(STATES.indexOf(state));
			s.ns.push(part);
			s.count.push(count);
			s.longest_ns.push(Math.ceil(part / count) * 2);
			s.waker.push(state.startsWith("exec") || random() < 0.2 ? null : state === "sleep_disk" ? 2 : random() < 0.7 ? 0 : 1);
			if (cls === "on-cpu")
				cpu += Math.round(part * 0.98);
		}
		if (cpu) {
			tick.cpu.thread.push(actor.number);
			tick.cpu.ns.push(cpu);
		}
		return cpu;
	}

	// Stacks of a program with many: each calls two functions from somewhere in an earlier stack.
	addWide(ns) {
		const { tick, random } = this, s = tick.samples, thread = this.actors.length - 1;
		for (let i = 0; i < this.stacks; i++) {
			const locked = random() < 0.3;
			let node = this.wide.length < 8 ? null : this.wide[Math.floor(random() * this.wide.length)];
			for (let d = 0; d < 2; d++) {
				const frame = this.frame("wide_" + Math.floor(random() * 5000), "/opt/wide"), above = node;
				node = this.number(this.nodes, above + "," + frame, () => {
					tick.nodes.parent.push(above);
					tick.nodes.frame.push(frame);
				});
				this.wide.push(node);
			}
			s.thread.push(thread);
			s.node.push(node);
			s.class.push(CLASSES.indexOf(locked ? "interruptible" : "on-cpu"));
			s.state.push(STATES.indexOf(locked ? "lock_futex" : "exec_user"));
			s.ns.push(1 + Math.floor(random() * ns / this.stacks));
			s.count.push(1);
			s.longest_ns.push(1000);
			s.waker.push(null);
		}
	}
}
