// README and handbook tours, run on the compiled executable as a reader would paste them.

import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { EXECUTABLE } from "../support/executable/executable.ts";
import { IN_NEW_NETWORK, inNetworkOf } from "../support/executable/own-network.ts";
import { sandboxForEach } from "../support/executable/sandboxes.ts";
import { HANG_MS } from "../support/measure/limits.ts";

const ROOT = resolve(import.meta.dir, "../..");
const README = readFileSync(join(ROOT, "README.md"), "utf8");
const HANDBOOK = readFileSync(join(ROOT, "src/handbook/api-by-example.md"), "utf8");

const sandbox = sandboxForEach();

/** Lines in a page's code blocks of a kind; for a tour, those after the one with the token. */
function linesOf(page: string, kind: string): string {
  return [...page.matchAll(new RegExp(`^\`\`\`sh ${kind}\\n(.*?)^\`\`\`$`, "gms"))].map((match) => match[1]).join("");
}

/** Pastes lines into a shell next to a newly started appliance, isolated from other tests. */
async function paste(text: string): Promise<string> {
  const running = await sandbox.serve([], { command: [...IN_NEW_NETWORK, EXECUTABLE] });
  const script = text.replace("URL=http://127.0.0.1:8080", `URL=${running.url}`);
  expect(script).toContain(`URL=${running.url}`);
  const bash = ["bash", "-eu", "-o", "pipefail", "-c", `TOKEN=${running.setupToken}\n${script}`];
  const shell = Bun.spawn([...inNetworkOf(running.pid), ...bash], {
    cwd: sandbox.directory,
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
    timeout: HANG_MS,
  });
  const [out, err] = await Promise.all([shell.stdout.text(), shell.stderr.text(), shell.exited]);
  expect(err).toBe("");
  expect(shell.exitCode).toBe(0);
  return out;
}

const withoutCurl = Bun.which("curl") === null;

test.skipIf(withoutCurl)("the README's tour works, in at most eleven lines", async () => {
  const block = linesOf(README, "tour");
  expect(block.trim().split("\n").length).toBeLessThanOrEqual(11);
  const lines = (await paste(block)).split("\n");
  expect(JSON.parse(lines[0] ?? "").data.user.role).toBe("Owner");
  const hostname = (await Bun.file("/proc/sys/kernel/hostname").text()).trim();
  expect(lines.slice(1, 3)).toEqual(["renamed", hostname]);
  expect(lines[3]).toStartWith("Changes from ");
  expect(lines.join("\n")).toContain("renamed");
});

test.skipIf(withoutCurl)("the handbook's tour works, line by line", async () => {
  const out = await paste(linesOf(HANDBOOK, "tour"));
  const lines = out.split("\n");
  const envelopes = lines.filter((line) => line.startsWith("{")).map((line) => JSON.parse(line));
  const [claimed, discovered, entries, rediscovered, longAgo, history, revert, feed, located, found] = envelopes;
  expect(claimed.data.user.role).toBe("Owner");
  expect(discovered.data.created.hosts).toBe(1);
  expect(entries.data.length).toBeGreaterThan(0);
  // The machine is unchanged: recording it again writes nothing.
  expect(rediscovered.data).toMatchObject({ sequence: null, created: {}, updated: {}, deleted: {} });
  expect(longAgo.data).toEqual([]);
  const hostname = (await Bun.file("/proc/sys/kernel/hostname").text()).trim();
  const outputLines = lines.filter((line) => line !== "" && !line.startsWith("{"));
  expect(outputLines[0]).toBe("the inventory itself");
  expect(outputLines[1]).toBe(hostname);
  expect(outputLines[2]).toMatch(/^\d{4}-\d\d-\d\dT.*Z$/);
  expect(outputLines[3]).toBe("404");
  expect(outputLines[4]).toBe(hostname);
  expect(history.data.map(({ operation }: { operation: string }) => operation)).toEqual([
    "Deleted",
    "Updated",
    "Created",
  ]);
  expect(out).toContain("Changes from ");
  expect(out).toContain(`  - ${hostname}  (tour, `);
  expect(outputLines).toContain(hostname);
  expect(revert.data).toMatchObject({ applied: false });
  expect(feed.data[0]).toMatchObject({ entity_type: "host", operation: "Created", record: { name: hostname } });
  expect(located.data.candidates).not.toEqual([]);
  expect(found.data).toMatchObject([{ name: hostname }]);
  expect(outputLines.some((line) => line.startsWith("id,"))).toBe(true);
  // Polled until done: an unfinished backup may still fail.
  expect(envelopes.at(-1).data).toMatchObject({
    state: "Done",
    reason: null,
    name: expect.stringMatching(/^netledger-\d{8}T\d{9}Z\.db$/),
  });
});

test.skipIf(withoutCurl)(
  "the handbook's first scan, pasted after the tour, completes and probes this machine only",
  async () => {
    const lines = linesOf(HANDBOOK, "discovery");
    const addresses = HANDBOOK.split("\n")
      .filter((line) => line.startsWith("curl ") || /^[A-Z]+=/.test(line))
      .flatMap((line) => line.match(/\d+\.\d+\.\d+\.\d+/g) ?? []);
    expect(new Set(addresses.map((address) => address.split(".")[0]))).toEqual(new Set(["127"]));
    const tour = linesOf(HANDBOOK, "tour");
    const out = await paste(tour.replace(/^SCAN=.*\n(.*\n){2}/m, "").replace(/^BACKUP=.*\n(.*\n){2}/m, "") + lines);
    const envelopes = out
      .split("\n")
      .filter((line) => line.startsWith("{"))
      .map((line) => JSON.parse(line));
    const [subnet, credential, findings, schedule] = envelopes.slice(-4);
    expect(subnet.data).toMatchObject({ cidr: "127.0.0.0/30" });
    expect(credential.data).toMatchObject({ name: "switches" });
    expect(out).toMatch(/"status":"Completed"/);
    expect(findings.data.length).toBeGreaterThan(0);
    expect(schedule.data).toMatchObject({ name: "nightly", targets: ["127.0.0.0/30"] });
  },
);
