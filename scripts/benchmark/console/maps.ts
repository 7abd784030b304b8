// Store for the maps: networks of cabled switches with positions, and later changes.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { addCables } from "../cables.ts";
import { say } from "../program.ts";
import { type BuiltStore, buildStore } from "../store.ts";
import { instantsAt, transactionsOf } from "./instants.ts";

/** Per device. */
const PORTS = 50;

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
  const store = await buildStore(
    directory,
    [
      { network: "large", hosts: large, entriesPerHost: PORTS, versions: 1 },
      { network: "small", hosts: small, entriesPerHost: PORTS, versions: 1 },
    ],
    say,
  );
  const noted = join(directory, "cables.json");
  if (!existsSync(noted)) {
    const spans = { large: cable(store, "large"), small: cable(store, "small") };
    await Bun.write(noted, JSON.stringify(spans));
  }
  return { store, spans: (await Bun.file(noted).json()) as BuiltMaps["spans"] };
}

function cable(store: BuiltStore, network: "large" | "small"): MapSpan {
  const before = transactionsOf(store);
  addCables(store, network, PORTS);
  const [from, to] = instantsAt(store, before + 1, -1);
  return { from, to };
}
