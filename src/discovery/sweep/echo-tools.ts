// ICMP echo through fping or ping, which may have permissions that this process lacks. Starts no shell and leaves no
// child processes.

import { type Ip, parseIp } from "../../base/ip.ts";
import type { Timers } from "../../base/timers.ts";
import type { Echo, EchoOutcome } from "./echo.ts";
import { Slots } from "./slots.ts";

export interface EchoToolParts {
  readonly timers: Timers;
  /** Resolves when one more request may be sent. */
  readonly permit: () => Promise<void>;
  /** Returns null if the program is not installed. */
  readonly findTool: (name: string) => string | null;
}

/** Returns null if the program is missing or may not send echo requests, as tested against this machine. */
export async function openEchoTool(
  version: 4 | 6,
  method: "Fping" | "Ping",
  parts: EchoToolParts,
): Promise<Echo | null> {
  const path = parts.findTool(method === "Fping" ? "fping" : "ping");
  const self = parseIp(version === 4 ? "127.0.0.1" : "::1");
  if (path === null || self === null) return null;
  const echo = method === "Fping" ? new FpingEcho(path, parts) : new PingEcho(path, parts);
  let isWorking = false;
  try {
    isWorking = (await echo.probe(self)).kind === "Answered";
    return isWorking ? echo : null;
  } finally {
    if (!isWorking) echo.end(new Error(`${path} does not reach this machine itself.`));
  }
}

/** Checks both tools and stops them again. */
export async function hasEchoTool(parts: EchoToolParts): Promise<boolean> {
  for (const method of ["Fping", "Ping"] as const) {
    const echo = await openEchoTool(4, method, parts);
    echo?.end(new Error("The check is complete."));
    if (echo !== null) return true;
  }
  return false;
}

/** Concurrent children, one address each. */
const MAX_PINGS = 64;

/**
 * Concurrent children, each with a batch of addresses at one per millisecond, fping's limit for users other than root.
 */
const MAX_FPINGS = 8;
const BATCH_SIZE = 128;
/** Requests within this time share a child. */
const GATHER_MS = 20;
const FPING_OPTIONS = ["-a", "-i", "1", "-r", "1", "-B", "1.4", "-t", "700"];

class PingEcho implements Echo {
  readonly method = "Ping";
  private readonly path: string;
  private readonly permit: () => Promise<void>;
  private readonly slots = new Slots(MAX_PINGS);
  private readonly children = new Children();

  constructor(path: string, parts: EchoToolParts) {
    this.path = path;
    this.permit = parts.permit;
  }

  async probe(ip: Ip): Promise<EchoOutcome> {
    for (let attempt = 1; attempt <= 2; attempt += 1) {
      await this.permit();
      const { exitCode } = await this.slots.during(() =>
        this.children.run([this.path, "-n", "-q", "-c", "1", "-W", "1", ip.text], ""),
      );
      if (exitCode === 0) return { kind: "Answered" };
      // 1: no reply. Others: no route, no permission or no such option.
      if (exitCode !== 1) return { kind: "Failed", error: "Tool" };
    }
    return { kind: "Silent" };
  }

  end(reason: unknown): void {
    this.slots.end(reason);
    this.children.end(reason);
  }
}

interface Waiting {
  readonly ip: Ip;
  readonly settle: (outcome: EchoOutcome) => void;
  readonly refuse: (reason: unknown) => void;
}

class FpingEcho implements Echo {
  readonly method = "Fping";
  private readonly path: string;
  private readonly parts: EchoToolParts;
  private readonly slots = new Slots(MAX_FPINGS);
  private readonly children = new Children();
  private batch: Waiting[] = [];
  private cancelGathering: (() => void) | null = null;

  constructor(path: string, parts: EchoToolParts) {
    this.path = path;
    this.parts = parts;
  }

  async probe(ip: Ip): Promise<EchoOutcome> {
    await this.parts.permit();
    return await new Promise((settle, refuse) => {
      this.batch.push({ ip, settle, refuse });
      if (this.batch.length >= BATCH_SIZE) this.send();
      else this.cancelGathering ??= this.parts.timers.after(GATHER_MS, () => this.send());
    });
  }

  end(reason: unknown): void {
    this.cancelGathering?.();
    for (const { refuse } of this.batch.splice(0)) refuse(reason);
    this.slots.end(reason);
    this.children.end(reason);
  }

  private send(): void {
    this.cancelGathering?.();
    this.cancelGathering = null;
    const batch = this.batch;
    this.batch = [];
    const targets = batch.map(({ ip }) => `${ip.text}\n`).join("");
    this.slots
      .during(() => this.children.run([this.path, ...FPING_OPTIONS], targets))
      .then(
        ({ exitCode, output }) => {
          const alive = new Set(output.split("\n").map((line) => parseIp(line.trim())?.text));
          // 0: all respond. 1: some do not. 2: some names are not addresses. Others: no permission or no such option.
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

/** Running children; all end with the sweep. */
class Children {
  private readonly running = new Set<Bun.Subprocess>();
  private ended: { reason: unknown } | null = null;

  /** The exit code is null for a program that did not start or was killed. */
  async run(command: string[], input: string): Promise<{ exitCode: number | null; output: string }> {
    this.throwIfEnded();
    const child = start(command, input);
    if (child === null) return { exitCode: null, output: "" };
    this.running.add(child);
    try {
      const [output] = await Promise.all([new Response(child.stdout).text(), child.exited]);
      this.throwIfEnded();
      return { exitCode: child.exitCode, output };
    } finally {
      this.running.delete(child);
    }
  }

  end(reason: unknown): void {
    this.ended ??= { reason };
    for (const child of this.running) child.kill("SIGKILL");
  }

  private throwIfEnded(): void {
    if (this.ended) throw this.ended.reason;
  }
}

/** Uses a pipe: Bun keeps the descriptor open if a child gets a buffer. */
function start(command: string[], input: string): Bun.Subprocess<"pipe", "pipe", "ignore"> | null {
  try {
    const child = Bun.spawn(command, { stdin: "pipe", stdout: "pipe", stderr: "ignore" });
    // The exit code reports why the child stopped reading.
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
