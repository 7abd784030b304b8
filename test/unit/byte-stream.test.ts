import { expect, test } from "bun:test";
import { byteStream } from "../../src/http/byte-stream.ts";

const CHUNKS = 1_000;

function* chunks(): Generator<Uint8Array> {
  for (let count = 0; count < CHUNKS; count += 1) yield new Uint8Array(10);
}

test("a stream yields to the event loop between chunks, even when read fast", async () => {
  let turns = 0;
  let isDone = false;
  const count = () => {
    turns += 1;
    if (!isDone) setImmediate(count);
  };
  setImmediate(count);
  let bytes = 0;
  for await (const chunk of byteStream("[", chunks(), "]", () => {})) bytes += chunk.length;
  isDone = true;
  expect(bytes).toBe(CHUNKS * 10 + 2);
  expect(turns).toBeGreaterThan(CHUNKS / 2);
});

test("a failing stream reports its error once, and ends with it", async () => {
  const errors: unknown[] = [];
  function* failing(): Generator<Uint8Array> {
    yield new Uint8Array(1);
    throw new Error("the disk is gone");
  }
  const reading = (async () => {
    for await (const _chunk of byteStream("", failing(), "", (error) => errors.push(error)));
  })();
  expect(
    await reading.then(
      () => "whole",
      (error: Error) => error.message,
    ),
  ).toBe("the disk is gone");
  expect(errors).toHaveLength(1);
});
