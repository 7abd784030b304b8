// Startup of the scan director with scans left over from an earlier run, without write access.

import { expect, test } from "bun:test";
import { Counters } from "../../src/base/counters.ts";
import { DomainError, type ErrorCode } from "../../src/base/errors.ts";
import { createLog } from "../../src/base/log.ts";
import { ScanDirector, type ScanDirectorOptions } from "../../src/discovery/scans/director.ts";
import { ManualTimers } from "../support/injected/manual-timers.ts";

test("a full disk does not prevent the start: interrupted scans are marked at the next start", async () => {
  const { director, lines } = directorWithRefusedWrites("storage_full");
  await director.start();
  expect(lines.join("\n")).toContain("ERROR scans_not_interrupted");
});

test("any other failure prevents the start", async () => {
  await expect(directorWithRefusedWrites("internal_error").director.start()).rejects.toThrow("no");
});

function directorWithRefusedWrites(code: ErrorCode) {
  const writes: ScanDirectorOptions["writes"] = {
    run: () => Promise.reject(new DomainError(code, "no")),
    settlePast: () => null,
    close: async () => {},
  };
  const lines: string[] = [];
  const log = createLog({ write: (line) => lines.push(line), format: "text", clock: { now: () => 0 } });
  const startThread = () => {
    throw new Error("no thread is started here");
  };
  return {
    lines,
    director: new ScanDirector({
      writes,
      commits: { subscribe: () => () => {} },
      startThread,
      scanner: { databasePath: "", secretKey: new Uint8Array(), secretsFolder: null, snmpPort: 161, tcpPorts: null },
      timers: new ManualTimers(),
      log,
      counts: new Counters().counts.scans,
      organizationIdOf: () => null,
      hasUnfinished: () => true,
      mayRequest: () => true,
    }),
  };
}
