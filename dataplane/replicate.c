/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One target ahead: a target gets its copy when the next one has been found, and the last one found
 * gets the packet itself. When the burst of copies is full, flood_target says which target was
 * waiting.
 */
#include "dataplane/stages.h"

#include "dataplane/copy.h"
#include "lib/rcu.h"

/* Whether @p may and can go to @target. A port that is down or shut is no target. */
static bool is_target(const struct tables *tables, const struct packet *p, uint16_t target)
{
	const struct port_view *port;

	if (target == p->ingress)
		return false;
	if (target >= PORT_MAX)
		return !egress_is_tunnel(p->ingress);
	port = rcu_dereference(tables->port[target]);
	return port && port->up && !port->shut;
}

/* False: no room in @copies. */
static bool copy_to(struct lane *lane, struct packet *p, uint16_t target,
		    struct burst *copies)
{
	struct packet *copy;

	if (copies->n == BURST_MAX)
		return false;
	copy = copy_packet(lane, p, copies);
	if (copy)
		copy->egress = target;
	return true;
}

/* From lane->flood_target on. False: no room in @copies. */
static bool flood(struct lane *lane, struct packet *p, struct burst *copies)
{
	const struct flood_list *list = lane->flood_list;
	uint32_t waiting = list->n;

	for (uint32_t i = lane->flood_target; i < list->n; i++) {
		if (!is_target(lane->tables, p, list->egress[i]))
			continue;
		if (egress_is_tunnel(list->egress[i]))
			packet_hash_prepare(p);
		if (waiting < list->n && !copy_to(lane, p, list->egress[waiting], copies)) {
			lane->flood_target = waiting;
			return false;
		}
		waiting = i;
	}
	if (waiting < list->n)
		p->egress = list->egress[waiting];
	else
		drop_packet(p, DROP_NO_TARGET, p->network);
	return true;
}

/* The list is looked up once a packet: it stays in memory until the worker is quiescent, and a new
 * one would not fit flood_target. */
static bool begin(struct lane *lane, struct packet *p)
{
	const struct network *network = rcu_dereference(lane->tables->network[p->network]);

	if (!network) {
		drop_packet(p, DROP_NO_TARGET, p->network);
		return false;
	}
	lane->flood_list = network->flood;
	lane->flood_target = 0;
	return true;
}

bool replicate(struct lane *lane, struct burst *burst, struct burst *copies)
{
	uint32_t i;

	copies->n = 0;
	for (i = lane->flood_packet; i < burst->n; i++) {
		struct packet *p = &burst->packet[i];

		if (likely(p->egress != EGRESS_FLOOD) || p->drop)
			continue;
		if (!lane->flood_list && !begin(lane, p))
			continue;
		if (!flood(lane, p, copies)) {
			lane->flood_packet = i;
			return true;
		}
		lane->flood_list = NULL;
	}
	lane->flood_packet = copies->n ? i : 0;
	return copies->n;
}
