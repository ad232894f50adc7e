# SPDX-License-Identifier: BSD-2-Clause
#
# Debian's kernels, from the package mirror that this machine has into a cache; the system's package
# sources and its installed packages are not touched. For scripts that are bash, in the root of the
# tree:
#
#	. tests/kernels/fetch.sh
#	fetch_kernel 6.12        # $kernel_cache/6.12/vmlinuz, and what modules it wants
#
# A function that fails says why on standard error.

kernel_cache=${XDG_CACHE_HOME:-$HOME/.cache}/ctprof/kernels
kernel_table=tests/kernels/table

# What the guests need: their disks, and swap in memory. What these depend on comes along; some
# kernels have some of it built in.
kernel_modules='virtio_pci virtio_blk zram lzo-rle'

# kernels_of SET...: the names in the table, of these sets
kernels_of() {
	awk -v sets=" $* " '!/^#/ && index(sets, " " $5 " ") { print $1 }' "$kernel_table"
}

# column_of NAME N: of its line in the table, with a space for each comma.
column_of() {
	awk -v name="$1" -v n="$2" '$1 == name { gsub(",", " ", $n); print $n }' "$kernel_table"
}

release_of() { column_of "$1" 2; }
suite_of() { column_of "$1" 3; }
machine_of() { column_of "$1" 4; }
cases_for() { column_of "$1" 6; } # nothing: all of them

# The status of what cannot be had here and now, through no fault of ours.
CANNOT_BE_HAD=77

fetch_fails() {
	echo "$*" >&2
	return $CANNOT_BE_HAD
}

# --- packages of any suite ---

# apt with package lists of its own, for packages of `architecture`: apt_of SUITE COMMAND...
architecture=amd64

apt_of() {
	local state=$kernel_cache/apt/$1.$architecture command=$2

	shift 2
	"$command" -o Dir::Etc::sourcelist="$state/sources.list" -o Dir::Etc::sourceparts=/dev/null \
		-o Dir::State::Lists="$state/lists" -o Dir::Cache="$state/cache" \
		-o APT::Architecture=$architecture -o APT::Architectures=$architecture \
		-o APT::Sandbox::User=root "$@"
}

update_suite() {
	local suite=$1 state=$kernel_cache/apt/$1.$architecture mirror

	mirror=$(tools/debian-mirror) || return $CANNOT_BE_HAD
	mkdir -p "$state/lists/partial" "$state/cache" || return
	echo "deb [arch=$architecture signed-by=/usr/share/keyrings/debian-archive-keyring.gpg]" \
		"$mirror $suite main" > "$state/sources.list"
	apt_of "$suite" apt-get -qq -o Acquire::Retries=2 --error-on=any update > "$state/log" 2>&1 ||
		fetch_fails "the mirror cannot be reached for $suite: $(grep -m 1 '^E:' "$state/log")"
}

