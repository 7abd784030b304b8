// CISCO-CDP-MIB for snmpd's pass_persist: lldpd's CDP neighbors, which lldpd itself does not serve. Its argument is
// lldpd's socket.

import { readFileSync } from "node:fs";
import { type PassedRow, rowAt, servePassPersist } from "./pass-persist.ts";

const CDP_CACHE_ENTRY = "1.3.6.1.4.1.9.9.23.1.2.1.1";
/** An OID of at most this length requests the start of a column. */
const COLUMN_LENGTH = CDP_CACHE_ENTRY.split(".").length + 1;

/** The fields read from `lldpcli -f json0 show neighbors`. */
interface NeighborReport {
  readonly lldp: ReadonlyArray<{ readonly interface?: readonly Neighbor[] }>;
}

interface Neighbor {
  readonly name: string;
  readonly via: string;
  readonly rid: string;
  readonly chassis: ReadonlyArray<{
    readonly name?: readonly Value[];
    readonly descr?: readonly Value[];
    readonly "mgmt-ip"?: readonly Value[];
  }>;
  readonly port: ReadonlyArray<{ readonly id?: readonly Value[] }>;
}

interface Value {
  readonly value: string;
}

function rows(socket: string): PassedRow[] {
  const child = Bun.spawnSync(["lldpcli", "-u", socket, "-f", "json0", "show", "neighbors"], {
    stdin: "ignore",
    stderr: "ignore",
  });
  if (!child.success) return [];
  const { lldp } = JSON.parse(child.stdout.toString()) as NeighborReport;
  const found: PassedRow[] = [];
  for (const { name, via, rid, chassis, port } of lldp.flatMap((report) => report.interface ?? [])) {
    if (!via.startsWith("CDP")) continue;
    const index = `${readFileSync(`/sys/class/net/${name}/ifindex`, "utf8").trim()}.${rid}`;
    const address = chassis[0]?.["mgmt-ip"]?.[0]?.value;
    if (address !== undefined) {
      found.push(rowAt(`${CDP_CACHE_ENTRY}.3.${index}`, "integer", 1));
      found.push(
        rowAt(
          `${CDP_CACHE_ENTRY}.4.${index}`,
          "octet",
          address
            .split(".")
            .map((byte) => Number(byte).toString(16).padStart(2, "0"))
            .join(" "),
        ),
      );
    }
    found.push(rowAt(`${CDP_CACHE_ENTRY}.6.${index}`, "string", chassis[0]?.name?.[0]?.value ?? ""));
    found.push(rowAt(`${CDP_CACHE_ENTRY}.7.${index}`, "string", port[0]?.id?.[0]?.value ?? ""));
    found.push(
      rowAt(`${CDP_CACHE_ENTRY}.8.${index}`, "string", chassis[0]?.descr?.[0]?.value.split(" running on")[0] ?? ""),
    );
  }
  return found;
}

if (import.meta.main) {
  const [socket = ""] = process.argv.slice(2);
  let cachedRows: PassedRow[] = [];
  await servePassPersist((requested) => {
    // Only at the start of a column walk: each refresh starts a process.
    if (requested.length <= COLUMN_LENGTH) cachedRows = rows(socket);
    return cachedRows;
  });
}
