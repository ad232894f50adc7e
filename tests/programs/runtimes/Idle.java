// SPDX-License-Identifier: BSD-2-Clause

import java.io.FileInputStream;
import java.net.InetSocketAddress;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Pipe;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A program of Java with nothing to do: `Idle server` waits for connections. `Idle idle BEAT` has pools
 * too, with a little to do every BEAT ms. `Idle block BEAT` has tasks in a pool that really block as well,
 * and says on which thread: "block TID WHAT".
 */
public class Idle {
	static final ReentrantLock lock = new ReentrantLock();
	static final Object monitor = new Object();

	static synchronized void say(String what) throws Exception {
		String self = Files.readSymbolicLink(Path.of("/proc/thread-self")).toString();

		System.out.println("block " + self.substring(self.lastIndexOf('/') + 1) + " " + what);
	}

	interface Work {
		void run() throws Exception;
	}

	static Runnable task(Work work) {
		return () -> {
			try {
				work.run();
			} catch (Exception e) {
				e.printStackTrace();
			}
		};
	}

	static void readPipe() throws Exception {
		Pipe.open().source().read(ByteBuffer.allocate(1));
	}

	static void sleepShortly() throws Exception {
		for (;;)
			Thread.sleep(100);
	}

	static void select() throws Exception {
		Selector selector = Selector.open();
		ServerSocketChannel server = ServerSocketChannel.open();

		server.bind(new InetSocketAddress("127.0.0.1", 0));
		server.configureBlocking(false);
		server.register(selector, SelectionKey.OP_ACCEPT);
		for (;;)
			selector.select();
	}

	static void block(ExecutorService pool) throws Exception {
		pool.execute(task(() -> { say("sleep"); sleepShortly(); }));
		pool.execute(task(() -> { lock.lock(); say("pipe"); readPipe(); }));
		pool.execute(task(() -> { synchronized (monitor) { say("pipe-in-monitor"); readPipe(); } }));
		Thread.sleep(100);
		pool.execute(task(() -> { say("lock"); lock.lock(); }));
		pool.execute(task(() -> { say("monitor"); synchronized (monitor) { lock.lock(); } }));
		Thread.sleep(100);
	}

	public static void main(String[] args) throws Exception {
		if (args[0].equals("server")) {
			System.out.println("ready");
			select();
		}
		ScheduledExecutorService timer = Executors.newScheduledThreadPool(1);
		ExecutorService pool = Executors.newFixedThreadPool(4);
		ExecutorService blocking = Executors.newCachedThreadPool();
		Thread selecting = new Thread(task(Idle::select), "selecting");

		selecting.start();
		timer.scheduleAtFixedRate(task(() -> {
			for (int i = 0; i < 4; i++)
				pool.execute(() -> new byte[1000].hashCode());
			ForkJoinPool.commonPool().execute(() -> new byte[1000].hashCode());
		}), 0, Integer.parseInt(args[1]), TimeUnit.MILLISECONDS);
		if (args[0].equals("block"))
			block(blocking);
		Thread.sleep(300);
		System.out.println("ready");
	}
}
