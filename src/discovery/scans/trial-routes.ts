// What discovery says of a credential: who is asked with it and why, and what comes of sending it to one address that an
// Admin names.

import { type Access, type Actor, ADMIN, type Orderer, VIEWER } from "../../access/actor.ts";
import { HeldConnections } from "../../http/held-connections.ts";
import type { Surface } from "../../http/surface.ts";
import type { Backend } from "../../inventory/backend.ts";
import { runWrite } from "../../inventory/write-answers.ts";
import { CREDENTIAL_EXAMPLE } from "../../resources/credentials/credential.ts";
import { META, successBody } from "../../wire/envelope.ts";
import { IdParams } from "../../wire/schemas.ts";
import type { ScanCommands } from "./commands.ts";
import { CredentialReach, credentialReach, REACH_EXAMPLE, REACH_LISTED_MAX } from "./credential-reach.ts";
import type { Scans } from "./director.ts";
import { CredentialTrial, CredentialTry, concluded, TRIAL_EXAMPLE, TRIALS_MAX, TRIALS_OF_USER_MAX } from "./trial.ts";

/** Beside the routes of credentials, which know nothing of discovery. */
export function trialRoutes(surface: Surface<Actor, Access>, backend: Backend<ScanCommands>, scans: Scans): void {
  const places = new HeldConnections({
    maxOfUser: TRIALS_OF_USER_MAX,
    max: TRIALS_MAX,
    what: "trials of credentials under way",
    remedy: "wait until one has ended",
  });
  surface.get(
    "/api/v1/credentials/:id/reach",
    {
      operationId: "getCredentialReach",
      summary: "Get who is asked with a credential, and why",
      description: `As it is now: of each network that it is assigned to, which subnets accept it and which do not; of each host, the addresses that it is sent to and those that wait for an Admin. Of the networks within reach; ${REACH_LISTED_MAX} subnets of each network and ${REACH_LISTED_MAX} addresses are listed, all are counted.`,
      group: "Credentials",
      access: VIEWER,
      params: IdParams,
      answer: CredentialReach,
      isRecord: false,
      example: { parameters: { id: CREDENTIAL_EXAMPLE.id }, data: REACH_EXAMPLE },
    },
    (call) =>
      new Response(successBody(JSON.stringify(credentialReach(backend.reader, call.params.id, call.actor)), META), {
        headers: { ...call.headers, "content-type": "application/json" },
      }),
  );
  surface.post(
    "/api/v1/credentials/:id/try",
    {
      operationId: "tryCredential",
      makesNoTransaction: true,
      isNotRepeated: true,
      summary: "Try a credential on an address",
      description: `Sends the credential to this address, whatever it is assigned to, and answers with every step and what the device said: after 20 seconds at most, mostly within one. Nothing of it is written to the inventory; the log tells who tried what where, without the secret. It ends when the caller goes away or loses the right to it. ${TRIALS_OF_USER_MAX} of a user and their keys may be under way, ${TRIALS_MAX} in total. A caller limited to some networks can do this only with a credential that is assigned in those and nowhere else.`,
      group: "Credentials",
      access: ADMIN,
      params: IdParams,
      body: CredentialTry,
      answer: CredentialTrial,
      errors: ["entity_reference_invalid", "entity_access_denied", "rate_limit_exceeded"],
      example: {
        parameters: { id: CREDENTIAL_EXAMPLE.id },
        body: { network_id: TRIAL_EXAMPLE.network_id, ip_address: TRIAL_EXAMPLE.ip_address },
        data: TRIAL_EXAMPLE,
      },
    },
    async (call) => {
      const release = places.take(call.actor.userN);
      try {
        const { network_id, ip_address } = call.body;
        const { result: order } = await runWrite(backend, call, "discovery.try", {
          credential_id: call.params.id,
          network_id,
          ip_address,
        });
        const { type, id: callerId, name } = backend.authorOf(call);
        const orderer: Orderer = {
          type: type as Orderer["type"],
          id: callerId as string,
          role: "Admin",
          networkId: order.network_id,
        };
        const steps = await scans.tryCredential(order, orderer, call.request.signal);
        const trial = concluded(order, steps);
        backend.log.info("credential_tried", {
          ...order,
          by: name,
          is_working: trial.is_working,
          failed: steps.find(({ outcome }) => outcome === "Failed" || outcome === "Unclear")?.step,
          duration_ms: trial.duration_ms,
          request_id: call.requestId,
        });
        return new Response(successBody(JSON.stringify(trial), META), {
          headers: { ...call.headers, "content-type": "application/json" },
        });
      } finally {
        release();
      }
    },
  );
}
