// Consent of an Admin to send credentials to an address or subnet. The preview reads the current records; the write
// requires them to be unchanged. One transaction per item.

import { api, asRefusal, type DataOf, written } from "../api/client.ts";
import type { Refusal } from "../api/refusal.ts";
import { allFieldsOf } from "../editing/forms.ts";
import { loadEdited, saveEdited, type Tagged } from "../editing/write.ts";
import { bodyOf } from "../forms/edits.ts";
import type { Values } from "../forms/field.ts";
import { reasonHeader } from "../forms/reason.ts";
import { newRequestKey } from "../forms/request-key.ts";
import type { Headers } from "../forms/use-form.ts";
import { sentenceOf } from "../parts/problem.tsx";
import { groupedDigits } from "../text/digits.ts";
import { isolated } from "../text/isolated.ts";
import type { PlannedAction } from "../writes/plan-groups.ts";
import type { Plan, Sending } from "../writes/plans.ts";

export type WaitingItem = DataOf<"/api/v1/discovery/withheld">[number];

/** Record types whose changes affect the list of waiting items. */
export const WAITING_TYPES = ["network", "host", "ip_address", "subnet", "credential"];

/** “a”, “b” and “c”. */
function listed(names: readonly string[]): string {
  const quoted = names.map((name) => `“${isolated(name)}”`);
  return new Intl.ListFormat("en").format(quoted);
}

const sendsSubnet = (names: readonly string[], cidr: string, count: number) =>
  `The SNMP ${names.length === 1 ? "credential" : "credentials"} ${listed(names)} of the network would be sent to every address of ${cidr} that a scan asks${
    count === 0 ? "." : `: the ${count === 1 ? "one that is" : `${groupedDigits(count)} that are`} known, and others.`
  }`;

const sends = (names: readonly string[], address: string, host: string) =>
  `The SNMP ${names.length === 1 ? "credential" : "credentials"} ${listed(names)} would be sent to ${address}, as an address of ${isolated(host)}.`;

/** Effect of the consent, as a sentence. */
export function consequence({ type, value, host, credentials, address_count }: WaitingItem): string {
  const names = credentials.map(({ name }) => name);
  return type === "Subnet" ? sendsSubnet(names, value, address_count) : sends(names, value, host?.name ?? "");
}

const KINDS = { Subnet: "subnet", Address: "ip_address" } as const;
/** Field that must still match the preview. */
const VALUES = { Subnet: "cidr", Address: "ip_address" } as const;

const waitingChanged = (value: string) => `${value} has changed since this page was read. Look at it again.`;

/**
 * Consent for several items. Items changed since the preview are skipped, the others are written: an address that has
 * replaced the previewed one under the same id must not receive a secret.
 */
export class Consent {
  private readonly items: readonly WaitingItem[];
  /** Versions at the time of the preview, with the idempotency key of each write. */
  private readonly read = new Map<string, Tagged & { readonly key: string }>();
  private readonly left: Array<Plan["conflicts"][number]> = [];

  constructor(items: readonly WaitingItem[]) {
    this.items = items;
  }

  /** @throws Refusal */
  run({ isTried, reason }: Sending): Promise<Plan> {
    return isTried ? this.tried() : this.done(reason);
  }

  private async tried(): Promise<Plan> {
    this.left.length = 0;
    this.read.clear();
    const actions: PlannedAction[] = [];
    for (const item of this.items) {
      const { type, id, value } = item;
      const told = await loadEdited(KINDS[type], id).catch((cause: unknown) => this.leave(item, asRefusal(cause)));
      if (told === null) continue;
      if (told.record[VALUES[type]] !== value) {
        this.left.push({ id, message: waitingChanged(value) });
        continue;
      }
      this.read.set(id, { ...told, key: newRequestKey() });
      actions.push({
        entity_type: KINDS[type],
        id,
        name: value,
        action: "Update",
        fields: [],
        reason: consequence(item),
      });
    }
    return { applied: false, sequence: null, actions, conflicts: [...this.left] };
  }

  private async done(reason: string): Promise<Plan> {
    this.left.length = 0;
    const sequences: number[] = [];
    for (const item of this.items) {
      const known = this.read.get(item.id);
      if (known === undefined) continue;
      const { tag, key, record } = known;
      try {
        const sending = { header: { "Idempotency-Key": key }, headers: reasonHeader(reason) };
        const sequence = await (item.type === "Subnet"
          ? saveEdited("subnet", item.id, { tag, body: acceptingBody(record) }, sending)
          : confirmAddress(item.id, tag, sending));
        if (sequence !== null) sequences.push(sequence);
      } catch (cause) {
        this.leave(item, asRefusal(cause));
      }
    }
    return {
      applied: sequences.length > 0 || this.left.length === 0,
      sequence: sequences.at(-1) ?? null,
      sequences,
      actions: [],
      conflicts: [...this.left],
    };
  }

  /** @throws Refusal if the result is unknown; safe to retry */
  private leave({ id, value }: WaitingItem, refusal: Refusal): null {
    if (refusal.status === 0 || refusal.status === 401 || refusal.status >= 500) throw refusal;
    const said = {
      404: `${value} is no longer there.`,
      412: waitingChanged(value),
    }[refusal.status];
    this.left.push({ id, message: said ?? `${value}: ${sentenceOf(refusal)}` });
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
  return (await written(api.POST("/api/v1/ip-addresses/{id}/confirm", { params, headers }))).sequence;
}
