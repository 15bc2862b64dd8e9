#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Zero-copy, on a driver that has it: virtio_net since 6.13. The mode is read back, frames pass both
# ways, no frame is lost over closing and opening the port again, and the device is as before.
#
#   h1 10.0.0.1 (veth) ---- culvert: blue ---- h2 10.0.0.2 (virtio_net, over a cable)
#
# vm: nics iommu_platform=on,disable-legacy=on
. "$(dirname "$0")/lib.sh"

host h1 10.0.0.1/24
cabled h2 10.0.0.2/24
config()
{
	write_config <<Y
workers: {ring: 256}
ports:
  h1: {untagged: blue, mode: native}
  h2: {untagged: blue, mode: $1}
networks:
  blue:
Y
}

config zero-copy
run_culvert
say "h2: $(port h2 mode), $(port h2 program); $(port h2 program_why)"
equal "mode" zero-copy "$(port h2 mode)"
expect "ping" pings h1 10.0.0.2
expect "ping" pings h2 10.0.0.1
expect "large pings" pings h1 10.0.0.2 -s 1472
transfers h1 h2 10.0.0.2 tcp 3000000
transfers h2 h1 10.0.0.1 tcp 3000000
finish
