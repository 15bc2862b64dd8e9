#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# The dummy device that a capture makes: dummy_test.c, as a script for tests/vm/run. On a kernel
# without the dummy driver only the rest of it runs.
. "$(dirname "$0")/lib.sh"

[ "$(id -u)" = 0 ] || skip "not root"
"$build/tests/net/dummy_test"
