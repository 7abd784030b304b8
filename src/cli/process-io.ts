// The process as commands see it: its standard streams, its signals, its clock and its randomness.

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
        // Without a listener a signal does what it does to any program: the second one ends it.
        for (const each of SIGNALS) process.removeListener(each, receive);
        resolve(signal);
      };
      for (const each of SIGNALS) process.on(each, receive);
    }),
  onHangup: (action) => {
    if (!process.stdin.isTTY) process.on("SIGHUP", action);
  },
};

/**
 * A line for whoever started the program, on standard error. Where that cannot be written the exit status has to do.
 */
export async function printError(line: string): Promise<void> {
  await write(Bun.stderr, `netledger: ${line}\n`).catch(() => {});
}

/** A reader that has gone away (`netledger … | head`) is no failure of ours. */
async function write(stream: Bun.BunFile, text: string): Promise<void> {
  // Writing nothing empties the file that the stream may lead to.
  if (text === "") return;
  try {
    await Bun.write(stream, text);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EPIPE")) throw error;
  }
}
