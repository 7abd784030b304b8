// An Admin's word that credentials go somewhere: what it comes to is read of the records as they are now, and written
// only while they are still the same. Each is a transaction of its own.

import { api, asRefusal, type DataOf, written } from "../api/client.ts";
import type { Refusal } from "../api/refusal.ts";
import { bodyOf } from "../editing/edits.ts";
import type { Values } from "../editing/field.ts";
import { allFieldsOf } from "../editing/forms.ts";
import { loadEdited, saveEdited, type Tagged } from "../editing/write.ts";
import { sentenceOf } from "../parts/problem.tsx";
import { waitingText } from "../text/waiting.ts";
import type { PlannedAction } from "../writes/plan-groups.ts";
import type { Plan, Sending } from "../writes/plans.ts";
import { reasonHeader } from "../writes/reason.ts";
import { newRequestKey } from "../writes/request-key.ts";

export type WaitingItem = DataOf<"/api/v1/discovery/withheld">[number];

/** Changes that make something wait, or wait no longer. */
export const WAITING_TYPES = ["network", "host", "ip_address", "subnet", "credential"];

/** What it would do, as a sentence. */
export function consequence({ type, value, host, credentials, address_count }: WaitingItem): string {
  const names = credentials.map(({ name }) => name);
  return type === "Subnet"
    ? waitingText.sendsSubnet(names, value, address_count)
    : waitingText.sends(names, value, host?.name ?? "");
}

const KINDS = { Subnet: "subnet", Address: "ip_address" } as const;
/** What tells whether it is still what was read. */
const VALUES = { Subnet: "cidr", Address: "ip_address" } as const;

/**
 * The word for several of them. What was changed since its plan was read is left as it is, and the rest is done: an
 * address under whose id another one stands by now must not get a secret that was meant for what was there.
 */
export class Consent {
  private readonly items: readonly WaitingItem[];
  /** As they were when the plan was read, each with the key of its write. */
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
    const actions: PlannedAction[] = [];
    for (const item of this.items) {
      const { type, id, value } = item;
      const told = await loadEdited(KINDS[type], id).catch((cause: unknown) => this.leave(item, asRefusal(cause)));
      if (told === null) continue;
      if (told.record[VALUES[type]] !== value) {
        this.left.push({ id, message: waitingText.changed(value) });
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
        const writing = { tag, key, reason };
        const sequence = await (item.type === "Subnet"
          ? saveEdited("subnet", item.id, { ...writing, body: acceptingBody(record) })
          : confirmAddress(item.id, writing));
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

  /** @throws Refusal where nobody knows whether it was done: sending it again does nothing twice */
  private leave({ id, value }: WaitingItem, refusal: Refusal): null {
    if (refusal.status === 0 || refusal.status === 401 || refusal.status >= 500) throw refusal;
    const said = {
      404: waitingText.gone(value),
      412: waitingText.changed(value),
    }[refusal.status];
    this.left.push({ id, message: said ?? waitingText.refused(value, sentenceOf(refusal)) });
    return null;
  }
}

interface Writing {
  readonly tag: string;
  readonly key: string;
  readonly reason: string;
}

function acceptingBody(subnet: Values): Values {
  const fields = allFieldsOf("subnet", false);
  const accepts = fields.filter(({ name }) => name === "accepts_credentials");
  return bodyOf(fields, subnet, accepts, { accepts_credentials: true });
}

/** @returns its transaction; null where it was confirmed already @throws Refusal */
async function confirmAddress(id: string, { tag, key, reason }: Writing): Promise<number | null> {
  const { sequence } = await written(
    api.POST("/api/v1/ip-addresses/{id}/confirm", {
      params: { path: { id }, header: { "If-Match": tag, "Idempotency-Key": key } },
      headers: reasonHeader(reason),
    }),
  );
  return sequence;
}
