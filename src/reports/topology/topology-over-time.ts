// Topology over a period: an incremental map updated at every transaction that may affect links, with the union of its
// states. Runs off the main thread, step by step.

import type { Actor } from "../../access/actor.ts";
import { formatInstant } from "../../base/instant.ts";
import { ChangeLog } from "../../db/reading/change-log.ts";
import { longRead, PAUSE, pausing } from "../../db/reading/long-reads.ts";
import type { Reader } from "../../db/reading/reader.ts";
import { membersSql } from "../../db/shape.ts";
import { NetworkRecords, type Revision, type Touched } from "../../discovery/topology/network-records.ts";
import { hostKind } from "../../resources/hosts/host.ts";
import { keptPositions } from "../../resources/map-positions/map-position.ts";
import { networkKind } from "../../resources/networks/network.ts";
import { metaAt, thinnedUntilMember } from "../../schemas/envelope.ts";
import type { MapChange, NetworkMap } from "./map.ts";
import { MapOverTime } from "./map-over-time.ts";
import type { Center } from "./neighborhood.ts";
import { type PlacedNode, placedNodes } from "./placed-nodes.ts";
import { shownNetwork } from "./topology.ts";
import { type Touch, touching } from "./touching.ts";
import { type TopologyUnion, UnionOfMaps } from "./union.ts";

/** Maximum number of link changes per response; beyond it, the response is truncated and says so. */
export const TOPOLOGY_POINTS_MAX = 1_000;

/** Passed to another thread. */
export interface TopologyPeriodInput {
  readonly actor: Actor;
  /** Null for the center's network. */
  readonly networkId: string | null;
  /** Null for the whole network. */
  readonly center: Center | null;
  readonly includeIsolated: boolean;
  /** Start of the period, with the transaction in force then; null for the start of the ledger. */
  readonly from: { readonly at: string; readonly sequence: number } | null;
  /** End of the period; null for now. */
  readonly to: string | null;
  /** The last transaction before the end. */
  readonly until: number;
}

/** Yields the response as an envelope. Empty if the caller never saw the network or the host. */
export const topologyOverTime = longRead(
  "topology_over_time",
  function* (reader: Reader, input: TopologyPeriodInput) {
    const { networkId, from, to } = input;
    const walk = new Walk(reader, input);
    const next = yield* walk.run();
    const { nodes, links } = walk.shown(next ?? to);
    const about = { network_id: networkId ?? walk.lastNetworkId, from: from?.at ?? null, to };
    yield encoder.encode(`{"success":true,"data":${JSON.stringify(about).slice(0, -1)},"nodes":[`);
    yield* inChunks(nodes);
    yield encoder.encode('],"links":[');
    yield* inChunks(links);
    const thinned = thinnedUntilMember(reader.thinnedPast.incompleteUntil(from?.sequence ?? 0));
    yield encoder.encode(
      `],"truncated":${next !== null},"next_from":${JSON.stringify(next)}},"meta":${metaAt(null, thinned)}}\n`,
    );
  },
  { isInLargeSteps: true },
);

class Walk {
  /** The last network shown. */
  lastNetworkId: string | null = null;
  private lastNetworkN: number | null = null;
  private readonly reader: Reader;
  private readonly input: TopologyPeriodInput;
  private readonly centerN: number | null;
  private readonly union = new UnionOfMaps();
  /** Union over the whole network, if only a neighborhood is shown: positions come from the whole map. */
  private readonly surroundings: UnionOfMaps | null;
  /** Records of the shown network; null while there is none. */
  private records: NetworkRecords | null = null;
  private map: MapOverTime | null = null;

  constructor(reader: Reader, input: TopologyPeriodInput) {
    this.reader = reader;
    this.input = input;
    const { center, actor } = input;
    this.surroundings = center === null ? null : new UnionOfMaps();
    this.centerN = center === null ? null : new ChangeLog(reader).everSeen(hostKind, center.hostId, actor);
  }

  /** @returns where the result was truncated; null if complete */
  *run(): Generator<Uint8Array, string | null> {
    const { reader, input } = this;
    const after = input.from?.sequence ?? 0;
    yield* this.load(after, input.from?.at ?? null);
    let points = 0;
    const range = { after, until: input.until };
    for (const touch of touching(reader, input.actor.organizationN, this.networkNs(), range)) {
      yield PAUSE;
      if (touch === null) continue;
      const step = this.stepAt(touch);
      if (step === null) continue;
      const at = formatInstant(reader.thinnedPast.instantOf(touch.sequence));
      points += 1;
      if (points > TOPOLOGY_POINTS_MAX) return at;
      if (step === "anew") yield* this.load(touch.sequence, at);
      else this.revise(step, at);
    }
    return null;
  }

