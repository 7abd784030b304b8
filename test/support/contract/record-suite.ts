// Test suite for every kind of record: errors, versions, time, conditional requests, pages. Properties of a single
// kind are tested in its own file.

import { afterEach, beforeEach, describe, expect } from "bun:test";
import { openReadOnly } from "../../../src/db/connection.ts";
import { verifyLedger } from "../../../src/history/verify/verify.ts";
import { KINDS } from "../../../src/records/resources.ts";
import type { ApplianceUnderTest } from "../appliance/appliance-for-each.ts";
import { RecordSubject, type RecordSuite } from "./record-subject.ts";
import { describeAccess, describeReach } from "./records-access.ts";
import { describeBulkRemoval } from "./records-bulk-removal.ts";
import { describeHistory, describeIncarnations } from "./records-history.ts";
import { describeExports, describeLists } from "./records-lists.ts";
import { describeBodies, describeConditions, describeWrites } from "./records-writes.ts";

const PARTS = [
  describeBodies,
  describeAccess,
  describeReach,
  describeWrites,
  describeConditions,
  describeHistory,
  describeIncarnations,
  describeLists,
  describeExports,
  describeBulkRemoval,
];

/** Registers the suite's tests, each on the file's appliance. */
export function describeRecords(suite: RecordSuite, appliance: ApplianceUnderTest): void {
  const subject = new RecordSubject(suite, appliance);
  describe(`every ${suite.entity.replaceAll("_", " ")}`, () => {
    beforeEach(() => subject.prepare());

    // After any test, derived data matches the ledger, and the ledger verifies.
    afterEach(() => {
      const db = openReadOnly(subject.appliance.databasePath);
      try {
        expect(verifyLedger(db, KINDS).findings).toEqual([]);
      } finally {
        db.$client.close();
      }
    });

    for (const describePart of PARTS) describePart(subject);
  });
}
