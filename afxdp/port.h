/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Ports: a netdev (or an internal veth pair, a pcap file, a sink) with one queue for each worker.
 *
 * Life: port_open makes the device ready (promiscuous, VLAN stripping off, queue count, MTU,
 * offloads of devices that we create), loads and attaches the XDP program, makes one AF_XDP socket
 * a worker and hands each worker its queue; port_close undoes all of it in reverse. Ports come and
 * go in any order: each socket registers its worker's frame area as a UMEM of its own, so none
 * depends on another.
 *
 * What a device was set to before is kept in the run directory (saved.h), so that a start after
 * SIGKILL or `culvertd --cleanup` puts it back. Threads: all functions are control's.
 */
#ifndef AFXDP_PORT_H
#define AFXDP_PORT_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/addr.h"

struct worker;

enum port_kind { PORT_NETDEV, PORT_INTERNAL, PORT_PCAP, PORT_SINK };
enum port_mode { MODE_AUTO, MODE_ZERO_COPY, MODE_NATIVE, MODE_SKB, MODE_NONE };

/* What control asks for. What is pointed to must outlive the port. */
struct port_options {
	uint16_t index; /* egress id */
	uint8_t kind;   /* enum port_kind */
	uint8_t mode;   /* enum port_mode */
	const char *name;
	const char *device; /* netdev; for PORT_INTERNAL the host's end */
	uint32_t queues;    /* 0: as many as there are workers */
	uint32_t mtu;       /* 0: leave it */
	uint32_t ring;      /* entries per ring */
	struct mac mac;     /* PORT_INTERNAL */
	bool persist;       /* PORT_INTERNAL: the pair outlives port_close */
	bool underlay;      /* only VXLAN to local[] comes to us */
	bool want_hash;     /* ask the driver for the RX hash */
	bool tagged;        /* refuse when tags could be stripped unseen */
	bool rest_kernel;   /* VLANs not in vlans (and untagged, when vlans[0] bit 0 is clear) go up
			       the stack */
	uint64_t
	    vlans[64]; /* bit v: VLAN v is ours; bit 0: untagged and priority-tagged frames are */
	const struct ip *local; /* our VTEP addresses, for underlay */
	uint32_t n_local;
	uint16_t vxlan_port;     /* host order */
	bool unknown_vni_kernel; /* VNIs that are not ours go up the stack */
	const uint32_t *vnis;    /* ours, when unknown_vni_kernel */
	uint32_t n_vnis;
	const char *pcap_rx; /* PORT_PCAP; NULL: none */
	const char *pcap_tx;
	bool pcap_loop;
	bool pcap_preload;
	const char *run_dir; /* where saved settings are kept; NULL: nowhere */
};

/* What became of it; for `culvert port`. */
struct port_info {
	uint8_t mode;       /* enum port_mode: read back from the socket, never assumed */
	bool bound_program; /* the device-bound XDP program, with metadata kfuncs */
	bool hugepages;
	char program_why[160]; /* why this program, one sentence */
	char mode_why[160];    /* why this mode, when a better one was tried */
	char warning[200];     /* what will lose packets on this device, and the cure; or empty */
	int ifindex;           /* 0: no netdev */
	char device[16];
	char driver[32];
	uint32_t queues;
	uint32_t mtu;
	uint32_t speed_mbps; /* 0: unknown */
	struct mac mac;
	bool link;
	bool detached; /* somebody took the XDP program off: nothing arrives any more */
	bool done; /* PORT_PCAP: the file was read to its end */
};

/* Kernel's own counts, beside the books and not in them (XDP_STATISTICS of all queues). */
struct port_kernel_stats {
	uint64_t rx_ring_full;
	uint64_t fill_empty;
	uint64_t rx_dropped;
	uint64_t rx_invalid;
	uint64_t tx_invalid;
};

struct port;

/*
 * 0, or -errno with a sentence in @why that names the device and the cure:
 * -ENODEV no such device (the caller may wait for it), -EBUSY somebody else's XDP program or a
 * socket still going away (try again), -ERANGE MTU over the mode's limit, -EOPNOTSUPP mode not
 * possible here, -ENOSPC queues and workers differ, -EINVAL tags could be lost.
 */
int port_open(const struct port_options *options, struct worker *const *workers, uint32_t n_workers,
	      struct port **port, char *why, uint32_t why_bytes);

/* Detaches the queues from the workers, closes sockets, takes the program off, puts the device
 * back.
 * @device_gone: the netdev does not exist any more. Frames come home at once in copy mode, with the
 * next port_reap in zero-copy mode. Accepts NULL. */
void port_close(struct port *port, bool device_gone);

/* Once a second: frames of closed zero-copy ports come home. Not after a worker of theirs was
 * destroyed. */
void port_reap(void);

/* Frames that each worker needs for @n_ports ports with rings of @ring entries. */
uint32_t port_frames_needed(uint32_t n_ports, uint32_t ring);

/* The netdev is called @device from now on: devices are spoken to by name, and its old one may be
 * another's by now. */
void port_renamed(struct port *port, const char *device);

void port_info(struct port *port, struct port_info *info);
void port_kernel_stats(struct port *port, struct port_kernel_stats *stats);

/* Changes at run time, without reattaching. */
void port_set_vlans(struct port *port, const uint64_t vlans[64]);
/* Whether packets are to know when the NIC received them, where it can say: while somebody
 * captures. A port that was just opened does not ask. */
void port_set_time(struct port *port, bool on);
/* 0 or -errno (-E2BIG: more than 65536). Only for a port opened with unknown_vni_kernel. */
int port_set_vnis(struct port *port, const uint32_t *vnis, uint32_t n_vnis);

/* Puts back what a killed predecessor left behind in @run_dir (settings, internal pairs unless
 * @keep_internal, XDP programs of ours, devices of captures). Returns how many devices. */
int port_cleanup(const char *run_dir, bool keep_internal);

const char *port_mode_name(enum port_mode mode);
const char *port_kind_name(enum port_kind kind);

#endif
