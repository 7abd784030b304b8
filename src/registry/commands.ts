// Table of all write commands, by their names in the ledger's `source`.

import { backupCommands } from "../backup/commands.ts";
import { ownValue } from "../base/fields.ts";
import { bulkUpdateCommands } from "../bulk/bulk-update-commands.ts";
import { tableCommands } from "../bulk/table-commands.ts";
import type { CallsOf, Commands } from "../db/writing/command.ts";
import { scanCommands } from "../discovery/scans/commands.ts";
import { scheduledTargetProblems } from "../discovery/scans/scope.ts";
import { SIGHTING_COMMANDS } from "../discovery/scans/sighting-commands.ts";
import { selfCommands } from "../discovery/self/reconcile.ts";
import { restoreCommands } from "../history/restore/restore-commands.ts";
import { verificationCommands } from "../operations/verification-commands.ts";
import { conflictCommands } from "../reports/conflicts/commands.ts";
import { apiKeyCommands } from "../resources/api-keys/commands.ts";
import { bindingCommands } from "../resources/bindings/commands.ts";
import { consolidationCommands } from "../resources/consolidations/commands.ts";
import { confirmationCommands } from "../resources/credential-assignments/commands.ts";
import { credentialCommands } from "../resources/credentials/commands.ts";
import { customFieldCommands } from "../resources/custom-fields/commands.ts";
import { hostBulkCommands } from "../resources/hosts/bulk-commands.ts";
import { hostCommands } from "../resources/hosts/commands.ts";
import { ifEntryCommands } from "../resources/if-entries/commands.ts";
import { ignoredCommands } from "../resources/ignored/commands.ts";
import { ipAddressCommands } from "../resources/ip-addresses/commands.ts";
import { ipRangeCommands } from "../resources/ip-ranges/commands.ts";
import { mapPositionCommands } from "../resources/map-positions/commands.ts";
import { withPlacement } from "../resources/map-positions/placing.ts";
import { markerCommands } from "../resources/markers/commands.ts";
import { networkCommands } from "../resources/networks/commands.ts";
import { organizationCommands } from "../resources/organizations/commands.ts";
import { portCommands } from "../resources/ports/commands.ts";
import { scheduleCommands } from "../resources/schedules/commands.ts";
import { scheduleResource } from "../resources/schedules/resource.ts";
import { targetIssues } from "../resources/schedules/schedule.ts";
import { serviceCommands } from "../resources/services/commands.ts";
import { allocationCommands } from "../resources/subnets/allocation-commands.ts";
import { subnetCommands } from "../resources/subnets/commands.ts";
import { tagAssignmentCommands } from "../resources/tag-assignments/commands.ts";
import { tagCommands } from "../resources/tags/commands.ts";
import { userCommands } from "../resources/users/commands.ts";
import { vlanCommands } from "../resources/vlans/commands.ts";
import { signInCommands } from "../sessions/commands.ts";
import { preferenceCommands } from "../sessions/preferences.ts";

export const COMMANDS = withPlacement({
  ...signInCommands,
  ...allocationCommands,
  ...apiKeyCommands,
  ...backupCommands,
  ...bindingCommands,
  ...bulkUpdateCommands,
  ...confirmationCommands,
  ...conflictCommands,
  ...consolidationCommands,
  ...credentialCommands,
  ...hostBulkCommands,
  ...hostCommands,
  ...ifEntryCommands,
  ...ignoredCommands,
  ...ipAddressCommands,
  ...ipRangeCommands,
  ...mapPositionCommands,
  ...markerCommands,
  ...networkCommands,
  ...organizationCommands,
  ...portCommands,
  ...preferenceCommands,
  ...restoreCommands,
  ...scanCommands,
  ...scheduleCommands,
  ...selfCommands,
  ...serviceCommands,
  ...SIGHTING_COMMANDS,
  ...subnetCommands,
  ...tableCommands({ [scheduleResource.path]: (body) => targetIssues(body, scheduledTargetProblems) }),
  ...tagAssignmentCommands,
  ...tagCommands,
  ...customFieldCommands,
  ...userCommands,
  ...verificationCommands,
  ...vlanCommands,
} satisfies Commands);
export type AllCommands = CallsOf<typeof COMMANDS>;

/** Whether a command may take long, regardless of its input. */
export function takesLong(command: string): boolean {
  return ownValue(BY_NAME, command)?.takesLong === true;
}

/** Whether a command may result in nothing but reduced permissions. */
export function mayReducePermissions(command: string): boolean {
  return ownValue(BY_NAME, command)?.mayReducePermissions === true;
}

const BY_NAME: Commands = COMMANDS;
