// Functions of the C library by bun:ffi, under whatever name it has on this machine, and the errno that the last of them left.
// Must not know what is called, nor what an errno means to the caller.

import { dlopen, type FFIFunction, read } from "bun:ffi";

export type Symbols = Readonly<Record<string, FFIFunction>>;
export type Libc<Fns extends Symbols> = ReturnType<typeof dlopen<Fns>>;

/** Throws an Error where there is none of the known names. @param purpose completes "The C library cannot be opened …" */
export function openLibc<Fns extends Symbols>(symbols: Fns, purpose: string): Libc<Fns> {
  const problems: string[] = [];
  for (const name of LIBC_NAMES) {
    try {
      return dlopen(name, symbols);
    } catch (error) {
      problems.push(error instanceof Error ? error.message : String(error));
    }
  }
  throw new Error(`The C library cannot be opened ${purpose}: ${problems.join("; ")}`);
}

/** To be asked right after the call that failed. @param location what __errno_location gives in this thread, which glibc and musl both have */
export function errnoAt(location: number | bigint | null): number {
  return read.i32(Number(location) as Parameters<typeof read.i32>[0], 0);
}

/** glibc, then musl under the names that it has on the two architectures. */
const LIBC_NAMES = ["libc.so.6", "libc.musl-x86_64.so.1", "libc.musl-aarch64.so.1"];
