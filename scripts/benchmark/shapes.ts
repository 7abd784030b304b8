// Cost of pages with versions of earlier shapes, relative to pages of the current shape: ratios of one run, in this
// process without other overhead; fails above twice. Usage: scripts/bench --shapes [--hosts 300] [--pages 300] [--turns
// 9] [--directory DIR]

import { join } from "node:path";
import { systemClock } from "../../src/base/clock.ts";
import { openReadOnly } from "../../src/db/connection.ts";
import { dataFiles } from "../../src/db/files/data-directory.ts";
import type { AnyKind } from "../../src/db/kind.ts";
import { Reader } from "../../src/db/reading/reader.ts";
import { addsField, renamesField, type Upcaster } from "../../src/db/shape.ts";
import { hostKind } from "../../src/resources/hosts/host.ts";
import { ifEntryKind } from "../../src/resources/if-entries/if-entry.ts";
import { median } from "../quantiles.ts";
import { folder, say, sayRow, settings } from "./program.ts";
import { buildStore } from "./store.ts";

const { hosts, pages, turns, directory } = settings({ hosts: 300, pages: 300, turns: 9, directory: "" });
const PAGE_ROWS = 50;
/** Maximum cost of a page, relative to one of the current shape. */
const TIMES_MAX = 2;

/** Upcasters missing in the versions of the store, in addition to those of their kind. */
const LATER: ReadonlyArray<readonly [string, readonly Upcaster[] | null]> = [
  // Cost of the kind without earlier shapes.
  ["of a kind with one shape", null],
  ["of today's shape", []],
  ["from before one field", [addsField(0, "first", null)]],
  ["from before four fields", ["first", "second", "third", "fourth"].map((name) => addsField(0, name, "Unknown"))],
  ["from before a renamed field", [renamesField(0, "network_id", "place_id")]],
];

const store = await buildStore(
  join(folder(directory), "shapes"),
  [{ network: "campus", hosts, entriesPerHost: 20, versions: 5 }],
  say,
);
const db = openReadOnly(dataFiles(store.directory).database);
const reader = new Reader(db, systemClock);
const reach = { organizationN: reader.recordN(store.organizationId) as number, networkNs: null };
const head = reader.head().sequence;
say("");
sayRow(`a page of ${PAGE_ROWS} at a random instant`, 64, ["µs", "times", "least", "most"], 10);
for (const kind of [hostKind, ifEntryKind] as AnyKind[]) {
  const variants = LATER.map(([name, later]) => {
    const { upcasters: own = [], ...rest } = kind;
    return {
      name,
      kind: (later === null ? rest : { ...rest, upcasters: [...own, ...later] }) as AnyKind,
      tookUs: [] as number[],
    };
  });
  for (let turn = 0; turn <= turns; turn += 1) {
    // Alternating order: other load of the machine must not favor one.
    for (let place = 0; place < variants.length; place += 1) {
      const variant = variants[(place + turn) % variants.length] as (typeof variants)[number];
      const tookUs = measure(variant.kind);
      // The first turn is a warm-up.
      if (turn > 0) variant.tookUs.push(tookUs);
    }
  }
  const today = (variants[1] as (typeof variants)[number]).tookUs;
  for (const { name, tookUs } of variants) {
    const ratios = tookUs.map((each, turn) => each / (today[turn] as number)).sort((a, b) => a - b);
    if (median(ratios) > TIMES_MAX) process.exitCode = 1;
    const cells = [
      median(tookUs).toFixed(0),
      ...[median(ratios), ratios[0] as number, ratios.at(-1) as number].map((ratio) => ratio.toFixed(2)),
    ];
    sayRow(`${kind.plural}, ${name}`, 64, cells, 10);
  }
}
db.$client.close();

/** Processor microseconds per page. */
function measure(kind: AnyKind): number {
  // Processor time excludes other load of the machine.
  const started = process.cpuUsage();
  for (let page = 0; page < pages; page += 1) {
    const sequence = 1 + Math.floor((head * (1 + ((page * 7919) % 1000))) / 1001);
    reader.page({ kind, reach, asOf: reader.atSequence(sequence), limit: PAGE_ROWS, offset: 0 });
  }
  const { user, system } = process.cpuUsage(started);
  return (user + system) / pages;
}
