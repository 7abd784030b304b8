// C library functions through bun:ffi, under any library name on this machine, and errno. Independent of the functions
// called and of the meaning of an errno to the caller.

import { dlopen, type FFIFunction, read } from "bun:ffi";

type Symbols = Readonly<Record<string, FFIFunction>>;
type Libc<Fns extends Symbols> = ReturnType<typeof dlopen<Fns>>;

/** This process may not use a kernel interface; a less exact alternative exists. */
export class KernelRefused extends Error {
  override readonly name = "KernelRefused";
}

/**
 * Throws KernelRefused if no known library name exists or no function can be called at all: bun:ffi compiles code at
 * run time, which requires memory that is both writable and executable.
 * @param purpose completes "The C library cannot be opened …"
 */
export function openLibc<Fns extends Symbols>(symbols: Fns, purpose: string): Libc<Fns> {
  const problems: string[] = [];
  for (const name of LIBC_NAMES) {
    try {
      return dlopen(name, symbols);
    } catch (error) {
      problems.push(error instanceof Error ? error.message : String(error));
    }
  }
  throw new KernelRefused(`The C library cannot be opened ${purpose}: ${[...new Set(problems)].join("; ")}`);
}

/**
 * Call immediately after the failed call.
 * @param location result of __errno_location in this thread; glibc and musl both have it
 */
export function errnoAt(location: number | bigint | null): number {
  return read.i32(Number(location) as Parameters<typeof read.i32>[0], 0);
}

/** glibc, then musl under its names on the two architectures. */
const LIBC_NAMES = ["libc.so.6", "libc.musl-x86_64.so.1", "libc.musl-aarch64.so.1"];
