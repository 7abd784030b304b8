// What a subcommand is: the form of its settings and the function that runs it. Must not know any of them.

import type { Clock } from "../base/clock.ts";
import type { Random } from "../base/random.ts";
import { type Config, type Form, type OptionName, readConfig } from "./config.ts";

/** What the exit status of the program says; the help lists them. */
export const EXIT = {
  done: 0,
  /** Refused by a rule, or something broke: the message tells. */
  failed: 1,
  /** The command line or a variable is wrong. */
  usage: 2,
  /**
   * The data are not to be touched: in use, damaged, newer, of another program, without their key, or the clock is
   * wrong.
   */
  dataRefused: 3,
  /** The address to listen on cannot be had. */
  notListening: 4,
} as const;

/** The world outside the program, as a command sees it. */
export interface ProcessIo {
  readonly clock: Clock;
  readonly random: Random;
  /** Writes a text to standard output as it is. */
  print(text: string): Promise<void>;
  /** What standard output is shown on; null where it is no terminal. */
  readonly terminal: { readonly columns: number; readonly hasColors: boolean } | null;
  /** All of standard input. */
  readStdin(): Promise<Uint8Array>;
  /** The first request to stop (SIGINT or SIGTERM), by the signal's name; a second one ends the program at once. */
  untilStopped(): Promise<string>;
  /** Runs an action at each SIGHUP; not where a terminal is, whose end it then means. */
  onHangup(action: () => void): void;
}

export interface Command {
  readonly form: Form;
  /**
   * @param args what follows the command's name
   * @returns the exit status
   * @throws UsageError, DatabaseRefused, ListenError, DomainError with a message for the operator
   */
  execute(args: readonly string[], io: ProcessIo): Promise<number>;
}

/** Keeps a command's settings and its function together, typed. */
export function defineCommand<Always extends OptionName = never, Maybe extends OptionName = never>(
  form: Form<Always, Maybe>,
  run: (config: Config<Always, Maybe>, io: ProcessIo) => Promise<number>,
): Command {
  return { form, execute: async (args, io) => run(readConfig(form, args), io) };
}
