/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The loader of steer.bpf.c: one instance of the program on one device.
 *
 * Life: steer_clear (whatever a killed predecessor left), steer_load, steer_attach,
 * steer_set_socket for each queue, steer_close. The program hangs on a bpf_link: when the process
 * dies it goes with it. Threads: control's. The program reads vlans while control writes them: word
 * by word; so it does the switch of steer_set_time.
 */
#ifndef AFXDP_STEER_H
#define AFXDP_STEER_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/addr.h"
#include "lib/why.h"

/* What the program is to decide, and with what knowledge. */
struct steer_options {
	const char *device;
	int ifindex;
	uint32_t n_queues;
	uint32_t cookie; /* of rx_meta */
	bool bound;      /* culvert_bound, with metadata kfuncs; else culvert_plain */
	bool want_hash;
	bool want_time;  /* be ready for steer_set_time */
	bool underlay;
	bool rest_kernel;
	bool unknown_vni_kernel;
	const uint64_t *vlans; /* 64 words */
	const struct ip *local;
	uint32_t n_local;
	uint16_t vxlan_port; /* host order */
	const uint32_t *vnis;
	uint32_t n_vnis;
};

struct steer;

/* Takes XDP programs of ours off @ifindex that no live process holds. 0 when the device is free
 * then, -EBUSY with a sentence that names whose program is there. */
int steer_clear(int ifindex, const char *device, const struct why *why);

/* 0, or -errno with a sentence: the kernel has no metadata kfuncs, the driver does not take bound
 * programs, rights are missing, ... */
int steer_load(const struct steer_options *options, struct steer **steer, const struct why *why);
/* In the driver (native), or in the stack (@skb). The kernel's own -errno, without a sentence: what
 * it means depends on the device. */
int steer_attach(struct steer *steer, bool skb);
/* Whether it still is: anybody with the rights may detach a link (bpftool link detach). */
bool steer_attached(const struct steer *steer);
/* Takes the program off. Accepts NULL. */
void steer_close(struct steer *steer);

/* From now on frames of queue @queue go to the AF_XDP socket @fd. */
int steer_set_socket(struct steer *steer, uint32_t queue, int fd);
void steer_set_vlans(struct steer *steer, const uint64_t vlans[64]);
/* Which VNIs are ours, from now on. 0, or -errno (-E2BIG) with what was before still in place. */
int steer_set_vnis(struct steer *steer, const uint32_t *vnis, uint32_t n_vnis);

/* Whether the driver is asked when it received a frame. At first not. */
void steer_set_time(struct steer *steer, bool on);

/* Frames that were ours and were dropped because their queue has no socket. */
uint64_t steer_no_socket(const struct steer *steer);
/* Of the loaded program; for BPF_PROG_TEST_RUN. */
int steer_program_fd(const struct steer *steer);

/* Whether this kernel's drivers can be asked for a hash, or a stripped tag (6.3, 6.8). */
bool steer_kernel_has_hash(void);
bool steer_kernel_has_vlan(void);

#endif
