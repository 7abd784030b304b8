// Functions of the C library by bun:ffi, under whatever name it has on this machine, and the errno that the last of
// them left. Must not know what is called, nor what an errno means to the caller.

import { dlopen, type FFIFunction, read } from "bun:ffi";

type Symbols = Readonly<Record<string, FFIFunction>>;
type Libc<Fns extends Symbols> = ReturnType<typeof dlopen<Fns>>;

/** This process may not ask the kernel in a certain way; the same is to be had in another, less exact one. */
export class KernelRefused extends Error {
  override readonly name = "KernelRefused";
}

/**
 * Throws KernelRefused where there is none of the known names, and where no function may be called at all: bun:ffi
 * makes code when it runs, which takes memory that is written and executed.
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
 * To be asked right after the call that failed.
 * @param location what __errno_location gives in this thread, which glibc and musl both have
 */
export function errnoAt(location: number | bigint | null): number {
  return read.i32(Number(location) as Parameters<typeof read.i32>[0], 0);
}

/** glibc, then musl under the names that it has on the two architectures. */
const LIBC_NAMES = ["libc.so.6", "libc.musl-x86_64.so.1", "libc.musl-aarch64.so.1"];
