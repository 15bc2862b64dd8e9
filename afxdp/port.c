/* SPDX-License-Identifier: BSD-2-Clause */
#include "afxdp/port.h"

#include <dirent.h>
#include <errno.h>
#include <linux/if_xdp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "afxdp/device.h"
#include "afxdp/internal.h"
#include "afxdp/pcap_port.h"
#include "afxdp/port_own.h"
#include "afxdp/worker.h"
#include "dataplane/pool.h"
#include "lib/bits.h"
#include "lib/clock.h"
#include "lib/log.h"
