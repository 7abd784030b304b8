// Admin approval to send credentials to records that are unchanged since the preview. One transaction per item.

import { api, asRefusal, type DataOf, unwrapWrite } from "../api/client.ts";
import type { Refusal } from "../api/refusal.ts";
import { sentenceOf } from "../components/problem.tsx";
import { allFieldsOf } from "../editing/forms.ts";
import { loadEdited, saveEdited, type Tagged } from "../editing/write.ts";
import { bodyOf } from "../forms/edits.ts";
import type { Values } from "../forms/field.ts";
import { reasonHeader } from "../forms/reason.ts";
import { newRequestKey } from "../forms/request-key.ts";
import type { Headers } from "../forms/use-form.ts";
import type { PlannedAction } from "../plans/plan-groups.ts";
import type { Plan, PlanRequest } from "../plans/plans.ts";
import { counted } from "../text/digits.ts";
import { isolated } from "../text/isolated.ts";

export type WaitingItem = DataOf<"/api/v1/discovery/withheld">[number];

/** Record types whose changes affect the list of waiting items. */
export const WAITING_TYPES = ["network", "host", "ip_address", "subnet", "credential"];

/** Effect of consenting to an item, as a sentence. */
export function consequence({ type, value, host, credentials, address_count: count }: WaitingItem): string {
  // “a”, “b” and “c”.
  const names = new Intl.ListFormat("en").format(credentials.map(({ name }) => `“${isolated(name)}”`));
  const sent = `The SNMP ${credentials.length === 1 ? "credential" : "credentials"} ${names} would be sent to`;
  if (type === "Address") return `${sent} ${value}, as an address of ${isolated(host?.name ?? "")}.`;
  return `${sent} every address of ${value}${count === 0 ? "." : `: ${counted(count, "known address", "known addresses")}, and others.`}`;
}

const KINDS = { Subnet: "subnet", Address: "ip_address" } as const;
/** Field that must still match the preview. */
const VALUE_FIELDS = { Subnet: "cidr", Address: "ip_address" } as const;

const changedText = (value: string) => `${value} has changed since this page was loaded. Review it again.`;

/**
 * Consent for several items. Skips items changed since the preview and writes the others: an address that replaced
 * the previewed one under the same id must not receive a secret.
 */
export class Consent {
  private readonly items: readonly WaitingItem[];
  /** Versions at the time of the preview, with the idempotency key of each write. */
  private readonly previewed = new Map<string, Tagged & { readonly key: string }>();
  private readonly conflicts: Array<Plan["conflicts"][number]> = [];

  constructor(items: readonly WaitingItem[]) {
    this.items = items;
  }

  /** @throws Refusal */
  run({ isDryRun, reason }: PlanRequest): Promise<Plan> {
    return isDryRun ? this.preview() : this.write(reason);
  }

  private async preview(): Promise<Plan> {
    this.conflicts.length = 0;
    this.previewed.clear();
    const actions: PlannedAction[] = [];
    for (const item of this.items) {
      const { type, id, value } = item;
      const loaded = await loadEdited(KINDS[type], id).catch((cause: unknown) => this.skip(item, asRefusal(cause)));
      if (loaded === null) continue;
      if (loaded.record[VALUE_FIELDS[type]] !== value) {
        this.conflicts.push({ id, message: changedText(value) });
        continue;
      }
      this.previewed.set(id, { ...loaded, key: newRequestKey() });
      const reason = consequence(item);
      actions.push({ entity_type: KINDS[type], id, name: value, action: "Update", fields: [], reason });
    }
    return { applied: false, sequence: null, actions, conflicts: [...this.conflicts] };
  }

  private async write(reason: string): Promise<Plan> {
    this.conflicts.length = 0;
    const sequences: number[] = [];
    for (const item of this.items) {
      const previewed = this.previewed.get(item.id);
      if (previewed === undefined) continue;
      const { tag, key, record } = previewed;
      try {
        const options = { header: { "Idempotency-Key": key }, headers: reasonHeader(reason) };
        const sequence = await (item.type === "Subnet"
          ? saveEdited("subnet", item.id, { tag, body: acceptingBody(record) }, options)
          : confirmAddress(item.id, tag, options));
        if (sequence !== null) sequences.push(sequence);
      } catch (cause) {
        this.skip(item, asRefusal(cause));
      }
    }
    return {
      applied: sequences.length > 0 || this.conflicts.length === 0,
      sequence: sequences.at(-1) ?? null,
      sequences,
      actions: [],
      conflicts: [...this.conflicts],
    };
  }

  /** @throws Refusal if the result is unknown; safe to retry */
  private skip({ id, value }: WaitingItem, refusal: Refusal): null {
    if (refusal.status === 0 || refusal.status === 401 || refusal.status >= 500) throw refusal;
    const message = { 404: `${value} no longer exists.`, 412: changedText(value) }[refusal.status];
    this.conflicts.push({ id, message: message ?? `${value}: ${sentenceOf(refusal)}` });
    return null;
  }
}

function acceptingBody(subnet: Values): Values {
  const fields = allFieldsOf("subnet", false);
  const accepts = fields.filter(({ name }) => name === "accepts_credentials");
  return bodyOf(fields, subnet, accepts, { accepts_credentials: true });
}

/** @returns the transaction; null if already confirmed @throws Refusal */
async function confirmAddress(id: string, tag: string, { header, headers }: Headers): Promise<number | null> {
  const params = { path: { id }, header: { ...header, "If-Match": tag } };
  return (await unwrapWrite(api.POST("/api/v1/ip-addresses/{id}/confirm", { params, headers }))).sequence;
}
