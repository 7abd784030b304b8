// Benchmark for reading versions stored in earlier record shapes, compared with the current shape. Runs in-process;
// fails if any shape takes more than twice as long. Usage: scripts/bench --shapes [--hosts 300] [--pages 300] [--rounds
// 9] [--directory DIR]

import { join } from "node:path";
import { systemClock } from "../../src/base/clock.ts";
import { openReadOnly } from "../../src/db/connection.ts";
import { dataFiles } from "../../src/db/files/data-directory.ts";
import type { AnyKind } from "../../src/db/kind.ts";
import { Reader } from "../../src/db/reading/reader.ts";
import { addField, renameField, type Upcaster } from "../../src/db/shape.ts";
import { hostKind } from "../../src/resources/hosts/host.ts";
import { ifEntryKind } from "../../src/resources/if-entries/if-entry.ts";
import { median } from "../quantiles.ts";
import { folder, printLine, printRow, settings } from "./program.ts";
import { campusStore } from "./store.ts";

const { hosts, pages, rounds, directory } = settings({ hosts: 300, pages: 300, rounds: 9, directory: "" });
const PAGE_ROWS = 50;
/** Maximum time per page, relative to the current shape. */
const RATIO_MAX = 2;

/** Additional upcasters that every stored version goes through when it is read, by variant. */
const ADDED_UPCASTERS: ReadonlyArray<readonly [string, readonly Upcaster[] | null]> = [
  // Baseline without any upcaster.
  ["kind with a single shape", null],
  ["current shape", []],
  ["before one field was added", [addField(0, "first", null)]],
  ["before four fields were added", ["first", "second", "third", "fourth"].map((name) => addField(0, name, "Unknown"))],
  ["before a field was renamed", [renameField(0, "network_id", "place_id")]],
];

const store = await campusStore(join(folder(directory), "shapes"), { hosts, entriesPerHost: 20, versions: 5 });
const db = openReadOnly(dataFiles(store.directory).database);
const reader = new Reader(db, systemClock);
const reach = { organizationN: reader.recordN(store.organizationId) as number, networkNs: null };
const head = reader.head().sequence;
printLine("");
printRow(`${PAGE_ROWS}-row page at a random point in time`, 64, ["µs", "ratio", "min", "max"], 10);
for (const kind of [hostKind, ifEntryKind] as AnyKind[]) {
  const variants = ADDED_UPCASTERS.map(([name, added]) => {
    const { upcasters: existing = [], ...rest } = kind;
    return {
      name,
      kind: (added === null ? rest : { ...rest, upcasters: [...existing, ...added] }) as AnyKind,
      elapsedUs: [] as number[],
    };
  });
  for (let round = 0; round <= rounds; round += 1) {
    // Rotating order: other load on the machine must not favor a variant.
    for (let index = 0; index < variants.length; index += 1) {
      const variant = variants[(index + round) % variants.length] as (typeof variants)[number];
      const elapsedUs = measure(variant.kind);
      // Round 0 is a warm-up.
      if (round > 0) variant.elapsedUs.push(elapsedUs);
    }
  }
  const currentUs = (variants[1] as (typeof variants)[number]).elapsedUs;
  for (const { name, elapsedUs } of variants) {
    const ratios = elapsedUs.map((us, round) => us / (currentUs[round] as number)).sort((a, b) => a - b);
    if (median(ratios) > RATIO_MAX) process.exitCode = 1;
    const cells = [
      median(elapsedUs).toFixed(0),
      ...[median(ratios), ratios[0] as number, ratios.at(-1) as number].map((ratio) => ratio.toFixed(2)),
    ];
    printRow(`${kind.plural}, ${name}`, 64, cells, 10);
  }
}
db.$client.close();

/** Measures CPU time per page, in microseconds. */
function measure(kind: AnyKind): number {
  // CPU time excludes other load on the machine.
  const started = process.cpuUsage();
  for (let page = 0; page < pages; page += 1) {
    const sequence = 1 + Math.floor((head * (1 + ((page * 7919) % 1000))) / 1001);
    reader.page({ kind, reach, asOf: reader.atSequence(sequence), limit: PAGE_ROWS, offset: 0 });
  }
  const { user, system } = process.cpuUsage(started);
  return (user + system) / pages;
}
