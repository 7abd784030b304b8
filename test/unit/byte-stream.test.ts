import { expect, test } from "bun:test";
import { byteStream } from "../../src/http/byte-stream.ts";

const CHUNKS = 1_000;

function* chunks(): Generator<Uint8Array> {
  for (let count = 0; count < CHUNKS; count += 1) yield new Uint8Array(10);
}

test("a stream yields to others between two chunks, however fast it is read", async () => {
  let turns = 0;
  let isOver = false;
  const count = () => {
    turns += 1;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  let bytes = 0;
  for await (const chunk of byteStream("[", chunks(), "]", () => {})) bytes += chunk.length;
  isOver = true;
  expect(bytes).toBe(CHUNKS * 10 + 2);
  expect(turns).toBeGreaterThan(CHUNKS / 2);
});

test("a stream that breaks off reports it once, and ends as an error", async () => {
  const broken: unknown[] = [];
  function* breaking(): Generator<Uint8Array> {
    yield new Uint8Array(1);
    throw new Error("the disk is gone");
  }
  const reading = (async () => {
    for await (const _chunk of byteStream("", breaking(), "", (error) => broken.push(error)));
  })();
  expect(
    await reading.then(
      () => "whole",
      (error: Error) => error.message,
    ),
  ).toBe("the disk is gone");
  expect(broken).toHaveLength(1);
});
