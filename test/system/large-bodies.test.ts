// Large bodies on the executable, checked on a separate thread: the same results as for small ones.

import { beforeAll, expect, test } from "bun:test";
import { BODY_LIMIT_BYTES } from "../../src/http/body.ts";
import { LARGE_BODY_BYTES } from "../../src/http/body-checks.ts";
import type { Running } from "../support/executable/executable.ts";
import { sandboxForAll } from "../support/executable/sandboxes.ts";

const sandbox = sandboxForAll();
let running: Running;
let key: string;
let networkId: string;

beforeAll(async () => {
  ({ key, networkId } = await sandbox.setUp());
  running = await sandbox.serve();
});

const ports = Array.from({ length: 3_000 }, (_, position) => ({
  number: position + 1,
  protocol: position % 2 === 0 ? "Tcp" : "Udp",
}));
const body = (fields: object) => ({
  name: "chassis",
  network_id: networkId,
  description: "x".repeat(100),
  ports,
  ...fields,
});
const postText = (text: string, headers: Record<string, string>) =>
  fetch(`${running.url}/api/v1/hosts`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: text,
  });

test("a large host is written, and replayed under its Idempotency-Key with any whitespace", async () => {
  const headers = { authorization: `Bearer ${key}`, "idempotency-key": "large-1" };
  const text = JSON.stringify(body({ name: "repeated" }));
  expect(text.length).toBeGreaterThan(LARGE_BODY_BYTES);
  const first = await postText(text, headers);
  const created = (await first.json()) as { data: { id: string; ports: unknown[] } };
  expect([first.status, created.data.ports.length, first.headers.get("idempotency-replayed")]).toEqual([
    200,
    ports.length,
    null,
  ]);
  const replayed = await postText(JSON.stringify(body({ name: "repeated" }), null, 1), headers);
  expect([replayed.status, replayed.headers.get("idempotency-replayed")]).toEqual([200, "true"]);
  expect(await replayed.json()).toEqual(created);
  const different = await postText(JSON.stringify(body({ name: "another" })), headers);
  expect([different.status, ((await different.json()) as { code: string }).code]).toEqual([
    422,
    "idempotency_key_reused",
  ]);
});

test("errors of a large body are reported like those of a small one", async () => {
  const client = running.withKey(key);
  const { status, body: errorBody } = await client.post(
    "hosts",
    body({ ports: [...ports, { number: 70_000, protocol: "Tcp" }], hiden: true }),
  );
  expect(status).toBe(400);
  expect(errorBody.params.issues.map((issue: { path: string }) => issue.path).toSorted()).toEqual([
    "/hiden",
    `/ports/${ports.length}/number`,
  ]);
  const text = JSON.stringify(body({}));
  const broken = await postText(text.slice(0, -1), { authorization: `Bearer ${key}` });
  expect([broken.status, ((await broken.json()) as { code: string }).code]).toEqual([400, "malformed_json"]);
  const anonymous = await postText(text, {});
  expect(anonymous.status).toBe(401);
  const tooLarge = await postText(`"${"x".repeat(BODY_LIMIT_BYTES)}"`, { authorization: `Bearer ${key}` });
  expect([tooLarge.status, ((await tooLarge.json()) as { code: string }).code]).toEqual([413, "payload_too_large"]);
});
