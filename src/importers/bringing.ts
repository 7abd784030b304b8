// What all stages of one import share: both sides, the plan, and which record stands for which object so far.

import { customFieldName } from "../base/custom-field-names.ts";
import { withoutInvisible } from "../base/visible.ts";
import { type FieldKind, type TypedField, valueProblem } from "../resources/custom-fields/field-type.ts";
import type { ChangesHere } from "./changes-here.ts";
import { KnownSubnets } from "./known-subnets.ts";
import type { Ledger, LedgerRecord } from "./ledger.ts";
import type { Plan } from "./plan.ts";
import type { BroughtSource, CustomValues, NetworkPlace } from "./wanted.ts";

export interface BringOptions {
  /** The network of what has no place; null for none. */
  readonly defaultNetwork: string | null;
  /** Whether the source's word counts more than that of whoever changed a record here. */
  readonly overwrites: boolean;
  /** Called now and then. */
  readonly progress: (step: string, done: number) => void;
  /** Called when the plan may have lines. */
  readonly flush: () => Promise<void>;
}

/** The state of one import. Devices and addresses pass through it; what they refer to is kept. */
export class Bringing {
  readonly source: BroughtSource;
  readonly ledger: Ledger;
  readonly plan: Plan;
  readonly changesHere: ChangesHere;
  readonly options: BringOptions;
  /** Whether the source was brought before: only then something of it can have been changed or deleted here. */
  readonly isAgain: boolean;
  /** Ids of networks by those of their origins. */
  readonly networks = new Map<string, string>();
  defaultNetworkId: string | null = null;
  /** Ids by name. */
  readonly tags = new Map<string, string>();
  /** Custom fields by key. */
  readonly fields = new Map<string, TypedField & { readonly kinds: readonly FieldKind[] }>();
  /** By `network/number`; null for one that was refused. */
  readonly vlans = new Map<string, LedgerRecord | null>();
  readonly subnets = new KnownSubnets();
  /** Hosts that hosts of devices went into, and the device that says what they are. */
  readonly consolidated = new Map<string, string>();

  constructor(parts: Pick<Bringing, "source" | "ledger" | "plan" | "changesHere" | "options" | "isAgain">) {
    this.source = parts.source;
    this.ledger = parts.ledger;
    this.plan = parts.plan;
    this.changesHere = parts.changesHere;
    this.options = parts.options;
    this.isAgain = parts.isAgain;
  }

  /** The id of a network, or why there is none. */
  networkOf(place: NetworkPlace): { readonly id: string } | { readonly refused: string } {
    const id = place === null ? this.defaultNetworkId : this.networks.get(place);
    if (id !== null && id !== undefined) return { id };
    return place === null
      ? { refused: "belongs to no network; name one for it with --default-network" }
      : { refused: "its network could not be taken" };
  }

  /**
   * The values that a record can have, as fields called `custom_fields.KEY`; of a field that was refused none.
   * @param refuse is told what is wrong with the others
   */
  customValues(kind: FieldKind, values: CustomValues, refuse: (reason: string) => void): Record<string, unknown> {
    const fields: Record<string, unknown> = {};
    for (const [key, value] of Object.entries(values)) {
      const field = this.fields.get(key);
      if (field === undefined || !field.kinds.includes(kind)) continue;
      const problem = valueProblem(field, value);
      if (problem === null) fields[customFieldName(key)] = value;
      else refuse(`${customFieldName(key)} ${problem}`);
    }
    return fields;
  }

  /** The ids of tags; one that was refused is left out. */
  tagIds(names: readonly string[]): string[] {
    return [...new Set(names.flatMap((name) => this.tags.get(name) ?? this.tags.get(withoutInvisible(name)) ?? []))];
  }
}
