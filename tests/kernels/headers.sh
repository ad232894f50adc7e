# SPDX-License-Identifier: BSD-2-Clause
#
# What modules for Debian's kernels are built with: the headers of a kernel that fetch_kernel has
# brought, unpacked side by side and not installed, and kmod/ built with them. For scripts that are bash, in
# the root of the tree, after fetch.sh:
#
#	build_modules 6.12 DIR          # DIR/kstats.ko, DIR/kstats_sample.ko, DIR/kstats_test.ko
#
# A function that fails says why on standard error.

# release_in VMLINUZ: as the kernel says it itself (Documentation/arch/x86/boot.rst: kernel_version).
release_in() {
	local at

	at=$(od -An -tu2 -j 526 -N 2 "$1") || return
	dd if="$1" bs=1 skip=$((at + 512)) count=64 2> /dev/null | tr ' \0' '\n\n' | head -n 1
}

# fetch_headers NAME: into $kernel_cache/NAME.headers, for exactly the kernel that is there. A suite
# that lists a kernel's image need not list its headers.
fetch_headers() {
	local name=$1 to=$kernel_cache/$1.headers suite release package

	[ "$(machine_of "$name")" = x86_64 ] && [ "$(release_of "$name")" != tuned ] ||
		fetch_fails "modules are built for Debian's kernels of x86_64" || return
	suite=$(suite_of "$name")
	release=$(release_in "$kernel_cache/$name/vmlinuz") || return
	[ "$(cat "$to/release" 2> /dev/null)" != "$release" ] || return 0
	update_suite "$suite" || return
	apt_of "$suite" apt-cache pkgnames "linux-headers-$release" | grep -qx "linux-headers-$release" ||
		fetch_fails "$suite lists no headers of $release" || return
	rm -rf "$to" "$to.new"
	mkdir -p "$to.new" || return
	for package in "linux-headers-$release" $(apt_of "$suite" apt-cache depends "linux-headers-$release" |
		sed -nE 's/.*Depends: (linux-(headers|kbuild|compiler)-.*)/\1/p'); do
		unpack "$suite" "$package" "$to.new" || return
	done
	rm -f "$to.new"/*.deb
	# They name each other by where they would be installed.
	sed -i "s|/usr/src/|$to/usr/src/|" "$to.new/usr/src/linux-headers-$release/Makefile" || return
	run_newer_tools "$to.new" "$to" || return
	echo "$release" > "$to.new/release"
	mv "$to.new" "$to"
}

# Tools of a newer Debian want its C library.
newer_suite=trixie
newer_packages='libc6 libelf1t64 zlib1g libzstd1'

# needs_newer FILE: does this program not start with the libraries of this host?
needs_newer() {
	# In a pipe to grep -q, ldd may end by SIGPIPE, which is a failure under pipefail.
	[ "$(head -c 4 "$1" | tr -d '\177')" = ELF ] && [[ $(ldd "$1" 2>&1) == *'not found'* ]]
}

# run_newer_tools TREE PLACE: what does not start with this host's libraries is started with its own; PLACE is
# where TREE will be.
run_newer_tools() {
	local tree=$1 place=$2 tool package newer=

	while read -r tool; do
		needs_newer "$tool" || continue
		if [ -z "$newer" ]; then
			newer=$place/newer
			mkdir -p "$tree/newer"
			update_suite "$newer_suite" || return
			for package in $newer_packages; do
				unpack "$newer_suite" "$package" "$tree/newer" || return
			done
			rm -f "$tree/newer"/*.deb
		fi
		mv "$tool" "$tool.newer"
		cat > "$tool" <<- END
			#!/bin/sh
			exec $newer/usr/lib64/ld-linux-x86-64.so.2 \\
				--library-path $newer/usr/lib/x86_64-linux-gnu $place${tool#"$tree"}.newer "\$@"
		END
		chmod +x "$tool"
	done < <(find "$tree/usr" -type f -perm -u+x ! -name '*.so*')
}

# --- modules ---

# build_modules NAME DIR: kstats.ko and those of its tests into DIR, for the kernel of that name. What the
# compiler or modpost warns of is a failure.
build_modules() {
	local to=$2 headers=$kernel_cache/$1.headers tree=$2.tree log=$2.log part

	fetch_headers "$1" || return
	headers=$headers/usr/src/linux-headers-$(cat "$headers/release")
	rm -rf "$tree"
	mkdir -p "$to" "$tree/tests" || return
	# As dkms(8) is given it.
	make -s -C kmod dkms DESTDIR="$(realpath "$tree")" && mv "$tree"/usr/src/kstats-* "$tree/kmod" &&
		cp -r tests/kernels/module "$tree/" && cp tests/kstats_values.h "$tree/tests/" || return
	: > "$log"
	for part in kmod module; do
		# No pahole is wanted; and an older compiler than the kernel's has no such option.
		MAKEFLAGS='' make -s -C "$headers" M="$(realpath "$tree/$part")" CC=gcc W=1 KCFLAGS=-Werror \
			KBUILD_EXTRA_SYMBOLS="$([ $part = kmod ] || realpath "$tree/kmod/Module.symvers")" \
			CONFIG_DEBUG_INFO_BTF_MODULES= CONFIG_CC_HAS_MIN_FUNCTION_ALIGNMENT= modules \
			>> "$log" 2>&1 || { cat "$log" >&2; return 1; }
	done
	! grep -E '^WARNING|: warning:' "$log" >&2 || return 1
	cp "$tree"/kmod/*.ko "$tree"/kmod/sample/*.ko "$tree"/module/*.ko "$to/" || return
	objdump -dr --no-show-raw-insn "$to/kstats.ko" | sed -n '/<kstats_record>:$/,/^$/p' > "$to/kstats_record.s"
}
