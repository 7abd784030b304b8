// Streamed responses that fail midway.

import { expect, test } from "bun:test";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";

const appliance = applianceForEach();
const { first, owner } = appliance;

test("a stream that fails midway is cut off, and the log names the request", async () => {
  await owner.post("subnets", { network_id: first.networkId, cidr: "10.0.0.0/8" });
  const { reader } = appliance;
  const statement = reader.statement.bind(reader);
  // Like a disk failure in the second step of the read.
  reader.statement = (sql) => {
    if (sql.includes("json_each(?2)")) throw new Error("disk I/O error");
    return statement(sql);
  };
  let thrown: unknown = null;
  try {
    await owner.get("subnets?limit=0", { "x-request-id": "broken-1" });
  } catch (error) {
    thrown = error;
  }
  reader.statement = statement;
  expect(String(thrown)).toContain("disk I/O error");
  expect(appliance.logLines.filter((line) => line.includes("stream_failed") && line.includes("broken-1"))).toHaveLength(
    1,
  );
});
