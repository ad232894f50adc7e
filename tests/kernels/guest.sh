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
guest_timeout=${GUEST_TIMEOUT:-2400}
# What emulates x86_64, with its options.
guest_emulator=(qemu-system-x86_64)
# A guest writes to its console every few seconds. One that uses its CPUs and does not is hung.
guest_silence=60

# For another machine: the root that its bash, its busybox and all libraries are in. Empty: this host's.
guest_root=

# A file that guests find as /dev/vdc, to be read by several at once. Empty: no such disk.
guest_disk=

# The files of this directory as an initrd, or a part of one.
pack() {
	find . | cpio --quiet -o -H newc --owner 0:0
}

# run_there PROGRAM ARGUMENTS...: one that is made for the guest.
run_there() {
	${guest_root:+qemu-aarch64-static -L "$guest_root"} "$@"
}

# What its loader finds; a static program has none.
libraries_of() {
	local loader

	loader=$(readelf -lW "$1" 2> /dev/null | sed -n 's/.*program interpreter: \(.*\)\]/\1/p')
	[ -z "$loader" ] || run_there "$guest_root$loader" --list "$1" | sed -nE 's/^[^/]*(\/[^ ]+) .*/\1/p'
}

# add_program ROOT FILE: with the libraries it wants, at the places it wants them.
add_program() {
	local root=$1 file=$2 library

	cp -L "$file" "$root/bin/"
	libraries_of "$file" | while read -r library; do
		[ ! -e "$root$library" ] || continue
		mkdir -p "$root${library%/*}"
		cp -L "$guest_root$library" "$root$library"
	done
}

# build_base FILE PROGRAM...: bash, what busybox has, and these.
build_base() {
	local out=$1 root=$1.root tool

	shift
	rm -rf "$root"
	mkdir -p "$root"/{bin,dev,etc,proc,sys,run,tmp,modules,var/tmp}
	cp "$guest_root/bin/busybox" "$root/bin/busybox"
	for tool in $(run_there "$root/bin/busybox" --list); do
		[ "$tool" = busybox ] || ln -s busybox "$root/bin/$tool"
	done
	for tool; do
		rm -f "$root/bin/${tool##*/}"
		add_program "$root" "$tool"
	done
	add_program "$root" "$guest_root/bin/bash"
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

# machine MACHINE FILE: how one is started, whose results go to FILE: sets qemu, console,
# results, options.
machine() {
	case $1 in
	x86_64*)
		# More of a CPU makes some kernels crash in emulation. On a busy host timers and clocks seem
		# broken; without that one the kernel's own clock stands still at times, and so do delays.
		qemu=("${guest_emulator[@]}" -machine q35 -cpu Nehalem -serial "file:$2")
		console=ttyS0 results=ttyS1 options="no_timer_check tsc=reliable"
		;;
	aarch64)
		qemu=(qemu-system-aarch64 -machine virt -cpu cortex-a57
			-chardev "file,id=results,path=$2" -device pci-serial,chardev=results)
		# No memory that is free, but not for all who want some.
		console=ttyAMA0 results=ttyS0 options=cma=0
		;;
	esac
	case $1 in
	# Two cores of two threads each.
	*-smt) qemu+=(-smp "4,sockets=1,cores=2,threads=2") ;;
	*) qemu+=(-smp 2) ;;
	esac
}

# ticks_of PID: clock ticks of CPU time that its child has used.
ticks_of() {
	local child=$(< "/proc/$1/task/$1/children")

	sed 's/.*) //' "/proc/${child% }/stat" | awk '{ print $12 + $13 }'
} 2> /dev/null

# monitor OUT COMMAND: what the emulator's monitor answers.
monitor() {
	echo "$2" > "$1.monitor.in"
	timeout 5 cat "$1.monitor.out"
}

# watch_guest PID OUT: until the emulator below PID ends, or its guest hangs: then OUT.log has the registers of
# its CPUs, and it is ended. On a host that gives it no CPU it may be silent for longer.
watch_guest() {
	local pid=$1 out=$2 never beats=0 now ticks began=0 since=$SECONDS hung= hertz

	hertz=$(getconf CLK_TCK)
	exec {never}<> <(:)
	while kill -0 "$pid" 2> /dev/null; do
		read -r -t 2 -u "$never"
		now=$(grep -ac alive "$out.log" 2> /dev/null)
		ticks=$(ticks_of "$pid")
		if [ "$now" != "$beats" ]; then
			beats=$now began=$ticks since=$SECONDS
		elif ((SECONDS - since >= guest_silence && ticks - began >= guest_silence * hertz)); then
			hung="hung: silent for $guest_silence s"
		fi
		! grep -aqE 'soft lockup|hard LOCKUP' "$out.log" 2> /dev/null || hung="hung: a CPU is locked up"
		[ -n "$hung" ] || continue
		{
			echo
			monitor "$out" 'info registers -a' | grep -avE '^(FPR|XMM)'
			printf '\n%s\n' "$hung"
		} >> "$out.log"
		kill "$pid"
		break
	done
	exec {never}>&-
}

# boot_guest KERNEL BASE JOB OUT PARAMETERS: OUT.out and OUT.log; fails when the job did not end.
boot_guest() {
	local directory=$kernel_cache/$1 base=$2 job=$3 out=$4 parameters=$5 kind qemu console results options

	for kind in data swap; do
		rm -f "$out.$kind"
		truncate -s 64M "$out.$kind"
	done
	rm -f "$out.monitor".{in,out} "$out.log" "$out.out"
	mkfifo "$out.monitor".{in,out}
	# The kernel unpacks one archive after the other.
	{ cat "$base"; pack_modules "$directory" "$out.modules"; cat "$job"; } > "$out.initrd"
	machine "$(machine_of "$1")" "$out.out"
	timeout "$guest_timeout" "${qemu[0]}" -serial "file:$out.log" "${qemu[@]:1}" \
		-accel tcg,thread=multi -m "${guest_memory:-512}" -display none -no-reboot -nic none \
		-chardev "pipe,id=monitor,path=$out.monitor" -mon chardev=monitor,mode=readline \
		-kernel "$directory/vmlinuz" -initrd "$out.initrd" \
		-drive "if=virtio,format=raw,file=$out.data" \
		-drive "if=virtio,format=raw,file=$out.swap" \
		${guest_disk:+-drive "if=virtio,format=raw,readonly=on,file=$guest_disk"} \
		-append "console=$console results=$results panic=-1 softlockup_all_cpu_backtrace=1 quiet $options $parameters" \
		< /dev/null > "$out.qemu" 2>&1 &
	watch_guest $! "$out"
	wait $!
	rm -f "$out.initrd" "$out.data" "$out.swap" "$out.monitor".{in,out}
	grep -q '^job ended with 0' "$out.log"
}

# why_hung OUT: nothing if the guest did not hang.
why_hung() {
	sed -n 's/^hung: //p' "$1.log"
}
