// Every kind of record, in the order of their codes: foreign keys point upwards in this list.

import type { AnyKind } from "../db/kind.ts";
import { shapeOf } from "../db/shape.ts";
import { apiKeyKind } from "./api-keys/api-key.ts";
import { bindingKind } from "./bindings/binding.ts";
import { credentialAssignmentKind } from "./credential-assignments/credential-assignment.ts";
import { credentialKind } from "./credentials/credential.ts";
import { fdbEntryKind } from "./fdb-entries/fdb-entry.ts";
import { hostKind } from "./hosts/host.ts";
import { ifEntryKind } from "./if-entries/if-entry.ts";
import { ignoredKind } from "./ignored/ignored.ts";
import { ipAddressKind } from "./ip-addresses/ip-address.ts";
import { networkKind } from "./networks/network.ts";
import { organizationKind } from "./organizations/organization.ts";
import { portKind } from "./ports/port.ts";
import { scheduleKind } from "./schedules/schedule.ts";
import { serviceKind } from "./services/service.ts";
import { subnetKind } from "./subnets/subnet.ts";
import { tagKind } from "./tags/tag.ts";
import { userKind } from "./users/user.ts";
import { vlanKind } from "./vlans/vlan.ts";

export const KINDS: readonly AnyKind[] = [
  organizationKind,
  networkKind,
  vlanKind,
  subnetKind,
  tagKind,
  credentialKind,
  hostKind,
  ipAddressKind,
  ifEntryKind,
  fdbEntryKind,
  portKind,
  serviceKind,
  bindingKind,
  credentialAssignmentKind,
  userKind,
  apiKeyKind,
  scheduleKind,
  ignoredKind,
];

/** Grows with every field that any kind gets: a record may show parts of other kinds. */
export const ANSWER_SHAPE = KINDS.reduce((shape, kind) => shape + shapeOf(kind) - 1, 1);
