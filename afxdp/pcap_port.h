/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A port that is a pair of capture files: received packets are read from one, sent ones are written
 * to the other. pcap and pcapng, microseconds and nanoseconds, Ethernet only.
 *
 * Invariants: a file that is damaged ends where the damage begins: what came before was received. A
 * file that yields no packet in a whole pass is at its end even when it loops.
 * Threads: open and close are control's. One worker reads (pcap_port_next); any worker writes.
 */
#ifndef AFXDP_PCAP_PORT_H
#define AFXDP_PCAP_PORT_H

#include <stdbool.h>
#include <stdint.h>

struct pcap_port;

#define PCAP_PRELOAD_MAX_BYTES (1ull << 30)

/* @rx, @tx: paths, or NULL for none; they must outlive the port. @loop: begin again at the end of
 * @rx.
 * @preload: read @rx into memory now. 0, or -errno with a sentence in @why that names the file: not
 * a regular file, not a capture, not Ethernet, too big to preload, both files the same. */
int pcap_port_open(const char *rx, const char *tx, bool loop, bool preload, struct pcap_port **port,
		   char *why, uint32_t why_bytes);
/* Writes out what is still buffered. Accepts NULL. */
void pcap_port_close(struct pcap_port *port);

/* Whether rx was read to its end. Any thread. */
bool pcap_port_done(const struct pcap_port *port);
/* What was wrong with rx, once it is done; empty when it simply ended. Any thread. */
const char *pcap_port_damage(const struct pcap_port *port);

/* Whether pcap_port_next may yield more. */
bool pcap_port_reading(const struct pcap_port *port);
/* The next packet of rx: *@data stays valid until the next call. False: none left. */
bool pcap_port_next(struct pcap_port *port, const uint8_t **data, uint32_t *bytes);
/* Appends to tx (without one: swallows). @now_ns as clock_ns(). False when the file cannot be
 * written. */
bool pcap_port_write(struct pcap_port *port, const uint8_t *data, uint32_t bytes, uint64_t now_ns);
/* Hands what was written to the system, so that others see whole packets. */
void pcap_port_flush(struct pcap_port *port);

#endif
