# SPDX-License-Identifier: BSD-2-Clause
#
# ctprof doctor on a kernel that was booted with nothing turned on.
# boot: bare

. tests/kernels/guest/doctor.sh

switches_are_turned_on() {
	examine
	says schedstats no
	says delays no
	says taskstats yes
	mended schedstats
	eval "$(finding delays run)"
	examine
	# The threads that there were stay without.
	says delays partly
	equal "what mends the rest" "$(finding delays boot)" delayacct
}

# What a boot loader would do: the parameter lands where it looks for it. The kernels of the other
# boot have it, and there doctor finds what is missing here.
boot_parameters_are_named() {
	mkdir -p /etc/default/grub.d "$scratch/bin"
	printf '#!/bin/bash\n' > "$scratch/bin/update-grub"
	chmod +x "$scratch/bin/update-grub"
	at_end 'rm -r /etc/default'
	examine
	says pressure no
	says cgroup-pressure no
	equal "the parameter" "$(finding pressure boot)" psi=1
	PATH=$scratch/bin:$PATH eval "$(finding pressure run)"
	GRUB_CMDLINE_LINUX=quiet
	. /etc/default/grub.d/ctprof.cfg
	equal "the command line" "$GRUB_CMDLINE_LINUX" "quiet psi=1"
}

run_case "doctor's commands enable what needs no reboot" switches_are_turned_on
run_case "doctor adds the parameter that a boot wants" boot_parameters_are_named
