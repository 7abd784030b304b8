// Process environment of commands: standard streams, signals, clock and randomness.

import { systemClock } from "../base/clock.ts";
import { systemRandom } from "../base/random.ts";
import type { ProcessIo } from "./command.ts";

const SIGNALS = ["SIGINT", "SIGTERM"] as const;

export const processIo: ProcessIo = {
  clock: systemClock,
  random: systemRandom,
  print: (text) => write(Bun.stdout, text),
  terminal: process.stdout.isTTY ? { columns: process.stdout.columns, hasColors: Bun.enableANSIColors } : null,
  readStdin: () => Bun.stdin.bytes(),
  untilStopped: () =>
    new Promise((resolve) => {
      const receive = (signal: string) => {
        // Without a listener, a signal has its default effect: the second one ends the program.
        for (const each of SIGNALS) process.removeListener(each, receive);
        resolve(signal);
      };
      for (const each of SIGNALS) process.on(each, receive);
    }),
  onHangup: (action) => {
    if (!process.stdin.isTTY) process.on("SIGHUP", action);
  },
};

/** Prints a line for the operator to standard error. If that fails, the exit status has to suffice. */
export async function printError(line: string): Promise<void> {
  await write(Bun.stderr, `netledger: ${line}\n`).catch(() => {});
}

/** A closed reader (`netledger … | head`) is not an error. */
async function write(stream: Bun.BunFile, text: string): Promise<void> {
  // An empty write would truncate the file behind the stream.
  if (text === "") return;
  try {
    await Bun.write(stream, text);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EPIPE")) throw error;
  }
}
