// Reverse DNS of neighbors with a silent resolver. Requires root for a separate resolver, and reports when skipped.

import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SILENT_RESOLVER } from "../support/snmp/silent-resolver.ts";
import { SWEEP_LAB_MISSING } from "../support/sweep/lab.ts";

const folder = mkdtempSync(join(tmpdir(), "netledger-names-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const title = SWEEP_LAB_MISSING === null ? "" : `skipped ${SWEEP_LAB_MISSING}: `;

test.skipIf(SWEEP_LAB_MISSING !== null)(`${title}names without an answering server do not block sign-in`, async () => {
  const resolver = join(folder, "resolv.conf");
  writeFileSync(resolver, `nameserver ${SILENT_RESOLVER}\n`);
  const script = join(import.meta.dir, "../support/snmp/silent-resolver.ts");
  const inside = 'ip link set lo up; mount --bind "$1" /etc/resolv.conf; exec "$2" "$3"';
  const child = Bun.spawn(
    ["unshare", "--mount", "--net", "--", "sh", "-ec", inside, "sh", resolver, process.execPath, script],
    { stdin: "ignore", stdout: "pipe", stderr: "inherit" },
  );
  expect(JSON.parse(await child.stdout.text())).toEqual({
    first: "password",
    self: expect.arrayContaining(["127.0.0.1"]),
    names: [null],
  });
});