  /** Everything shown, with positions. @param to end of the period; null for now */
  shown(to: string | null): TopologyUnion<PlacedNode> {
    const shown = this.union.until(to);
    const kept = this.lastNetworkN === null ? new Map() : keptPositions(this.reader, this.lastNetworkN);
    return { nodes: placedNodes(shown.nodes, this.surroundings?.until(to) ?? shown, kept), links: shown.links };
  }

  /** Effect of a transaction on links: none, a revision, or a complete reload. */
  private stepAt({ sequence, touched }: Touch): ReturnType<NetworkRecords["revision"]> | "anew" | null {
    const { records } = this;
    if (touched === null) return "anew";
    if (this.concernsPlace(touched) && this.networkAt(sequence)?.n !== records?.networkN) return "anew";
    const revision = records?.revision(touched, sequence);
    if (revision === undefined || revision.parts.length === 0) return null;
    if (revision.isOfWiring) return revision;
    // Items shown until the end have their final state.
    const change = this.changed(revision);
    this.union.refresh(change);
    this.surroundings?.refresh(change);
    return null;
  }

  /** Whether the shown network may change. */
  private concernsPlace(touched: Touched): boolean {
    return touched.has(networkKind.code) || (touched.get(hostKind.code) ?? []).some((n) => n === this.centerN);
  }

  /** Reloads everything, shown from a timestamp on. */
  private *load(sequence: number, at: string | null): Generator<Uint8Array> {
    const { input, reader } = this;
    const network = this.networkAt(sequence);
    this.records = null;
    this.map = null;
    if (network !== null) {
      this.lastNetworkId = network.id;
      this.lastNetworkN = network.n;
      this.records = new NetworkRecords(reader, network.n);
      this.map = new MapOverTime(network.id, input.includeIsolated || input.center !== null);
      this.map.revise(yield* pausing(this.records.load(sequence)));
    }
    this.union.from(at, this.around());
    this.surroundings?.from(at, this.map?.whole() ?? NOTHING);
  }

  private networkAt(sequence: number): { readonly n: number; readonly id: string } | null {
    const { reader, input } = this;
    const id = shownNetwork(reader, { ...input, sequence });
    const found = id === null ? null : reader.find(networkKind, id, input.actor, reader.atSequence(sequence));
    return found === null || id === null ? null : { n: found.n, id };
  }

  private revise(revision: Revision, at: string): void {
    const change = this.changed(revision);
    if (this.input.center === null) this.union.revised(at, change);
    else this.union.from(at, this.around());
    this.surroundings?.revised(at, change);
  }

  private changed(revision: Revision): MapChange {
    const { map, records } = this;
    return map === null || records === null ? UNCHANGED : map.revise(records.apply(revision));
  }

  private around(): NetworkMap {
    const { map, input } = this;
    if (map === null) return NOTHING;
    return input.center === null ? map.whole() : map.around(input.center.hostId, input.center.hops);
  }

  /** Every network that may be shown. */
  private networkNs(): number[] {
    const { reader, input, centerN } = this;
    const log = new ChangeLog(reader);
    const ids = input.networkId !== null ? [input.networkId] : centerN === null ? [] : this.networksOf(centerN);
    return ids.flatMap((id) => log.everSeen(networkKind, id, input.actor) ?? []);
  }

  private networksOf(hostN: number): string[] {
    const rows = this.reader
      .statement(
        `SELECT DISTINCT ('{' || ${membersSql(hostKind, "v")} || '}') ->> '$.network_id' FROM history_versions v
          WHERE v.key > (+?1 << 31) AND v.key <= ((+?1 << 31) | +?2) AND v.members IS NOT NULL`,
      )
      .values(hostN, this.input.until);
    return (rows as Array<[string]>).map(([id]) => id);
  }
}

/** Nodes or links per chunk of a response. */
const CHUNK_ITEMS = 200;

function* inChunks(items: readonly unknown[]): Generator<Uint8Array> {
  for (let start = 0; start < items.length; start += CHUNK_ITEMS) {
    const texts = items.slice(start, start + CHUNK_ITEMS).map((item) => JSON.stringify(item));
    yield encoder.encode((start === 0 ? "" : ",") + texts.join(","));
  }
}

const NOTHING: NetworkMap = { nodes: [], links: [] };
const UNCHANGED: MapChange = { nodes: new Map(), links: new Map() };

const encoder = new TextEncoder();
