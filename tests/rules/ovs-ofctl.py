#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""ovs-ofctl.py RULES_TEXT FILE: what culvert and Open vSwitch make of the same rules.

Each rule of FILE, and a thousand made up at random, go to `ovs-ofctl parse-flows` (which needs no
daemon), in two versions of OpenFlow, and to culvert's parser (tests/unit/rules_text.c). Then
  - the matches are printed alike, letter by letter;
  - what ovs-ofctl printed means the same to culvert as the rule itself, actions included.
Where the two differ on purpose is listed below, and checked too; docs/flows.md tells users.
"""
import os
import random
import re
import shutil
import subprocess
import sys
import time

SKIP = 77

# ovs-ofctl takes it, culvert does not: rule, column, a part of what culvert says.
REFUSED = [
    # a match without its prerequisite, which ovs-ofctl takes out of the rule
    ("tp_dst=80 actions=drop", 1, "tp_dst needs tcp"),
    ("ip,tp_dst=80 actions=drop", 4, "tp_dst needs tcp"),
    ("nw_dst=10.0.0.1 actions=drop", 1, "nw_dst needs ip"),
    ("ipv6,nw_src=10.0.0.1 actions=drop", 6, "nw_src needs ip"),
    ("ip,ipv6_src=fe80::1 actions=drop", 4, "ipv6_src needs ipv6"),
    ("nw_proto=6 actions=drop", 1, "nw_proto needs ip"),
    ("nw_tos=8 actions=drop", 1, "nw_tos needs ip"),
    ("dl_vlan=5,nw_ttl=8 actions=drop", 11, "nw_ttl needs ip"),
    ("udp,tcp_flags=+syn actions=drop", 5, "tcp_flags needs tcp"),
    ("arp_op=1 actions=drop", 1, "arp_op needs arp"),
    ("icmp6,nd_target=fe80::1 actions=drop", 7, "nd_target needs icmp6 with icmp_type"),
    ("icmp6,icmp_type=128,nd_target=fe80::1 actions=drop", 21, "nd_target needs icmp6 with"),
    ("ip,icmp_type=8 actions=drop", 4, "icmp_type needs icmp"),
    # fields that are one and the same there
    ("udp,tcp_src=5 actions=drop", 5, "tcp_src needs tcp"),
    ("icmp,icmpv6_type=8 actions=drop", 6, "icmpv6_type needs icmp6"),
    # one field twice, where the last counts there
    ("tcp,udp actions=drop", 5, "contradicts"),
    ("ip,nw_src=10.0.0.1,nw_src=10.0.0.2 actions=drop", 20, "here and at column 4"),
    ("in_port=1,in_port=2 actions=drop", 11, "here and at column 1"),
    # values too large, which are cut there
    ("dl_vlan=4096 actions=drop", 9, "0..4095"),
    ("dl_vlan_pcp=8 actions=drop", 13, "0..7"),
    ("ip,nw_ecn=4 actions=drop", 11, "0..3"),
    ("ip,nw_tos=5 actions=drop", 11, "ECN bits"),
    ("arp,arp_op=256 actions=drop", 12, "0..255"),
    ("tun_id=0x1000000 actions=drop", 8, "0..16777215"),
    ("actions=set_tunnel:0x1000000,1", 20, "0..16777215"),
    # what matches nothing
    ("vlan_vid=5 actions=drop", 10, "without 0x1000 matches nothing"),
    # octal there
    ("priority=010 actions=drop", 10, "begins with 0"),
    ("ip,nw_src=10.0.0.01 actions=drop", 11, "an IPv4 address"),
    # other ways to write
    ("ip,nw_src=* actions=drop", 11, "an IPv4 address"),
    ("ip,nw_src:10.0.0.1 actions=drop", 4, "not known"),
    ("icmp,icmp_type=8/0xff actions=drop", 17, "allowed: a comma"),
    # parts of fields
    ("ip actions=set_field:10.0.0.0/255.0.0.0->nw_src,1", 30, "a mask where a value is set"),
    ("ip actions=load:0x5->NXM_OF_IP_SRC[0..7],1", 35, "part of nw_src"),
    ("actions=set_field:6->vlan_tci,1", 22, "cannot be set"),
    # what culvert has not
    ("in_port=LOCAL actions=drop", 9, "LOCAL is not supported"),
    ("in_port=999 actions=drop", 9, "no port 999"),
    ("table=1 actions=drop", 7, "allowed: 0"),
    ("metadata=5 actions=drop", 1, "not supported"),
    ("reg0=5 actions=drop", 1, "not supported"),
    ("ct_state=+trk actions=drop", 1, "not supported"),
    ("mpls_ttl=5 actions=drop", 1, "not supported"),
    ("actions=LOCAL", 9, "not supported"),
    ("actions=output:LOCAL", 16, "LOCAL is not supported"),
    ("actions=CONTROLLER", 9, "not supported"),
    ("actions=controller(max_len=64)", 9, "not supported"),
    ("actions=resubmit(,1)", 9, "not supported"),
    ("actions=move:NXM_OF_ETH_SRC[]->NXM_OF_ETH_DST[],1", 9, "not supported"),
    ("actions=learn(table=0)", 9, "not supported"),
    ("ip actions=dec_ttl(1),1", 19, "takes no value"),
    ("actions=999", 9, "no port 999"),
]

# culvert takes it, ovs-ofctl does not: rule, the same rule in ovs-ofctl's words
BEYOND = [
    ("ip,ipv4_src=10.0.0.1 actions=drop", "ip,nw_src=10.0.0.1 actions=drop"),
    ("tcp,ipv4_dst=10.0.0.1 actions=drop", "tcp,nw_dst=10.0.0.1 actions=drop"),
    ("dl_src=02-00-00-00-00-05 actions=drop", "dl_src=02:00:00:00:00:05 actions=drop"),
    ("ip actions=set_field:10.0.0.1->ipv4_src,1", "ip actions=mod_nw_src:10.0.0.1,1"),
]

# What one version of OpenFlow cannot say.
ONLY_NXM = {"vlan_tci=0x2006/0xe0ff actions=drop", "vlan_tci=0xe000/0xe000 actions=drop"}
ONLY_OXM = re.compile("push_vlan")


def fail(text):
    print("FAIL:", text)
    sys.exit(1)


def culvert(program, rules):
    done = subprocess.run([program], input="\n".join(rules) + "\n", text=True, check=True,
                          capture_output=True)
    lines = done.stdout.splitlines()
    if len(lines) != len(rules):
        fail("%d rules, %d lines of %s" % (len(rules), len(lines), program))
    return lines


def ovs(rules, version):
    done = subprocess.run(["ovs-ofctl", "-O", version, "parse-flows", "-"], text=True,
                          input="\n".join(rules) + "\n", capture_output=True)
    lines = [line for line in done.stdout.splitlines() if "_FLOW_MOD" in line]
    if done.returncode or len(lines) != len(rules):
        fail("ovs-ofctl -O %s: %d rules, %d lines\n%s" %
             (version, len(rules), len(lines), done.stderr[-2000:]))
    for rule, line in zip(rules, lines):
        if "actions=" not in line:
            fail("ovs-ofctl -O %s: %s\n  %s" % (version, rule, line))
    return lines


def from_flow_mod(line):
    """"OFPT_FLOW_MOD (OF1.3) (xid=0x1): ADD ip cookie:0x5 idle:7 actions=drop" as a rule."""
    head, actions = re.sub(r"^.*?: ADD ", "", line).split("actions=", 1)
    head = re.sub(r"\btable:255 ", "", head)  # none is named
    head = re.sub(r"\bcookie:", "cookie=", head)
    head = re.sub(r"\bidle:", "idle_timeout=", head)
    head = re.sub(r"\bhard:", "hard_timeout=", head)
    return head + "actions=" + actions


def match_of(rule):
    """The match as it is printed. OpenFlow 1.3 has another way to say "no tag"."""
    head = rule.split("actions=", 1)[0]
    head = re.sub(r"\b(cookie|idle_timeout|hard_timeout)=\S+", "", head)
    head = re.sub(r"\b(send_flow_rem|reset_counts)\b", "", head)
    return re.sub(r"vlan_tci=0x0000/0x1fff", "vlan_tci=0x0000", head.strip())


def meaning(line):
    return re.sub(r"vlan_tci=0x0000/0x1fff", "vlan_tci=0x0000", line)


def compare_version(program, version, rules, ours):
    some = [(rule, our) for rule, our in zip(rules, ours)
            if not (ONLY_OXM.search(rule) if version == "OpenFlow10" else rule in ONLY_NXM)]
    theirs = [from_flow_mod(line) for line in ovs([rule for rule, _ in some], version)]
    for (rule, our), their, back in zip(some, theirs, culvert(program, theirs)):
        if version == "OpenFlow13" and "mod_vlan" in our:
            # There it is a push_vlan and a set_field, wherever no tag is sure to be there.
            our, back = match_of(our), match_of(back)
        if match_of(our) != match_of(their) or meaning(our) != meaning(back):
            fail("%s, %s\n  culvert   %s\n  ovs-ofctl %s\n  which is  %s" %
                 (version, rule, our, their, back))


def compare(program, rules):
    ours = culvert(program, rules)
    for rule, our in zip(rules, ours):
        if our.startswith("error"):
            fail("%s\n  %s" % (rule, our))
    for version in "OpenFlow10", "OpenFlow13":
        compare_version(program, version, rules, ours)
    # What culvert prints means the same to both of them, too.
    if culvert(program, ours) != ours:
        fail("culvert does not read what it prints")
    for version in "OpenFlow10", "OpenFlow13":
        compare_version(program, version, ours, ours)


def takes(rule):
    return subprocess.run(["ovs-ofctl", "parse-flow", rule], capture_output=True).returncode == 0


def check_differences(program):
    for (rule, column, why), our in zip(REFUSED, culvert(program, [r[0] for r in REFUSED])):
        got = re.match(r"error (\d+) (.*)", our)
        if not got or int(got[1]) != column or why not in got[2]:
            fail("%s\n  %s\n  wanted: column %d, %s" % (rule, our, column, why))
        if not takes(rule):
            fail("ovs-ofctl refuses it too: %s" % rule)
    ours = culvert(program, [rule for rule, _ in BEYOND])
    for (rule, same), our, wanted in zip(BEYOND, ours, culvert(program, [s for _, s in BEYOND])):
        if our != wanted:
            fail("%s\n  %s\n  wanted: %s" % (rule, our, wanted))
        if takes(rule):
            fail("ovs-ofctl takes it too: %s" % rule)
        if not takes(same):
            fail("ovs-ofctl refuses %s" % same)


def ipv4():
    return ".".join(str(random.randrange(256)) for _ in range(4))


def ipv6():
    groups = [random.choice(("0", "0", "1", "ff", "%x" % random.randrange(65536)))
              for _ in range(8)]
    return ":".join(groups)


def mac():
    return ":".join("%02x" % random.randrange(256) for _ in range(6))


def number(bits):
    return random.choice(("%d", "0x%x")) % random.randrange(1 << bits)


def maybe_mask(value, bits):
    return value + random.choice(("", "", "/0x%x" % random.randrange(1, 1 << bits)))


def ip_fields(version):
    address, top = (ipv4, 32) if version == 4 else (ipv6, 128)
    names = ("nw_src", "nw_dst") if version == 4 else ("ipv6_src", "ipv6_dst")
    for name in names:
        yield "%s=%s" % (name, address())
        yield "%s=%s/%d" % (name, address(), random.randrange(1, top + 1))
        # ovs-ofctl takes a mask that begins with a digit for a length.
        yield "%s=%s/%s" % (name, address(), re.sub(r"^[^:]*:", "ffff:", address()))
    yield "nw_tos=%d" % (random.randrange(64) * 4)
    yield "nw_ecn=%d" % random.randrange(4)
    yield "nw_ttl=%d" % random.randrange(256)
    # Beside "later", ovs-ofctl writes ports that it does not read back.
    yield "nw_frag=" + random.choice(("no", "yes", "first", "not_later"))


def one_of_each(fields):
    """A few of them, no name twice, in any order."""
    chosen = {}
    for field in fields:
        if random.random() < 0.4:
            chosen[field.split("=")[0]] = field
    return list(chosen.values())


def random_rule():
    kind = random.choice(("", "ip", "ipv6", "tcp", "udp", "sctp", "tcp6", "udp6", "sctp6", "icmp",
                          "icmp6", "arp"))
    fields = ["in_port=%d" % random.randrange(1, 200), "dl_src=" + mac(), "dl_dst=" + mac(),
              "dl_dst=%s/%s" % (mac(), mac()), "tun_id=" + maybe_mask(number(24), 24)]
    fields += random.choice((["dl_vlan=%d" % random.randrange(4096)], ["dl_vlan=0xffff"],
                             ["dl_vlan=%d" % random.randrange(4096),
                              "dl_vlan_pcp=%d" % random.randrange(8)]))
    actions = ["output:%d" % random.randrange(1, 200), "mod_dl_src:" + mac(),
               "mod_dl_dst:" + mac(), "set_tunnel:0x%x" % random.randrange(1 << 24),
               "mod_vlan_vid:%d" % random.randrange(4096),
               "mod_vlan_pcp:%d" % random.randrange(8)]
    if kind and kind != "arp":
        fields += ip_fields(6 if kind.endswith("6") else 4)
        actions += ["dec_ttl", "mod_nw_tos:%d" % (random.randrange(64) * 4),
                    "mod_nw_ecn:%d" % random.randrange(4), "mod_nw_ttl:%d" % random.randrange(256)]
        actions += (["set_field:%s->ipv6_src" % ipv6(), "set_field:%s->ipv6_dst" % ipv6()]
                    if kind.endswith("6") else ["mod_nw_src:" + ipv4(), "mod_nw_dst:" + ipv4()])
    if kind[:3] in ("tcp", "udp", "sct"):
        fields += ["tp_src=" + maybe_mask(number(16), 16), "tp_dst=" + maybe_mask(number(16), 16)]
        actions += ["mod_tp_src:%d" % random.randrange(65536),
                    "mod_tp_dst:%d" % random.randrange(65536)]
    if kind[:3] == "tcp":
        fields += ["tcp_flags=" + maybe_mask(number(12), 12)]
    if kind[:4] == "icmp":
        fields += ["icmp_type=%d" % random.randrange(256), "icmp_code=%d" % random.randrange(256)]
    if kind == "arp":
        fields += ["arp_op=%d" % random.randrange(256), "arp_spa=" + ipv4(), "arp_tha=" + mac(),
                   "arp_tpa=%s/%d" % (ipv4(), random.randrange(1, 33)), "arp_sha=" + mac()]
    chosen = one_of_each(fields) + [kind] * (kind != "")
    chosen += ["priority=%d" % random.randrange(65536)]
    random.shuffle(chosen)
    random.shuffle(actions)
    actions = actions[:random.randrange(len(actions) + 1)]
    return ",".join(chosen) + " actions=" + (",".join(actions) or "drop")


def main():
    program, path = sys.argv[1:]
    if not shutil.which("ovs-ofctl"):
        print("SKIPPED: no ovs-ofctl here (Debian package openvswitch-common)")
        sys.exit(SKIP)
    seed = int(os.environ.get("SEED", time.time()))
    print("SEED=%d" % seed)
    random.seed(seed)
    with open(path) as f:
        rules = [line.rstrip("\n") for line in f if line.strip() and not line.startswith("#")]
    compare(program, rules)
    made = [random_rule() for _ in range(1000)]
    compare(program, made)
    check_differences(program)
    print("%d rules of %s, %d random ones, %d differences" %
          (len(rules), os.path.basename(path), len(made), len(REFUSED) + len(BEYOND)))


main()
