// Credential coverage of a host's own reported addresses: a device polled with an assigned credential may then be
// polled there too, in subnets that accept credentials.

import { cover } from "../../resources/credential-assignments/coverage.ts";
import {
  assignmentKey,
  credentialAssignmentKind,
} from "../../resources/credential-assignments/credential-assignment.ts";
import type { HostRecord } from "../../resources/hosts/host.ts";
import { AcceptingSubnets } from "../../resources/subnets/accepting.ts";
import { subnetKind } from "../../resources/subnets/subnet.ts";
import type { DeviceSighting } from "../sightings.ts";
import type { ScanWrite } from "./scan-write.ts";

/** Read once per write; subnets created by this write do not count. */
const READ = new WeakMap<ScanWrite, AcceptingSubnets>();

/** @param host the device as a host record */
export function coverReported(write: ScanWrite, host: HostRecord, { device, credential }: DeviceSighting): void {
  if (credential === null) return;
  const { tx, networkId } = write;
  const key = assignmentKey({ credential_id: credential.credential_id, network_id: networkId, host_id: host.id });
  const assignment = tx.findByIdentity(credentialAssignmentKind, key);
  if (assignment === null) return;
  const subnets = READ.get(write) ?? new AcceptingSubnets(tx.children(subnetKind, "network_n", networkId));
  READ.set(write, subnets);
  const own = (device.addresses ?? []).map((each) => each.ip_address).filter((address) => subnets.accepts(address));
  cover(tx, assignment.id, own, "Told");
}
