// Store for the map benchmarks: networks of cabled switches with map positions, and later changes.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { addCables } from "../cables.ts";
import { printLine } from "../program.ts";
import { type BuiltStore, buildStore } from "../store.ts";
import { countTransactions, instantsAt } from "./instants.ts";

/** Ports per device. */
const PORTS = 50;

/** Number of devices on each map. */
export interface Maps {
  readonly large: number;
  readonly small: number;
}

/** Period of a map's changes after its cabling, for scrubbing. */
export interface MapSpan {
  readonly from: string;
  readonly to: string;
}

export interface BuiltMaps {
  readonly store: BuiltStore;
  readonly spans: Readonly<Record<"large" | "small", MapSpan>>;
}

/** Builds the store, or reuses a finished one. The networks are named `large` and `small`. */
export async function buildMaps(directory: string, { large, small }: Maps): Promise<BuiltMaps> {
  const ports = { entriesPerHost: PORTS, versions: 1 };
  const populations = [
    { network: "large", hosts: large, ...ports },
    { network: "small", hosts: small, ...ports },
  ];
  const store = await buildStore(directory, populations, printLine);
  const spansFile = join(directory, "cables.json");
  if (!existsSync(spansFile)) {
    const spans = { large: addCabling(store, "large"), small: addCabling(store, "small") };
    await Bun.write(spansFile, JSON.stringify(spans));
  }
  return { store, spans: (await Bun.file(spansFile).json()) as BuiltMaps["spans"] };
}

function addCabling(store: BuiltStore, network: "large" | "small"): MapSpan {
  const before = countTransactions(store);
  addCables(store, network, PORTS);
  const [from, to] = instantsAt(store, before + 1, -1);
  return { from, to };
}
