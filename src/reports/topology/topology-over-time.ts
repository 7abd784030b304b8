// Topology over a period: an incremental map updated at every transaction that may affect links, with the union of its
// states. Runs off the main thread, step by step.

import type { Actor } from "../../access/actor.ts";
import { formatInstant } from "../../base/instant.ts";
import { ChangeLog } from "../../db/reading/change-log.ts";
import { longRead, PAUSE, pausing } from "../../db/reading/long-reads.ts";
import type { Reader } from "../../db/reading/reader.ts";
import { membersSql } from "../../db/shape.ts";
import { NetworkRecords, type Revision, type TouchedNetworkRecords } from "../../discovery/topology/network-records.ts";
import { hostKind } from "../../resources/hosts/host.ts";
import { storedPositions } from "../../resources/map-positions/map-position.ts";
import { networkKind } from "../../resources/networks/network.ts";
import { metaAt, thinnedUntilMember } from "../../schemas/envelope.ts";
import { inChunks } from "./formats.ts";
import { IncrementalMap } from "./incremental-map.ts";
import type { MapChange, NetworkMap } from "./map.ts";
import type { Center } from "./neighborhood.ts";
import { type PlacedNode, placedNodes } from "./placed-nodes.ts";
import { shownNetwork } from "./topology.ts";
import { type Touch, touching } from "./topology-transactions.ts";
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
  /** Start of the period, with the transaction current at that time; null for the start of the ledger. */
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
    const walk = new PeriodWalk(reader, input);
    const next = yield* walk.run();
    const { nodes, links } = walk.result(next ?? to);
    const head = { network_id: networkId ?? walk.lastNetworkId, from: from?.at ?? null, to };
    yield encoder.encode(`{"success":true,"data":${JSON.stringify(head).slice(0, -1)},"nodes":[`);
    for (const text of inChunks(nodes, (node) => JSON.stringify(node), ",")) yield encoder.encode(text);
    yield encoder.encode('],"links":[');
    for (const text of inChunks(links, (link) => JSON.stringify(link), ",")) yield encoder.encode(text);
    const thinned = thinnedUntilMember(reader.thinnedHistory.incompleteUntil(from?.sequence ?? 0));
    yield encoder.encode(
      `],"truncated":${next !== null},"next_from":${JSON.stringify(next)}},"meta":${metaAt(null, thinned)}}\n`,
    );
  },
  { isInLargeSteps: true },
);

class PeriodWalk {
  /** The network most recently shown. */
  lastNetworkId: string | null = null;
  private lastNetworkN: number | null = null;
  private readonly reader: Reader;
  private readonly input: TopologyPeriodInput;
  private readonly centerN: number | null;
  private readonly union = new UnionOfMaps();
  /** Union over the whole network, if only a neighborhood is shown: positions come from the whole map. */
  private readonly context: UnionOfMaps | null;
  /** Records of the shown network; null while there is none. */
  private records: NetworkRecords | null = null;
  private map: IncrementalMap | null = null;

  constructor(reader: Reader, input: TopologyPeriodInput) {
    this.reader = reader;
    this.input = input;
    const { center, actor } = input;
    this.context = center === null ? null : new UnionOfMaps();
    this.centerN = center === null ? null : new ChangeLog(reader).everVisible(hostKind, center.hostId, actor);
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
      const at = formatInstant(reader.thinnedHistory.instantOf(touch.sequence));
      points += 1;
      if (points > TOPOLOGY_POINTS_MAX) return at;
      if (step === "reload") yield* this.load(touch.sequence, at);
      else this.revise(step, at);
    }
    return null;
  }

  /** Everything shown, with positions. @param to end of the period; null for now */
  result(to: string | null): TopologyUnion<PlacedNode> {
    const result = this.union.until(to);
    const positions = this.lastNetworkN === null ? new Map() : storedPositions(this.reader, this.lastNetworkN);
    return { nodes: placedNodes(result.nodes, this.context?.until(to) ?? result, positions), links: result.links };
  }

  /** Effect of a transaction on links: none, a revision, or a complete reload. */
  private stepAt({ sequence, touched }: Touch): ReturnType<NetworkRecords["revision"]> | "reload" | null {
    const { records } = this;
    if (touched === null) return "reload";
    if (this.affectsNetwork(touched) && this.networkAt(sequence)?.n !== records?.networkN) return "reload";
    const revision = records?.revision(touched, sequence);
    if (revision === undefined || revision.parts.length === 0) return null;
    if (revision.affectsLinks) return revision;
    // Items shown until the end have their final state.
    const change = this.applyRevision(revision);
    this.union.refresh(change);
    this.context?.refresh(change);
    return null;
  }

  /** Whether the shown network may change. */
  private affectsNetwork(touched: TouchedNetworkRecords): boolean {
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
      this.map = new IncrementalMap(network.id, input.includeIsolated || input.center !== null);
      this.map.revise(yield* pausing(this.records.load(sequence)));
    }
    this.union.from(at, this.visibleMap());
    this.context?.from(at, this.map?.fullMap() ?? NOTHING);
  }

  private networkAt(sequence: number): { readonly n: number; readonly id: string } | null {
    const { reader, input } = this;
    const id = shownNetwork(reader, { ...input, sequence });
    const found = id === null ? null : reader.find(networkKind, id, input.actor, reader.atSequence(sequence));
    return found === null || id === null ? null : { n: found.n, id };
  }

  private revise(revision: Revision, at: string): void {
    const change = this.applyRevision(revision);
    if (this.input.center === null) this.union.revise(at, change);
    else this.union.from(at, this.visibleMap());
    this.context?.revise(at, change);
  }

  private applyRevision(revision: Revision): MapChange {
    const { map, records } = this;
    return map === null || records === null ? UNCHANGED : map.revise(records.apply(revision));
  }

  private visibleMap(): NetworkMap {
    const { map, input } = this;
    if (map === null) return NOTHING;
    return input.center === null ? map.fullMap() : map.neighborhood(input.center.hostId, input.center.hops);
  }

  /** Every network that may be shown. */
  private networkNs(): number[] {
    const { reader, input, centerN } = this;
    const log = new ChangeLog(reader);
    const ids = input.networkId !== null ? [input.networkId] : centerN === null ? [] : this.networksOf(centerN);
    return ids.flatMap((id) => log.everVisible(networkKind, id, input.actor) ?? []);
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

const NOTHING: NetworkMap = { nodes: [], links: [] };
const UNCHANGED: MapChange = { nodes: new Map(), links: new Map() };

const encoder = new TextEncoder();
