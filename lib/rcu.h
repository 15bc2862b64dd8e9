/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * liburcu's QSBR flavour, with rcu_dereference and its like inlined: a load, not a call.
 */
#ifndef LIB_RCU_H
#define LIB_RCU_H

#ifndef URCU_INLINE_SMALL_FUNCTIONS
#define URCU_INLINE_SMALL_FUNCTIONS
#endif
#include <urcu-qsbr.h>

#endif
