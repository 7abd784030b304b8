import { describe, expect, test } from "bun:test";
import { STORED_FINDINGS_MAX, STORED_READS_MAX } from "../../src/discovery/scans/scan.ts";
import { ScanReport } from "../../src/discovery/scans/scan-report.ts";
import type { Finding, FindingType } from "../../src/discovery/sightings.ts";

const finding = (type: FindingType, id: string | null = null, overrides: Partial<Finding> = {}): Finding => {
  const entity = id === null ? null : "host";
  return { type, entity, id, label: id ?? "x", reason: "seen", ...overrides };
};
const counts = (created: number, updated = 0, deleted = 0) => ({ created, updated, deleted });

describe("the outcome of a scan", () => {
  test("sums up records by kind, with first and last transaction", () => {
    const report = new ScanReport();
    report.addRecorded({ records: { hosts: counts(1), ports: counts(2, 3) }, findings: [], hosts: [] }, 7);
    report.addRecorded({ records: { ports: counts(1, 0, 1) }, findings: [], hosts: [] }, null);
    report.addRecorded({ records: {}, findings: [], hosts: [] }, 5);
    report.addTransaction(9);
    report.devices = 2;
    expect(report.outcome(4)).toEqual({
      records: { hosts: counts(1), ports: counts(3, 3, 1) },
      hosts: { found: 4, devices: 2, unreached: 0 },
      findings: {},
      findings_dropped: 0,
      transactions: { first: 5, last: 9 },
      icmp: null,
      problem: null,
    });
  });

  test("returns each finding once, with its index", () => {
    const report = new ScanReport();
    for (const id of ["a", "b"]) report.add(finding("Created", id));
    expect(report.takePending()).toEqual({ ordinal: 0, findings: [finding("Created", "a"), finding("Created", "b")] });
    expect(report.takePending()).toEqual({ ordinal: 2, findings: [] });
    report.add(finding("Unreached"));
    expect(report.takePending()).toMatchObject({ ordinal: 2, findings: [{ type: "Unreached" }] });
    expect(report.outcome(0)).toMatchObject({ findings: { Created: 2, Unreached: 1 }, hosts: { unreached: 1 } });
  });

  test("reports a record written by several commands once, until returned", () => {
    const report = new ScanReport();
    report.add(finding("Created", "a", { records: { ports: counts(1) } }));
    report.add(finding("Changed", "a", { records: { ports: counts(0, 1), services: counts(1) } }));
    report.add(finding("Changed", "b"));
    report.add(finding("Changed", "b"));
    expect(report.takePending().findings).toEqual([
      finding("Created", "a", { records: { ports: counts(1, 1), services: counts(1) } }),
      finding("Changed", "b"),
    ]);
    report.add(finding("Changed", "a"));
    expect(report.takePending()).toEqual({ ordinal: 2, findings: [finding("Changed", "a")] });
    expect(report.outcome(0).findings).toEqual({ Created: 1, Changed: 2 });
  });

  test("keeps a limited number of table findings separately, without displacing others", () => {
    const report = new ScanReport();
    for (let index = 0; index < STORED_READS_MAX + 5; index += 1) report.add(finding("Read", String(index)));
    report.add(finding("Created", "a"));
    const { findings } = report.takePending();
    expect(findings).toHaveLength(STORED_READS_MAX + 1);
    expect(findings.at(-1)).toEqual(finding("Created", "a"));
    const counted = { Read: STORED_READS_MAX + 5, Created: 1 };
    expect(report.outcome(0)).toMatchObject({ findings: counted, findings_dropped: 5 });
  });

  test("keeps a limited number of findings, and counts the rest", () => {
    const report = new ScanReport();
    for (let index = 0; index < STORED_FINDINGS_MAX + 10; index += 1)
      report.add(finding(index % 2 === 0 ? "Created" : "Partial", String(index)));
    expect(report.takePending().findings).toHaveLength(STORED_FINDINGS_MAX);
    const half = STORED_FINDINGS_MAX / 2 + 5;
    expect(report.outcome(0)).toMatchObject({ findings: { Created: half, Partial: half }, findings_dropped: 10 });
    report.add(finding("Closed", "z"));
    expect(report.takePending()).toEqual({ ordinal: STORED_FINDINGS_MAX, findings: [] });
  });
});
