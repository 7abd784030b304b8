// Discovery lab: its actual topology, and complete cleanup when it stops.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readdirSync, readlinkSync } from "node:fs";
import { LAB_MISSING, Lab } from "../support/lab/lab.ts";

describe.skipIf(LAB_MISSING !== null)(`the lab${LAB_MISSING === null ? "" : ` (skipped: ${LAB_MISSING})`}`, () => {
  let lab: Lab;

  beforeAll(async () => {
    lab = await Lab.start();
  });
  afterAll(() => lab.stop());

  test("has two switches with two parallel cables that announce each other and their neighbors", async () => {
    expect(await lab.neighbors("switch-a")).toEqual(["p1 switch-b", "p2 switch-b", "p3 host", "p4 cdp-box"]);
    // CDP passes through switches, LLDP does not.
    expect(await lab.neighbors("switch-b")).toEqual(["p1 cdp-box", "p1 switch-a", "p2 switch-a"]);
    expect(await lab.neighbors("host")).toEqual(["eth1 switch-a"]);
  });

  test("has a silent host that the switches know only by its frames", async () => {
    expect(await lab.learned("switch-b")).toContain(`p3 ${lab.mac("silent", "eth1")}`);
    expect(await lab.learned("switch-a")).toContain(`p1 ${lab.mac("silent", "eth1")}`);
  });

  test("is isolated: its programs see no other network", async () => {
    const addresses = JSON.parse(
      await lab.exec("manager", ["ip", "-json", "address", "show", "up", "scope", "global"]),
    ) as Array<{ addr_info: Array<{ local: string }> }>;
    expect(addresses.flatMap(({ addr_info }) => addr_info.map(({ local }) => local))).toEqual(["10.98.0.1"]);
  });

  test("stops a daemon completely, and starts it again", async () => {
    await lab.stopDaemon("cdp-box", "snmpd", "KILL");
    expect(await lab.readRows("cdp-box", ["1.3.6.1.2.1.1.5"])).toBeNull();
    await lab.startDaemon("cdp-box", "snmpd");
    expect(await lab.readRows("cdp-box", ["1.3.6.1.2.1.1.5"])).toEqual(
      new Map([["1.3.6.1.2.1.1.5.0", Buffer.from("cdp-box").toString("hex")]]),
    );
  });

  test("leaves nothing on the machine when stopped", async () => {
    const namespaces = namespacesOf(lab.pid);
    expect(processesIn(namespaces).length).toBeGreaterThan(5);
    await lab.stop();
    expect(processesIn(namespaces)).toEqual([]);
    expect(Bun.spawnSync(["ip", "netns", "list"]).stdout.toString()).not.toMatch(/switch-a|manager|patch/);
  });

  test("leaves nothing when its tests are killed", async () => {
    const script = `import { Lab } from ${JSON.stringify(`${import.meta.dir}/../support/lab/lab.ts`)}; const lab = await Lab.start(); console.log(lab.pid); await new Promise(() => {});`;
    const child = Bun.spawn([process.execPath, "-e", script], { stdin: "ignore", stdout: "pipe", stderr: "inherit" });
    const { value } = await child.stdout.getReader().read();
    const namespaces = namespacesOf(Number(Buffer.from(value as Uint8Array).toString()));
    expect(processesIn(namespaces).length).toBeGreaterThan(5);
    child.kill("SIGKILL");
    await child.exited;
    while (processesIn(namespaces).length > 0) await Bun.sleep(20);
  });
});

const KINDS = ["mnt", "pid_for_children"] as const;

function namespacesOf(pid: number): Set<string> {
  return new Set(KINDS.map((kind) => readlinkSync(`/proc/${pid}/ns/${kind}`)));
}

/** Process ids in any of these namespaces. */
function processesIn(namespaces: ReadonlySet<string>): string[] {
  return readdirSync("/proc").filter(
    (name) => /^\d+$/.test(name) && KINDS.some((kind) => namespaces.has(namespace(name, kind))),
  );
}

function namespace(pid: string, kind: string): string {
  try {
    return readlinkSync(`/proc/${pid}/ns/${kind}`);
  } catch {
    // The process has exited, or the name is not a process ID.
    return "";
  }
}
