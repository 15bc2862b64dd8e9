/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The rules of a configuration, checked without a daemon: ports and tunnels are those of the file.
 */
#include "tests/unit/conf_tools.h"
#include "lib/bits.h"
#include "lib/buffer.h"
#include "rules/check.h"

static const char yaml[] = "ports:\n"
			   "  a: {type: sink, number: 7, untagged: blue}\n"
			   "  b: {type: sink, untagged: blue}\n"
			   "networks:\n"
			   "  blue: {vni: 100, remotes: [192.0.2.3, 192.0.2.2],\n"
			   "         static: {\"02:00:00:00:00:05\": \"2001:db8::5\"}}\n"
			   "tunnels: {local: [192.0.2.1, \"2001:db8::1\"], underlay: [eth7]}\n"
			   "flows: {file: rules.txt}\n";

/* What is said of the rules in @text; NULL: nothing is wrong. */
static char *judge(const char *text)
{
	struct conf_errors errors = {0};
	struct conf *conf;
	char *said = NULL;
	int r;

	if (text)
		write_file("rules.txt", text, strlen(text));
	conf = load("f");
	r = rules_check(conf, &errors);
	assert_int_equal(r, errors.n ? -EINVAL : 0);
	if (errors.n)
		said = print_errors(&errors);
	conf_errors_fini(&errors);
	conf_free(conf);
	unlink("rules.txt");
	return said;
}

static void expect(const char *text, const char *wanted)
{
	char *said = judge(text);

	if (wanted && said)
		assert_string_equal(said, wanted);
	else if (wanted || said)
		fail_msg("%s: %s", text, said ? said : "nothing wrong");
	free(said);
}

static void test_check(void **state)
{
	static const char *const good[] = {
		"",
		"# nothing\n",
		"ip actions=drop",
		"in_port=7,ip actions=b\n",
		"in_port=2 actions=a",
		"in_port=192.0.2.2 actions=192.0.2.3,2001:db8::5\n",
		"in_port=60000 actions=60001,60002\n",
	};
	struct buffer many = {0};
	char dir[32], *said;

	enter_scratch(dir);
	write_file("f", yaml, strlen(yaml));
	for (size_t i = 0; i < ARRAY_SIZE(good); i++)
		expect(good[i], NULL);
	expect("\nip actions=c\narp actions=1\nip,udp actions=b\n tp_dst=8 actions=b",
	       "rules.txt:2:12: \"c\" is neither an action nor a port, allowed: output:PORT, "
	       "normal, "
	       "drop, ...\n"
	       "rules.txt:3:13: output: no port 1 that rules may use, allowed: a port's number or "
	       "name, a tunnel's number or VTEP\n"
	       "rules.txt:5:2: tp_dst needs tcp, tcp6, udp, udp6, sctp, sctp6, icmp or icmp6 in "
	       "the "
	       "same rule\n");
	/* An underlay device's port is there, but what it carries is decapsulated first. */
	expect("in_port=eth7 actions=a", "rules.txt:1:9: in_port: no port eth7 that rules may use, "
					 "allowed: a port's number or "
					 "name, a tunnel's number or VTEP\n");
	expect("actions=60003", "rules.txt:1:9: output: no port 60003 that rules may use, allowed: "
				"a port's number or "
				"name, a tunnel's number or VTEP\n");
	expect("actions=192.0.2.1", "rules.txt:1:9: output: no port 192.0.2.1 that rules may use, "
				    "allowed: a port's number "
				    "or name, a tunnel's number or VTEP\n");
	expect(NULL, "f:8:15: flows: file: rules.txt: No such file or directory\n");
	for (int i = 0; i < 5000; i++)
		buffer_str(
			&many,
			i % 40 == 0 ?
				"udp,tp_dts=9 actions=a\n" :
				"udp,tp_dst=9 actions=drop # padded, so that there are pieces\n");
	said = judge(many.data);
	assert_non_null(
		strstr(said, "rules.txt:41:5: \"tp_dts\" is not known, did you mean tp_dst?\n"));
	assert_non_null(strstr(said, "rules.txt:3961:5: "));
	assert_null(strstr(said, "rules.txt:4001:5: "));
	assert_non_null(strstr(said, "\nand 25 more\n"));
	free(said);
	buffer_fini(&many);
	unlink("f");
	leave_scratch(dir);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {cmocka_unit_test(test_check)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
