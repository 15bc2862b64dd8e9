/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Notes in the run directory: a small text file for each thing that was made and has to go with us,
 * so that the next start can remove what a killed predecessor left.
 *
 * Threads: control's.
 */
#ifndef LIB_NOTE_H
#define LIB_NOTE_H

/* Writes @text to @run_dir/@name@suffix; the directory is made. A NULL @run_dir: nothing outlives
 * us, nothing is written. 0 or -errno. */
int note_write(const char *run_dir, const char *name, const char *suffix, const char *text);
/* Harmless when there is none. */
void note_remove(const char *run_dir, const char *name, const char *suffix);

#endif
