// ICMP echo through the programs fping or ping, which have the right to it where this process has not.
// Must not start a shell, nor leave a child behind.

import { type Ip, parseIp } from "../../base/ip.ts";
import type { Timers } from "../../base/timers.ts";
import type { Echo, EchoOutcome } from "./echo.ts";
import { Slots } from "./slots.ts";

export interface EchoToolParts {
  readonly timers: Timers;
  /** Resolves when one more request may go out. */
  readonly permit: () => Promise<void>;
  /** The path of a program of this name; null where it is not installed. */
  readonly findTool: (name: string) => string | null;
}

/** Null where the program is not installed, or may not send echoes: it is tried on this machine itself. */
export async function openEchoTool(
  version: 4 | 6,
  means: "Fping" | "Ping",
  parts: EchoToolParts,
): Promise<Echo | null> {
  const path = parts.findTool(means === "Fping" ? "fping" : "ping");
  const self = parseIp(version === 4 ? "127.0.0.1" : "::1");
  if (path === null || self === null) return null;
  const echo = means === "Fping" ? new FpingEcho(path, parts) : new PingEcho(path, parts);
  let isWorking = false;
  try {
    isWorking = (await echo.ask(self)).kind === "Answered";
    return isWorking ? echo : null;
  } finally {
    if (!isWorking) echo.end(new Error(`${path} does not reach this machine itself.`));
  }
}

/** Whether fping or ping works here; neither is left running. */
export async function hasEchoTool(parts: EchoToolParts): Promise<boolean> {
  for (const means of ["Fping", "Ping"] as const) {
    const echo = await openEchoTool(4, means, parts);
    echo?.end(new Error("Whether it works is known."));
    if (echo !== null) return true;
  }
  return false;
}

/** Children at once, each with one address. */
const MAX_PINGS = 64;

/** Children at once, each with a batch of addresses, one every millisecond, which is as fast as fping lets anybody but root be. */
const MAX_FPINGS = 8;
const BATCH_SIZE = 128;
/** What is asked within this time goes to one child. */
const GATHER_MS = 20;
const FPING_OPTIONS = ["-a", "-i", "1", "-r", "1", "-B", "1.4", "-t", "700"];

class PingEcho implements Echo {
  readonly means = "Ping";
  readonly #path: string;
  readonly #permit: () => Promise<void>;
  readonly #slots = new Slots(MAX_PINGS);
  readonly #children = new Children();

  constructor(path: string, parts: EchoToolParts) {
    this.#path = path;
    this.#permit = parts.permit;
  }

  async ask(ip: Ip): Promise<EchoOutcome> {
    for (let attempt = 1; attempt <= 2; attempt += 1) {
      await this.#permit();
      const { exitCode } = await this.#slots.during(() =>
        this.#children.run([this.#path, "-n", "-q", "-c", "1", "-W", "1", ip.text], ""),
      );
      if (exitCode === 0) return { kind: "Answered" };
      // 1: no answer. All else: no route, no right, no such option.
      if (exitCode !== 1) return { kind: "Failed", error: "Tool" };
    }
    return { kind: "Silent" };
  }

  end(reason: unknown): void {
    this.#slots.end(reason);
    this.#children.end(reason);
  }
}

interface Waiting {
  readonly ip: Ip;
  readonly settle: (outcome: EchoOutcome) => void;
  readonly refuse: (reason: unknown) => void;
}

class FpingEcho implements Echo {
  readonly means = "Fping";
  readonly #path: string;
  readonly #parts: EchoToolParts;
  readonly #slots = new Slots(MAX_FPINGS);
  readonly #children = new Children();
  #batch: Waiting[] = [];
  #cancelGathering: (() => void) | null = null;

  constructor(path: string, parts: EchoToolParts) {
    this.#path = path;
    this.#parts = parts;
  }

  async ask(ip: Ip): Promise<EchoOutcome> {
    await this.#parts.permit();
    return await new Promise((settle, refuse) => {
      this.#batch.push({ ip, settle, refuse });
      if (this.#batch.length >= BATCH_SIZE) this.#send();
      else this.#cancelGathering ??= this.#parts.timers.after(GATHER_MS, () => this.#send());
    });
  }

  end(reason: unknown): void {
    this.#cancelGathering?.();
    for (const { refuse } of this.#batch.splice(0)) refuse(reason);
    this.#slots.end(reason);
    this.#children.end(reason);
  }

  #send(): void {
    this.#cancelGathering?.();
    this.#cancelGathering = null;
    const batch = this.#batch;
    this.#batch = [];
    const targets = batch.map(({ ip }) => `${ip.text}\n`).join("");
    this.#slots
      .during(() => this.#children.run([this.#path, ...FPING_OPTIONS], targets))
      .then(
        ({ exitCode, output }) => {
          const alive = new Set(output.split("\n").map((line) => parseIp(line.trim())?.text));
          // 0: all answer. 1: some do not. 2: some are no addresses to it. All else: no right, no such option.
          const isWorking = exitCode !== null && exitCode <= 2;
          for (const { ip, settle } of batch)
            settle(
              alive.has(ip.text)
                ? { kind: "Answered" }
                : isWorking
                  ? { kind: "Silent" }
                  : { kind: "Failed", error: "Tool" },
            );
        },
        (reason: unknown) => {
          for (const { refuse } of batch) refuse(reason);
        },
      );
  }
}

/** Programs that run; all of them end when the sweep does. */
class Children {
  readonly #running = new Set<Bun.Subprocess>();
  #ended: { reason: unknown } | null = null;

  /** The exit code is null where the program could not be started or was killed. */
  async run(command: string[], input: string): Promise<{ exitCode: number | null; output: string }> {
    this.#throwIfEnded();
    const child = start(command, input);
    if (child === null) return { exitCode: null, output: "" };
    this.#running.add(child);
    try {
      const [output] = await Promise.all([new Response(child.stdout).text(), child.exited]);
      this.#throwIfEnded();
      return { exitCode: child.exitCode, output };
    } finally {
      this.#running.delete(child);
    }
  }

  end(reason: unknown): void {
    this.#ended ??= { reason };
    for (const child of this.#running) child.kill("SIGKILL");
  }

  #throwIfEnded(): void {
    if (this.#ended) throw this.#ended.reason;
  }
}

/** Through a pipe: Bun keeps the descriptor of a buffer that it hands to a child. */
function start(command: string[], input: string): Bun.Subprocess<"pipe", "pipe", "ignore"> | null {
  try {
    const child = Bun.spawn(command, { stdin: "pipe", stdout: "pipe", stderr: "ignore" });
    // One that ends before it has read everything says why by its exit code.
    feed(child, input).catch(() => {});
    return child;
  } catch {
    return null;
  }
}

async function feed(child: Bun.Subprocess<"pipe", "pipe", "ignore">, input: string): Promise<void> {
  await child.stdin.write(input);
  await child.stdin.end();
}
