// Routes for the recipients of a credential and for its trial at one address named by an Admin.

import { type Access, type Actor, ADMIN, type TaskRequester, VIEWER } from "../../access/actor.ts";
import { DomainError } from "../../base/errors.ts";
import { utf8, withEndCallback } from "../../db/reading/long-reads.ts";
import { accepts, EVENT_STREAM, STREAM_HEADERS } from "../../http/accepts.ts";
import { byteStream } from "../../http/byte-stream.ts";
import { errorResponse } from "../../http/errors.ts";
import { HeldConnections } from "../../http/held-connections.ts";
import { json } from "../../http/json-response.ts";
import type { Surface } from "../../http/surface.ts";
import type { Backend, ResourceCall } from "../../records/backend.ts";
import { logBrokenStream } from "../../records/broken-stream.ts";
import { runWrite } from "../../records/write-responses.ts";
import { CREDENTIAL_EXAMPLE } from "../../resources/credentials/credential.ts";
import { META, successBody } from "../../schemas/envelope.ts";
import { IdParams } from "../../schemas/schemas.ts";
import type { TrialStep } from "../snmp/trial-steps.ts";
import type { ScanCommands } from "./commands.ts";
import { CredentialReach, credentialReach, REACH_EXAMPLE, REACH_LISTED_MAX } from "./credential-reach.ts";
import type { Scans } from "./director.ts";
import {
  CredentialTrial,
  CredentialTry,
  concludeTrial,
  TRIAL_EXAMPLE,
  TRIALS_MAX,
  TRIALS_OF_USER_MAX,
  type TrialRequest,
} from "./trial.ts";

