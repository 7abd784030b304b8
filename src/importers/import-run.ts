// Shared state of an import: source, ledger, plan, and the records imported so far.

import { customFieldName } from "../base/custom-field-names.ts";
import { withoutInvisible } from "../base/visible.ts";
import { type FieldKind, type TypedField, valueProblem } from "../resources/custom-fields/field-type.ts";
import type { CustomValues, ImportSource, NetworkRef } from "./imported-objects.ts";
import { KnownSubnets } from "./known-subnets.ts";
import type { Ledger, LedgerRecord } from "./ledger.ts";
import type { LocalChanges } from "./local-changes.ts";
import type { ImportPlan } from "./plan.ts";

export interface ImportOptions {
  /** Network for objects without a place; null if none. */
  readonly defaultNetwork: string | null;
  /** True if the source outranks changes made here. */
  readonly overwrites: boolean;
  /** Called periodically. */
  readonly progress: (step: string, done: number) => void;
  /** Called when the plan may have new lines. */
  readonly flush: () => Promise<void>;
}

interface ImportRunParts {
  readonly source: ImportSource;
  readonly ledger: Ledger;
  readonly plan: ImportPlan;
  readonly localChanges: LocalChanges;
  readonly options: ImportOptions;
  readonly isRepeated: boolean;
}

/** State of one import. Devices and addresses are streamed; referenced records are kept in memory. */
export class ImportRun {
  readonly source: ImportSource;
  readonly ledger: Ledger;
  readonly plan: ImportPlan;
  readonly localChanges: LocalChanges;
  readonly options: ImportOptions;
  /** True if the source was imported before: otherwise none of its records can have been changed or deleted here. */
  readonly isRepeated: boolean;
  /** Network IDs by origin ID. */
  readonly networks = new Map<string, string>();
  defaultNetworkId: string | null = null;
  /** IDs by name. */
  readonly tags = new Map<string, string>();
  /** Custom fields by key. */
  readonly fields = new Map<string, TypedField & { readonly kinds: readonly FieldKind[] }>();
  /** By `network/number`; null for a refused one. */
  readonly vlans = new Map<string, LedgerRecord | null>();
  readonly subnets = new KnownSubnets();
  /** Hosts that absorbed imported hosts, with the device that describes each. */
  readonly consolidated = new Map<string, string>();

  constructor(parts: ImportRunParts) {
    this.source = parts.source;
    this.ledger = parts.ledger;
    this.plan = parts.plan;
    this.localChanges = parts.localChanges;
    this.options = parts.options;
    this.isRepeated = parts.isRepeated;
  }

  /** Returns the ID of a network, or the reason for having none. */
  networkOf(networkId: NetworkRef): { readonly id: string } | { readonly refused: string } {
    const id = networkId === null ? this.defaultNetworkId : this.networks.get(networkId);
    if (id !== null && id !== undefined) return { id };
    return networkId === null
      ? { refused: "has no network; specify one with --default-network" }
      : { refused: "its network could not be imported" };
  }

  /**
   * Returns the valid values as `custom_fields.KEY`; skips refused fields.
   * @param refuse called with the problem of each invalid value
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

  /** Returns the IDs of tags, without refused ones. */
  tagIds(names: readonly string[]): string[] {
    return [...new Set(names.flatMap((name) => this.tags.get(name) ?? this.tags.get(withoutInvisible(name)) ?? []))];
  }
}
