# SPDX-License-Identifier: BSD-2-Clause
# One guest: its initial RAM disk, its job, its devices. Sourced by tests/vm/run, which sets here,
# top, build, dir and the limits boot_s and test_s.
#
# A guest leaves nothing: its files are in a folder that the caller removes, its network devices in
# a namespace that ends with QEMU, and QEMU ends with the script that started it, also a killed one.
#
# shellcheck shell=bash
modules="virtio_pci 9pnet_virtio 9p overlay"
qemu_pid=

# make_initrd KERNEL: busybox, init, and the modules that it loads, in their order.
make_initrd()
{
	local root=$guest/initrd release n=100 file name
	release=$(basename "$dir/$1"/lib/modules/*)
	mkdir -p "$root"/{bin,dev,proc,host,changes,root,modules}
	cp "$(command -v busybox)" "$root/bin/busybox"
	for name in sh mount mkdir insmod ln chroot; do
		ln -s busybox "$root/bin/$name"
	done
	cp "$here/init" "$root/init"
	for name in $modules; do
		modprobe -d "$dir/$1" -S "$release" --show-depends "$name"
	done | awk '$1 == "insmod" && !seen[$2]++ {print $2}' >"$guest/modules"
	while read -r file; do
		n=$((n + 1))
		name=$(basename "$file")
		case $file in
		*.xz) xz -dc "$file" >"$root/modules/$n-${name%.xz}" ;;
		*) cp "$file" "$root/modules/$n-$name" ;;
		esac
	done <"$guest/modules"
	(cd "$root" && find . | cpio -o -H newc --quiet) >"$guest/initrd.cpio"
}

# make_job KERNEL TEST...: what the guest is told, a file of variables.
make_job()
{
	local kernel=$1
	shift
	mkdir "$guest/job"
	{
		printf 'kernel_dir=%q\n' "$(realpath "$dir/$kernel")"
		printf 'tests_dir=%q\nbuild_dir=%q\n' "$top/tests" "$build"
		printf "tests='%s'\nlimit_s=%d\n" "$*" "$test_s"
		printf 'sanitized=%s\n' "${SANITIZED:-}"
		printf "nics='%s'\n" "${nics:+$(mac 0) $(mac 1)}"
	} >"$guest/job/job"
	: >"$guest/job/results"
}

mac() { printf '52:54:00:00:00:%02x' "$1"; }

# share TAG DIRECTORY [OPTION]: the guest mounts it with 9p.
share()
{
	qemu+=(-fsdev "local,id=$1,path=$2,security_model=none,multidevs=remap${3:-}"
		-device "virtio-9p-pci,fsdev=$1,mount_tag=$1")
}

# add_nics: two with one queue pair each and the properties of $nics; tests/vm/cable connects them.
# A driver that has more would receive XDP's frames on queues beside those of the workers.
add_nics()
{
	local i
	for i in 0 1; do
		qemu+=(-netdev "tap,id=nic$i,ifname=nic$i,script=no,downscript=no,vhost=off"
			-device "virtio-net-pci,netdev=nic$i,mac=$(mac $i),$nics")
	done
}

# run_guest KERNEL CPUS NICS TEST...: the folder $guest is empty before; afterwards $guest/console
# and $guest/job have what came of it. The console is this program's output. ^C ends the guest,
# hence in the background.
run_guest()
{
	local kernel=$1 cpus=$2 nics=$3 wrap=()
	shift 3
	make_initrd "$kernel"
	make_job "$kernel" "$@"
	# shellcheck disable=SC2054 # the commas are QEMU's
	qemu=(qemu-system-x86_64 -M q35 -accel tcg,thread=multi,tb-size=256 -cpu max,la57=off
		-smp "$cpus" -m 2048 -no-user-config -nodefaults -display none -no-reboot
		-monitor none
		-kernel "$dir/$kernel/vmlinux" -initrd "$guest/initrd.cpio"
		-append "console=ttyS0 loglevel=4 panic=-1 oops=panic nokaslr mitigations=off
audit=0 apparmor=0 no_timer_check cryptomgr.notests=1 random.trust_cpu=on net.ifnames=0"
		-chardev stdio,id=console,signal=off -serial chardev:console
		-object rng-random,id=rng,filename=/dev/urandom -device virtio-rng-pci,rng=rng)
	share root / ,readonly=on
	share job "$guest/job"
	if [ -n "$nics" ]; then
		add_nics
		wrap=(unshare -n "$here/cable")
	fi
	setpriv --pdeathsig TERM timeout $((boot_s + $# * test_s)) "${wrap[@]}" "${qemu[@]}" \
		</dev/null > >(sed -u 's/\r$//' | tee "$guest/console") 2>&1 &
	qemu_pid=$!
	wait $qemu_pid || true
	qemu_pid=
}
