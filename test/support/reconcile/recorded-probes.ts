// Recorded and synthetic devices that respond to the scans of an appliance, in random order.

import type { Device } from "../../../src/discovery/device.ts";
import { deviceOf } from "../../../src/discovery/mib/device.ts";
import { READING_PLAN } from "../../../src/discovery/mib/plan.ts";
import type { Probes } from "../../../src/discovery/scans/probes.ts";
import { FakeProbes } from "../injected/fake-probes.ts";
import type { SeededRandom } from "../injected/seeded-random.ts";
import { type RecordedSteps, reducedReads } from "./reduced-reads.ts";

export const COMMUNITY = "public";

/** Devices by the address at which they respond. */
export type AnsweringDevices = ReadonlyMap<string, RecordedSteps>;

type Served = Parameters<Probes["pollDevice"]>[1]["served"];

export class RecordedProbes extends FakeProbes {
  private readonly answering: AnsweringDevices;
  private readonly random: SeededRandom;
  private readonly decoded: Map<string, Device>;
  private readonly waiting: Array<() => void> = [];

  /** @param decoded reports decoded so far, which several of these may share */
  constructor(answering: AnsweringDevices, random: SeededRandom, decoded = new Map<string, Device>()) {
    super(...answering.keys());
    this.answering = answering;
    this.random = random;
    this.decoded = decoded;
  }

  override sweep(addresses: readonly string[], ...rest: [AbortSignal, Parameters<Probes["sweep"]>[2]]) {
    return super.sweep(this.random.shuffled(addresses), ...rest);
  }

  override async pollDevice(address: string, options: Parameters<Probes["pollDevice"]>[1]) {
    await this.turn();
    const steps = this.answering.get(address);
    if (steps !== undefined)
      this.devices.set(address, { community: COMMUNITY, device: this.decode(address, steps, options.served) });
    return super.pollDevice(address, options);
  }

  /** Resolves in random order among the devices being polled. */
  private turn(): Promise<void> {
    return new Promise((resolve) => {
      this.waiting.push(resolve);
      setImmediate(() => {
        const [next] = this.waiting.splice(this.random.integer(this.waiting.length), 1);
        next?.();
      });
    });
  }

  private decode(address: string, steps: RecordedSteps, served: Served): Device {
    const key = `${address} ${JSON.stringify(served)}`;
    let device = this.decoded.get(key);
    if (device === undefined)
      this.decoded.set(key, (device = deviceOf(reducedReads(steps, READING_PLAN, null), served)));
    return device;
  }
}