# The newest package PREFIX-KERNEL.* of the plain flavour: neither cloud nor rt.
find_package() {
	local suite=$1 prefix=$2 kernel=${3//./\\.}

	apt_of "$suite" apt-cache pkgnames "$prefix-$3" |
		sed -nE "/^$prefix-$kernel\.[0-9]+(-[0-9]+|\+deb[0-9.]+)-$architecture$/p" | sort -V | tail -n 1
}

# unpack SUITE PACKAGE DIR; no PACKAGE is nothing to do
unpack() {
	local suite=$1 package=$2 to=$3

	[ -n "$package" ] || return 0
	echo "fetching $package" >&2
	(cd "$to" && apt_of "$suite" apt-get -qq download "$package" && dpkg-deb -x "$package"_*.deb .) >&2 ||
		fetch_fails "$package cannot be had from $suite"
}

# --- kernels ---

# Of any machine's module, which objcopy does not know.
depends_of() {
	readelf -p .modinfo "$1" | sed -n 's/.*\] *depends=//p' | tr ',' ' '
}

# add_module TREE DIR MODULE: copy it after all that it depends on, and write the order down.
add_module() {
	local tree=$1 to=$2 module=${3//-/_} file needed

	! grep -qsx "$module.ko" "$to/modules" || return 0
	file=$(find "$tree" -name "${module//_/[-_]}.ko*")
	[ -n "$file" ] || return 0
	cp "$file" "$to/$module.ko${file##*.ko}" || return
	[ ! -e "$to/$module.ko.xz" ] || xz -d "$to/$module.ko.xz" || return
	for needed in $(depends_of "$to/$module.ko"); do
		add_module "$tree" "$to" "$needed" || return
	done
	echo "$module.ko" >> "$to/modules"
}

# fetch_kernel NAME: the image, and the few modules with their order in the file `modules`.
fetch_kernel() {
	local name=$1 to=$kernel_cache/$1 release architecture=amd64

	release=$(release_of "$name")
	[ -n "$release" ] || fetch_fails "no kernel '$name'; there are:" $(kernels_of default recorded all) || return
	if [ "$release" = tuned ]; then
		tests/kernels/build_kernel "$to" && touch "$to/modules"
		return
	fi
	[ "$(machine_of "$name")" != aarch64 ] || architecture=arm64
	[ "$(cat "$to/wanted" 2> /dev/null)" != "$kernel_modules" ] || return 0
	fetch_image "$release" "$(suite_of "$name")" "$to.new" || return
	rm -rf "$to"
	mv "$to.new" "$to"
}

# fetch_image RELEASE SUITE DIR. Where there are linux-binary and linux-modules, from 6.19 on, these
# hold what linux-image held before.
fetch_image() {
	local release=$1 suite=$2 to=$3 tree=$3.tree package module

	update_suite "$suite" || return
	package=$(find_package "$suite" linux-binary "$release")
	[ -n "$package" ] || package=$(find_package "$suite" linux-image "$release")
	[ -n "$package" ] || fetch_fails "$suite lists no kernel $release any more" || return
	rm -rf "$tree" "$to"
	mkdir -p "$tree" "$to" || return
	unpack "$suite" "$package" "$tree" &&
		unpack "$suite" "$(find_package "$suite" linux-modules "$release")" "$tree" || return
	touch "$to/modules"
	for module in $kernel_modules; do
		add_module "$tree" "$to" "$module" || return
	done
	find "$tree" -name 'vmlinuz*' -type f -exec cp {} "$to/vmlinuz" \;
	find "$tree" -path '*/boot/config-*' -exec cp {} "$to/config" \;
	rm -rf "$tree"
	[ -e "$to/vmlinuz" ] || fetch_fails "$package holds no kernel image" || return
	echo "$kernel_modules" > "$to/wanted"
}

# --- the emulator ---

# QEMU 7.2, Debian 12's own, now and then goes on to execute what another CPU has overwritten. Kernels patch their
# code, as when a tracepoint is enabled: guests of 6.1 hang, within some hundred such changes on a busy host. The one
# in Debian's backports does not.
emulator_suite=bookworm-backports
emulator_packages='qemu-system-x86 qemu-system-common qemu-system-data seabios'

# fetch_emulator: into $kernel_cache/qemu, where it can be had and is newer than this host's; sets guest_emulator
# (guest.sh).
fetch_emulator() {
	local to=$kernel_cache/qemu new=$kernel_cache/qemu.$$ package

	if [ ! -e "$to" ]; then
		update_suite "$emulator_suite" && mkdir -p "$new" || return
		for package in $emulator_packages; do
			unpack "$emulator_suite" "$package" "$new" || return
		done
		rm -f "$new"/*.deb
		# Another run may have been faster.
		mv -T "$new" "$to" 2> /dev/null || rm -rf "$new"
	fi
	! ldd "$to/usr/bin/qemu-system-x86_64" | grep -q 'not found' || fetch_fails "a newer QEMU does not start here" || return
	guest_emulator=("$to/usr/bin/qemu-system-x86_64" -L "$to/usr/share/qemu" -L "$to/usr/share/seabios")
}
