/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The last output of a list gets the packet itself, the others get copies of what it is when it is
 * their turn. When the burst of copies is full, act_packet and act_action say whose turn it was.
 */
#include "dataplane/copy.h"
#include "dataplane/flow_table.h"
#include "dataplane/rewrite.h"
#include "dataplane/stages.h"
#include "dataplane/vlan.h"
#include "lib/rcu.h"

/* Whether @p goes anywhere by @a. Not to where it came from, other than by in_port (OpenFlow); and
 * an underlay port sends nothing but VXLAN. */
static bool may_take(const struct tables *tables, const struct packet *p,
		     const struct flow_action *a)
{
	const struct port_view *port;

	if (a->type != FLOW_OUTPUT)
		return flow_action_is_output(a->type);
	if (a->arg == p->ingress)
		return false;
	if (a->arg >= PORT_MAX)
		return true;
	port = rcu_dereference(tables->port[a->arg]);
	return !port || !port->underlay;
}

/* Actions up to the last output that may be taken; 0: there is none. */
static uint32_t n_to_do(const struct tables *tables, const struct packet *p,
			const struct flow_actions *list)
{
	uint32_t n = list->n;

	while (n && !may_take(tables, p, &list->action[n - 1]))
		n--;
	return n;
}

/* Straight to @egress, with the tags that it has. */
static void send_to(struct packet *p, uint16_t egress)
{
	vlan_disown(p);
	p->egress = egress;
	p->as_is = true;
}

static void output(struct packet *p, const struct flow_action *a)
{
	switch (a->type) {
	case FLOW_OUTPUT:
		send_to(p, a->arg);
		break;
	case FLOW_IN_PORT:
		send_to(p, p->ingress);
		break;
	case FLOW_FLOOD:
	case FLOW_ALL:
		p->egress = EGRESS_FLOOD;
		p->vni = 0;
		break;
	default: /* FLOW_NORMAL */
		p->vni = 0;
		break;
	}
}

/* False: no room in @copies. */
static bool output_copy(struct lane *lane, struct packet *p, const struct flow_action *a,
			struct burst *copies)
{
	struct packet *copy;

	if (copies->n == BURST_MAX)
		return false;
	copy = copy_packet(lane, p, copies);
	if (copy)
		output(copy, a);
	return true;
}

/* From lane->act_action on. False: no room in @copies. */
static bool carry_out(struct lane *lane, struct packet *p, struct burst *copies)
{
	const struct flow_actions *list = flow_table_actions(lane->tables->flows, p->actions);
	uint32_t n = n_to_do(lane->tables, p, list);

	for (uint32_t i = lane->act_action; i < n && !p->drop; i++) {
		const struct flow_action *a = &list->action[i];

		if (i + 1 == n) {
			output(p, a);
			return true;
		}
		if (a->type == FLOW_SET_TUNNEL) {
			p->vni = a->value[0];
		} else if (!flow_action_is_output(a->type)) {
			rewrite(lane->pool, p, a);
		} else if (may_take(lane->tables, p, a) && !output_copy(lane, p, a, copies)) {
			lane->act_action = i;
			return false;
		}
	}
	drop_packet(p, DROP_FLOW, p->rule);
	return true;
}

bool act(struct lane *lane, struct burst *burst, struct burst *copies)
{
	uint32_t i;

	copies->n = 0;
	for (i = lane->act_packet; i < burst->n; i++) {
		struct packet *p = &burst->packet[i];

		if (p->actions == FLOW_LIST_NORMAL || p->drop)
			continue;
		if (!carry_out(lane, p, copies)) {
			lane->act_packet = i;
			return true;
		}
		lane->act_action = 0;
	}
	lane->act_packet = copies->n ? i : 0;
	return copies->n;
}
