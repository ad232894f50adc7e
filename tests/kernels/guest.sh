# SPDX-License-Identifier: BSD-2-Clause
#
# A guest: one of Debian's kernels in QEMU, around an initrd that runs one job and powers off. For
# scripts that are bash, in the root of the tree:
#
#	. tests/kernels/guest.sh
#	build_base "$dir/base" PROGRAM...         # once: the system, with these programs of this host
#	(cd "$dir/job" && pack) > "$dir/job.cpio" # what to run: its file `job`
#	boot_guest 6.12 "$dir/base" "$dir/job.cpio" "$dir/6.12" 'psi=1 delayacct'
#
# The job's standard output leaves by another serial port than the console's, into $dir/6.12.out; the
# console is $dir/6.12.log. QEMU emulates, so any machine will do.

guest_init=tests/kernels/guest/init
guest_timeout=${GUEST_TIMEOUT:-400}

# The files of this directory as an initrd, or a part of one.
pack() {
	find . | cpio --quiet -o -H newc --owner 0:0
}

# add_program ROOT FILE: with the libraries it wants, at the places it wants them.
add_program() {
	local root=$1 file=$2 library

	cp -L "$file" "$root/bin/"
	{ ldd "$file" 2> /dev/null || true; } | sed -nE 's/^[^/]*(\/[^ ]+) .*/\1/p' | while read -r library; do
		[ ! -e "$root$library" ] || continue
		mkdir -p "$root${library%/*}"
		cp -L "$library" "$root$library"
	done
}

# build_base FILE PROGRAM...: bash, what busybox has, and these.
build_base() {
	local out=$1 root=$1.root tool

	shift
	rm -rf "$root"
	mkdir -p "$root"/{bin,dev,etc,proc,sys,run,tmp,modules,var/tmp}
	cp /bin/busybox "$root/bin/busybox"
	for tool in $(busybox --list); do
		[ "$tool" = busybox ] || ln -s busybox "$root/bin/$tool"
	done
	for tool; do
		rm -f "$root/bin/${tool##*/}"
		add_program "$root" "$tool"
	done
	add_program "$root" /bin/bash
	cp "$guest_init" "$root/init"
	(cd "$root" && pack) > "$out"
	rm -rf "$root"
}

pack_modules() {
	local directory=$1 root=$2 module

	rm -rf "$root"
	mkdir -p "$root/modules"
	cp "$directory/modules" "$root/modules/order"
	while read -r module; do
		cp "$directory/$module" "$root/modules/"
	done < "$directory/modules"
	(cd "$root" && pack)
	rm -rf "$root"
}

# machine MACHINE FILE: how one is started, whose results go to FILE: sets qemu, console, results, clock.
machine() {
	case $1 in
	x86_64*)
		# More of a CPU makes some kernels crash in emulation.
		qemu=(qemu-system-x86_64 -machine q35 -cpu Nehalem -serial "file:$2")
		console=ttyS0 results=ttyS1
		;;
	aarch64)
		qemu=(qemu-system-aarch64 -machine virt -cpu cortex-a57
			-chardev "file,id=results,path=$2" -device pci-serial,chardev=results)
		console=ttyAMA0 results=ttyS0
		;;
	esac
	case $1 in
	# Two cores of two threads each. A watchdog takes the clock of a busy host's guest for broken, and
	# the kernel stops to account interrupts.
	*-smt) qemu+=(-smp "4,sockets=1,cores=2,threads=2") clock=tsc=reliable ;;
	*) qemu+=(-smp 2) clock= ;;
	esac
}

# boot_guest KERNEL BASE JOB OUT PARAMETERS: OUT.out and OUT.log; fails when the job did not end.
boot_guest() {
	local directory=$kernel_cache/$1 base=$2 job=$3 out=$4 parameters=$5 kind qemu console results clock

	for kind in data swap; do
		rm -f "$out.$kind"
		truncate -s 64M "$out.$kind"
	done
	# The kernel unpacks one archive after the other.
	{ cat "$base"; pack_modules "$directory" "$out.modules"; cat "$job"; } > "$out.initrd"
	machine "$(machine_of "$1")" "$out.out"
	timeout "$guest_timeout" "${qemu[0]}" -serial "file:$out.log" "${qemu[@]:1}" \
		-accel tcg,thread=multi -m 512 -display none -no-reboot -nic none \
		-kernel "$directory/vmlinuz" -initrd "$out.initrd" \
		-drive "if=virtio,format=raw,file=$out.data" \
		-drive "if=virtio,format=raw,file=$out.swap" \
		-append "console=$console results=$results panic=-1 quiet $clock $parameters" \
		< /dev/null > "$out.qemu" 2>&1
	rm -f "$out.initrd" "$out.data" "$out.swap"
	grep -q '^job ended' "$out.log"
}
