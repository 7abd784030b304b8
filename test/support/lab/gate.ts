// Test gate inside the lab's management namespace: queries its agents, forwards connections from Unix sockets (which
// network namespaces do not isolate) to its ports, and is the lab's resolver.

import { connect, createServer } from "node:net";
import { hostnameAt, MANAGER_ADDRESS } from "./network.ts";
import { type RecordingCredential, recordAgent } from "./record-agent.ts";

export interface GateWalk {
  readonly address: string;
  readonly credential: RecordingCredential;
  readonly subtrees: readonly string[];
}

/** Socket for requests, in the gate's directory. */
export const GATE_SOCKET = "gate.sock";

/** Socket that leads to a port on the namespace's loopback interface. */
export function portSocket(port: number): string {
  return `port-${port}.sock`;
}

if (import.meta.main) {
  const folder = process.argv[2];
  if (folder === undefined) throw new Error("usage: gate.ts FOLDER");
  const open = new Set<number>();
  Bun.serve({
    unix: `${folder}/${GATE_SOCKET}`,
    routes: {
      "/walk": async (request) => {
        const { address, credential, subtrees } = (await request.json()) as GateWalk;
        return recordAgent({ address }, credential, subtrees).then(
          (snmprec) => new Response(snmprec),
          (error: unknown) => new Response(String(error), { status: 504 }),
        );
      },
      "/port/:port": async (request) => {
        const port = Number(request.params.port);
        if (!open.has(port)) {
          open.add(port);
          const server = createServer((outer) => {
            const inner = connect(port, "127.0.0.1");
            outer.pipe(inner).pipe(outer);
            outer.on("error", () => inner.destroy());
            inner.on("error", () => outer.destroy());
          });
          await new Promise<void>((listening) => server.listen(`${folder}/${portSocket(port)}`, listening));
        }
        return new Response(null);
      },
    },
  });
  await Bun.udpSocket({
    hostname: MANAGER_ADDRESS,
    port: 53,
    socket: {
      error: () => {},
      data: (socket, question, port, address) => {
        const response = dnsResponse(question);
        if (response !== null) socket.send(response, port, address);
      },
    },
  });
  process.stdout.write("open\n");
}

const HEADER_BYTES = 12;
const PTR = 12;
const NAME_ERROR = 3;

/**
 * Response to one question (RFC 1035 §4): the name of a lab address, or that the name does not exist. Null for
 * malformed questions.
 */
function dnsResponse(question: Uint8Array): Uint8Array | null {
  const labels: string[] = [];
  let offset = HEADER_BYTES;
  for (let length = question[offset]; length !== undefined && length > 0; length = question[offset]) {
    labels.push(Buffer.from(question.subarray(offset + 1, offset + 1 + length)).toString("latin1"));
    offset += 1 + length;
  }
  const end = offset + 5;
  if (question.length < end) return null;
  const isReverse =
    labels.slice(4).join(".").toLowerCase() === "in-addr.arpa" && (question[offset + 2] as number) === PTR;
  const name = isReverse ? hostnameAt(labels.slice(0, 4).reverse().join(".")) : null;
  const [idHigh = 0, idLow = 0] = question;
  const flags = [0x85, 0x80 | (name === null ? NAME_ERROR : 0)];
  const header = [idHigh, idLow, ...flags, 0, 1, 0, name === null ? 0 : 1, 0, 0, 0, 0];
  const questionBytes = question.subarray(HEADER_BYTES, end);
  if (name === null) return Uint8Array.from([...header, ...questionBytes]);
  const target = [...name.split(".").flatMap((label) => [label.length, ...Buffer.from(label)]), 0];
  // The queried name as a pointer; class IN; TTL of an hour.
  const answer = [0xc0, HEADER_BYTES, 0, PTR, 0, 1, 0, 0, 0x0e, 0x10, 0, target.length, ...target];
  return Uint8Array.from([...header, ...questionBytes, ...answer]);
}
