// MongoDB: `hello`, which every driver sends first and which needs no login. The wire version implies the server
// version.

import type { Fingerprint } from "./fingerprint.ts";
import { identified, latin1Of } from "./service-text.ts";

export const mongodb: Fingerprint = {
  name: "mongodb",
  ports: [27_017, 27_018, 27_019],
  transport: "Tcp",
  request: helloMessage,
  read: ({ bytes, isComplete }) => {
    if (bytes.length < HEADER_BYTES) return isComplete ? "Other" : "More";
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const length = view.getUint32(0, true);
    if (view.getUint32(8, true) !== REQUEST_ID || view.getUint32(12, true) !== OP_MSG || length < HEADER_BYTES)
      return "Other";
    if (bytes.length < length && !isComplete) return "More";
    const offset = latin1Of(bytes).indexOf(WIRE_VERSION_KEY) + WIRE_VERSION_KEY.length;
    const wireVersion =
      offset < WIRE_VERSION_KEY.length || offset + 4 > bytes.length ? null : view.getInt32(offset, true);
    const version = wireVersion === null ? undefined : SERVER_VERSIONS.findLast(([from]) => wireVersion >= from)?.[1];
    return identified(version === undefined ? "MongoDB" : `MongoDB ${version}`, "mongodb");
  },
};

/** Length 4, request ID 4, response-to 4, operation 4. */
const HEADER_BYTES = 16;
const OP_MSG = 2013;
const REQUEST_ID = 0x6e6c;
/** A BSON element of type int32. */
const WIRE_VERSION_KEY = "\x10maxWireVersion\0";

const SERVER_VERSIONS: readonly (readonly [wireVersion: number, version: string])[] = [
  [6, "3.6"],
  [7, "4.0"],
  [8, "4.2"],
  [9, "4.4"],
  [13, "5.0"],
  [17, "6.0"],
  [21, "7.0"],
  [25, "8.0"],
];

/** OP_MSG with one document: { hello: 1, $db: "admin" }. */
function helloMessage(): Uint8Array {
  const elements = Buffer.concat([
    Buffer.from("\x10hello\0"),
    Buffer.from([1, 0, 0, 0]),
    Buffer.from("\x02$db\0"),
    Buffer.from([6, 0, 0, 0]),
    Buffer.from("admin\0\0"),
  ]);
  const message = Buffer.alloc(HEADER_BYTES + 9 + elements.length);
  message.writeUInt32LE(message.length, 0);
  message.writeUInt32LE(REQUEST_ID, 4);
  message.writeUInt32LE(OP_MSG, 12);
  message.writeUInt32LE(elements.length + 4, HEADER_BYTES + 5);
  elements.copy(message, HEADER_BYTES + 9);
  return message;
}
