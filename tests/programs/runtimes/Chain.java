// SPDX-License-Identifier: BSD-2-Clause

/** `Chain spin` and `Chain nap` do so below five functions that call each other. */
public class Chain {
	static Runnable act;
	static volatile long sum;

	static void spin() {
		for (int i = 0; i < 1000000; i++)
			sum += i;
	}

	static void nap() {
		try {
			Thread.sleep(20);
		} catch (InterruptedException e) {
			throw new RuntimeException(e);
		}
	}

	static void five() { act.run(); sum++; }
	static void four() { five(); sum++; }
	static void three() { four(); sum++; }
	static void two() { three(); sum++; }
	static void one() { two(); sum++; }

	public static void main(String[] args) {
		act = args[0].equals("spin") ? Chain::spin : Chain::nap;
		System.out.println("ready");
		for (;;)
			one();
	}
}