/** Separate from the credential routes, which must not know discovery. */
export function trialRoutes(surface: Surface<Actor, Access>, backend: Backend<ScanCommands>, scans: Scans): void {
  const slots = new HeldConnections({
    maxOfUser: TRIALS_OF_USER_MAX,
    max: TRIALS_MAX,
    description: "credential trials in progress",
    remedy: "wait until one has ended",
  });
  surface.get(
    "/api/v1/credentials/:id/reach",
    {
      operationId: "getCredentialReach",
      summary: "Get the targets of a credential, with reasons",
      description: `As it is now: of each network that it is assigned to, which subnets accept it and which do not; of each host, the addresses that it is sent to and those that wait for an Admin. Of the networks within reach; ${REACH_LISTED_MAX} subnets of each network and ${REACH_LISTED_MAX} addresses are listed, all are counted.`,
      group: "Credentials",
      access: VIEWER,
      params: IdParams,
      responseSchema: CredentialReach,
      isRecord: false,
      example: { parameters: { id: CREDENTIAL_EXAMPLE.id }, data: REACH_EXAMPLE },
    },
    (call) => {
      const reach = credentialReach(backend.reader, call.params.id, call.actor);
      return json(call, successBody(JSON.stringify(reach), META));
    },
  );
  surface.post(
    "/api/v1/credentials/:id/try",
    {
      operationId: "tryCredential",
      writesNoTransaction: true,
      ignoresIdempotencyKey: true,
      summary: "Try a credential on an address",
      description: `Sends the credential to this address, whatever it is assigned to, and returns every step with the device's response, after 20 seconds at most, usually within one. Nothing is written to the inventory. Before anything is sent, the log records who tries what where, without the secret; if it cannot be written, nothing is sent. The trial ends when the caller disconnects or loses the right to it. ${TRIALS_OF_USER_MAX} trials of a user and their keys may run at a time, ${TRIALS_MAX} in total. A caller limited to some networks can do this only with a credential that is assigned in those and nowhere else. With \`Accept: text/event-stream\` each \`step\` is sent as it ends, and then the whole as \`trial\`; a premature end is a \`refused\`, with \`status\` and the body of an error.`,
      group: "Credentials",
      access: ADMIN,
      params: IdParams,
      body: CredentialTry,
      responseSchema: CredentialTrial,
      media: [
        {
          type: EVENT_STREAM,
          description: "Each step as it ends, then the whole trial.",
          example: `event: step\ndata: ${JSON.stringify(TRIAL_EXAMPLE.steps[0])}\n\n`,
        },
      ],
      errors: ["entity_reference_invalid", "entity_access_denied", "rate_limit_exceeded"],
      example: {
        parameters: { id: CREDENTIAL_EXAMPLE.id },
        body: { network_id: TRIAL_EXAMPLE.network_id, ip_address: TRIAL_EXAMPLE.ip_address },
        data: TRIAL_EXAMPLE,
      },
    },
    (call) => (accepts(call.request, EVENT_STREAM) ? stream(call) : respond(call)),
  );

  async function respond(call: TryCall): Promise<Response> {
    const release = slots.take(call.actor.userN);
    try {
      const trial = await runTrial(call, await startTrial(call), call.request.signal);
      return json(call, successBody(JSON.stringify(trial), META));
    } finally {
      release();
    }
  }

  /** Errors before the first send are the same with and without a stream. */
  async function stream(call: TryCall): Promise<Response> {
    const release = slots.take(call.actor.userN);
    const disconnected = new AbortController();
    const onEnd = () => {
      disconnected.abort();
      release();
    };
    try {
      const started = await startTrial(call);
      const signal = AbortSignal.any([call.request.signal, disconnected.signal]);
      return new Response(
        byteStream("", withEndCallback(trialEvents(call, started, signal), onEnd), "", logBrokenStream(backend, call)),
        { headers: { ...call.headers, ...STREAM_HEADERS, "content-type": EVENT_STREAM } },
      );
    } catch (error) {
      release();
      throw error;
    }
  }

  /** @throws DomainError as the command does; internal_error if the log cannot be written */
  async function startTrial(call: TryCall): Promise<StartedTrial> {
    const { network_id, ip_address } = call.body;
    const input = { credential_id: call.params.id, network_id, ip_address };
    const { result: request } = await runWrite(backend, call, "discovery.try", input);
    const { type, id, name } = backend.authorOf(call);
    const by = { by_type: type, by_id: id, by: name };
    backend.log.audit("credential_trial_started", { ...request, ...by, request_id: call.requestId });
    const requester = { type, id } as Pick<TaskRequester, "type" | "id">;
    return { request, requester: { ...requester, role: "Admin", networkId: request.network_id }, name };
  }

  async function runTrial(
    call: TryCall,
    { request, requester, name }: StartedTrial,
    signal: AbortSignal,
    onStep?: (step: TrialStep) => void,
  ): Promise<CredentialTrial> {
    const steps = await scans.tryCredential(request, requester, signal, onStep);
    const trial = concludeTrial(request, steps);
    backend.log.info("credential_tried", {
      ...request,
      by: name,
      is_working: trial.is_working,
      failed: steps.find(({ outcome }) => outcome === "Failed" || outcome === "Unclear")?.step,
      duration_ms: trial.duration_ms,
      request_id: call.requestId,
    });
    return trial;
  }

  /** Yields each step as it ends, then the whole result or the error that ended it. */
  async function* trialEvents(call: TryCall, started: StartedTrial, signal: AbortSignal): AsyncGenerator<Uint8Array> {
    const pendingSteps: TrialStep[] = [];
    let hasEnded = false;
    let nextStep = Promise.withResolvers<void>();
    const trial = runTrial(call, started, signal, (step) => {
      pendingSteps.push(step);
      nextStep.resolve();
    });
    const onEnd = () => {
      hasEnded = true;
      nextStep.resolve();
    };
    trial.then(onEnd, onEnd);
    for (;;) {
      for (let step = pendingSteps.shift(); step !== undefined; step = pendingSteps.shift())
        yield event("step", JSON.stringify(step));
      if (hasEnded) break;
      await nextStep.promise;
      nextStep = Promise.withResolvers<void>();
    }
    try {
      yield event("trial", JSON.stringify(await trial));
    } catch (error) {
      // The status is already sent. Any other error breaks the stream off and is logged.
      if (!(error instanceof DomainError)) throw error;
      const refusal = errorResponse(error, {});
      yield event("refused", `{"status":${refusal.status},${(await refusal.text()).trim().slice(1)}`);
    }
  }
}

type TryCall = ResourceCall<{ readonly id: string }, unknown, CredentialTry>;

/** An accepted trial. */
interface StartedTrial {
  readonly request: TrialRequest;
  readonly requester: TaskRequester;
  /** Actor's name, for the log. */
  readonly name: string;
}

function event(name: string, data: string): Uint8Array {
  return utf8(`event: ${name}\ndata: ${data}\n\n`);
}
