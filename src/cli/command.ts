// Subcommand definition: its settings and the function that runs it.

import type { Clock } from "../base/clock.ts";
import type { Random } from "../base/random.ts";
import { type Config, type Form, type OptionName, readConfig } from "./config.ts";

/** Exit statuses of the program, as listed in the help. */
export const EXIT = {
  done: 0,
  /** Rejected by a rule, or failed; see the message. */
  failed: 1,
  /** Invalid command line or variable. */
  usage: 2,
  /**
   * The data must not be touched: in use, damaged, newer, not netledger's, without their key, or the clock is wrong.
   */
  dataRefused: 3,
  /** The listen address is unavailable. */
  notListening: 4,
} as const;

/** The process environment of a command. */
export interface ProcessIo {
  readonly clock: Clock;
  readonly random: Random;
  /** Writes a string to standard output unchanged. */
  print(text: string): Promise<void>;
  /** The terminal of standard output; null if it is not a terminal. */
  readonly terminal: { readonly columns: number; readonly hasColors: boolean } | null;
  /** All of standard input. */
  readStdin(): Promise<Uint8Array>;
  /** Resolves with the signal name on the first SIGINT or SIGTERM; a second one ends the program immediately. */
  untilStopped(): Promise<string>;
  /** Runs an action on each SIGHUP, except on a terminal, where SIGHUP means that it closed. */
  onHangup(action: () => void): void;
}

export interface Command {
  readonly form: Form;
  /**
   * @param args following the command's name
   * @returns the exit status
   * @throws UsageError, DatabaseRefused, ListenError, DomainError with a message for the operator
   */
  execute(args: readonly string[], io: ProcessIo): Promise<number>;
}

/** Binds a command's settings and its function with types. */
export function defineCommand<Always extends OptionName = never, Maybe extends OptionName = never>(
  form: Form<Always, Maybe>,
  run: (config: Config<Always, Maybe>, io: ProcessIo) => Promise<number>,
): Command {
  return { form, execute: async (args, io) => run(readConfig(form, args), io) };
}
