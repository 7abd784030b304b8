// X-Change-Reason bytes on the wire and as stored by the executable with its threads.

import { beforeAll, expect, test } from "bun:test";
import { connect } from "node:net";
import type { Sandbox } from "../support/executable/executable.ts";
import { receivedText } from "../support/executable/received-text.ts";
import { sandboxForAll } from "../support/executable/sandboxes.ts";

const sandbox = sandboxForAll();
let setUp: Awaited<ReturnType<Sandbox["serveSetUp"]>>;
beforeAll(async () => {
  setUp = await sandbox.serveSetUp();
});

let tags = 0;

/** Creates a tag with these bytes as its reason. @returns the status */
async function createTag(reason: Buffer): Promise<number> {
  tags += 1;
  const body = JSON.stringify({ name: `t${tags}`, color: "Red" });
  const socket = connect({ host: "127.0.0.1", port: Number(new URL(setUp.running.url).port) });
  socket.write(`POST /api/v1/tags HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${setUp.key}\r\n`);
  socket.write(`Content-Type: application/json\r\nContent-Length: ${body.length}\r\nConnection: close\r\n`);
  socket.write(Buffer.concat([Buffer.from("X-Change-Reason: "), reason, Buffer.from(`\r\n\r\n${body}`)]));
  return Number((await receivedText(socket)).split(" ")[1]);
}

test.each([
  ["UTF-8", Buffer.from("Größerer Umbau 変更 😀"), "Größerer Umbau 変更 😀"],
  ["an extended value", Buffer.from("UTF-8''Gr%C3%B6%C3%9Fe%20%F0%9F%98%80"), "Größe 😀"],
  ["text with surrounding spaces", Buffer.from("  CHG-1 \t "), "CHG-1"],
])("a reason given as %s is stored", async (_case, sent, reason) => {
  expect(await createTag(sent)).toBe(200);
  const [last] = (await setUp.running.withKey(setUp.key).get("transactions?limit=1")).data;
  expect(last).toMatchObject({ command: "tag.create", reason });
});

test.each([
  ["Latin-1 bytes", Buffer.from("Größe", "latin1")],
  ["a truncated character", Buffer.from([0x61, 0xc3])],
  ["a NUL", Buffer.from([0x61, 0, 0x62])],
  ["DEL", Buffer.from([0x61, 0x7f, 0x62])],
])("a reason with %s is refused, and nothing is written", async (_case, sent) => {
  const client = setUp.running.withKey(setUp.key);
  const head = (await client.get("ledger")).data.sequence;
  expect(await createTag(sent)).toBe(400);
  expect((await client.get("ledger")).data.sequence).toBe(head);
});
