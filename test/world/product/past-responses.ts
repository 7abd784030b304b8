// Responses about past timestamps: requested at the time, and again at the end of a run.

import { formatInstant } from "../../../src/base/instant.ts";
import type { Figures } from "../figures/figures.ts";
import type { WorldAppliance } from "./world-appliance.ts";

const LISTS = ["hosts", "if-entries", "ip-addresses", "vlans", "components", "conflicts", "stations"];
/** Fields that are not part of a version, or that contain its end. */
const MOVING: ReadonlySet<string> = new Set(["last_seen_at", "last_discovery_id", "valid_to"]);

export class PastResponses {
  private readonly product: WorldAppliance;
  private readonly figures: Figures;
  private readonly asked: Array<{ readonly at: string; readonly answer: bigint }> = [];

  constructor(product: WorldAppliance, figures: Figures) {
    this.product = product;
    this.figures = figures;
  }

  /** Requests the current state. */
  async query(): Promise<void> {
    const at = formatInstant(this.product.now);
    this.asked.push({ at, answer: await this.answerAt(at) });
  }

  async repeatQueries(): Promise<void> {
    for (const { at, answer } of this.asked) this.figures.past.add((await this.answerAt(at)) === answer);
  }

  private async answerAt(at: string): Promise<bigint> {
    const answers: unknown[] = [];
    for (const list of LISTS) answers.push(await this.product.list(list, `&at=${at}`));
    return BigInt(Bun.hash(JSON.stringify(answers, (field, value) => (MOVING.has(field) ? undefined : value))));
  }
}
