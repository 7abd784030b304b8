import { describe, expect, test } from "bun:test";
import { FINDINGS_KEPT, READS_KEPT } from "../../src/discovery/scans/scan.ts";
import { ScanReport } from "../../src/discovery/scans/scan-report.ts";
import type { Finding, FindingType } from "../../src/discovery/sightings.ts";

const finding = (type: FindingType, id: string | null = null, more: Partial<Finding> = {}): Finding => ({
  type,
  entity: id === null ? null : "host",
  id,
  label: id ?? "x",
  reason: "seen",
  ...more,
});
const counts = (created: number, updated = 0, deleted = 0) => ({ created, updated, deleted });

describe("the outcome of a scan", () => {
  test("sums up records by kind, with first and last transaction", () => {
    const book = new ScanReport();
    book.addRecorded({ records: { hosts: counts(1), ports: counts(2, 3) }, findings: [], hosts: [] }, 7);
    book.addRecorded({ records: { ports: counts(1, 0, 1) }, findings: [], hosts: [] }, null);
    book.addRecorded({ records: {}, findings: [], hosts: [] }, 5);
    book.wrote(9);
    book.devices = 2;
    expect(book.outcome(4)).toEqual({
      records: { hosts: counts(1), ports: counts(3, 3, 1) },
      hosts: { found: 4, devices: 2, unreached: 0 },
      findings: {},
      findings_dropped: 0,
      transactions: { first: 5, last: 9 },
      icmp: null,
      problem: null,
    });
  });

  test("passes on each finding once, with its index", () => {
    const book = new ScanReport();
    for (const id of ["a", "b"]) book.add(finding("Created", id));
    expect(book.takeFresh()).toEqual({ ordinal: 0, findings: [finding("Created", "a"), finding("Created", "b")] });
    expect(book.takeFresh()).toEqual({ ordinal: 2, findings: [] });
    book.add(finding("Unreached"));
    expect(book.takeFresh()).toMatchObject({ ordinal: 2, findings: [{ type: "Unreached" }] });
    expect(book.outcome(0)).toMatchObject({ findings: { Created: 2, Unreached: 1 }, hosts: { unreached: 1 } });
  });

  test("reports a record written by several commands once, until passed on", () => {
    const book = new ScanReport();
    book.add(finding("Created", "a", { records: { ports: counts(1) } }));
    book.add(finding("Changed", "a", { records: { ports: counts(0, 1), services: counts(1) } }));
    book.add(finding("Changed", "b"));
    book.add(finding("Changed", "b"));
    expect(book.takeFresh().findings).toEqual([
      finding("Created", "a", { records: { ports: counts(1, 1), services: counts(1) } }),
      finding("Changed", "b"),
    ]);
    book.add(finding("Changed", "a"));
    expect(book.takeFresh()).toEqual({ ordinal: 2, findings: [finding("Changed", "a")] });
    expect(book.outcome(0).findings).toEqual({ Created: 1, Changed: 2 });
  });

  test("keeps a limited number of table findings separately, without displacing others", () => {
    const book = new ScanReport();
    for (let each = 0; each < READS_KEPT + 5; each += 1) book.add(finding("Read", String(each)));
    book.add(finding("Created", "a"));
    const { findings } = book.takeFresh();
    expect(findings).toHaveLength(READS_KEPT + 1);
    expect(findings.at(-1)).toEqual(finding("Created", "a"));
    expect(book.outcome(0)).toMatchObject({ findings: { Read: READS_KEPT + 5, Created: 1 }, findings_dropped: 5 });
  });

  test("keeps a limited number of findings, and counts the rest", () => {
    const book = new ScanReport();
    for (let each = 0; each < FINDINGS_KEPT + 10; each += 1)
      book.add(finding(each % 2 === 0 ? "Created" : "Partial", String(each)));
    expect(book.takeFresh().findings).toHaveLength(FINDINGS_KEPT);
    expect(book.outcome(0)).toMatchObject({
      findings: { Created: FINDINGS_KEPT / 2 + 5, Partial: FINDINGS_KEPT / 2 + 5 },
      findings_dropped: 10,
    });
    book.add(finding("Closed", "z"));
    expect(book.takeFresh()).toEqual({ ordinal: FINDINGS_KEPT, findings: [] });
  });
});
