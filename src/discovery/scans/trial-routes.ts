// Routes for the reach of a credential and for its trial at one address named by an Admin.

import { type Access, type Actor, ADMIN, type Orderer, VIEWER } from "../../access/actor.ts";
import { DomainError } from "../../base/errors.ts";
import { untilOver } from "../../db/reading/long-reads.ts";
import { accepts, EVENT_STREAM, STREAM_HEADERS } from "../../http/accepts.ts";
import { byteStream } from "../../http/byte-stream.ts";
import { errorResponse } from "../../http/errors.ts";
import { HeldConnections } from "../../http/held-connections.ts";
import type { Surface } from "../../http/surface.ts";
import type { Backend, ResourceCall } from "../../records/backend.ts";
import { logBrokenStream } from "../../records/broken-stream.ts";
import { runWrite } from "../../records/write-answers.ts";
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
  concluded,
  TRIAL_EXAMPLE,
  TRIALS_MAX,
  TRIALS_OF_USER_MAX,
  type TrialOrder,
} from "./trial.ts";

/** Separate from the credential routes, which must not know discovery. */
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
      summary: "Get the targets of a credential, with reasons",
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
      description: `Sends the credential to this address, whatever it is assigned to, and returns every step with the device's answer: after 20 seconds at most, mostly within one. Nothing is written to the inventory. Before anything is sent, the log records who tries what where, without the secret; if it cannot be written, nothing is sent. The trial ends when the caller disconnects or loses the right to it. ${TRIALS_OF_USER_MAX} trials of a user and their keys may run at a time, ${TRIALS_MAX} in total. A caller limited to some networks can do this only with a credential that is assigned in those and nowhere else. With \`Accept: text/event-stream\` each \`step\` is sent as it ends, and then the whole as \`trial\`; a premature end is a \`refused\`, with \`status\` and the body of an error.`,
      group: "Credentials",
      access: ADMIN,
      params: IdParams,
      body: CredentialTry,
      answer: CredentialTrial,
      media: [
        {
          type: EVENT_STREAM,
          description: "Each step as it ends, then the trial as it is answered otherwise.",
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
    (call) => (accepts(call.request, EVENT_STREAM) ? followed(call) : answered(call)),
  );

  async function answered(call: TryCall): Promise<Response> {
    const release = places.take(call.actor.userN);
    try {
      const trial = await tryOut(call, await begin(call), call.request.signal);
      return new Response(successBody(JSON.stringify(trial), META), {
        headers: { ...call.headers, "content-type": "application/json" },
      });
    } finally {
      release();
    }
  }

  /** Errors before the first send are the same with and without a stream. */
  async function followed(call: TryCall): Promise<Response> {
    const release = places.take(call.actor.userN);
    const gone = new AbortController();
    const over = () => {
      gone.abort();
      release();
    };
    try {
      const begun = await begin(call);
      const signal = AbortSignal.any([call.request.signal, gone.signal]);
      return new Response(
        byteStream("", untilOver(told(call, begun, signal), over), "", logBrokenStream(backend, call)),
        { headers: { ...call.headers, ...STREAM_HEADERS, "content-type": EVENT_STREAM } },
      );
    } catch (error) {
      release();
      throw error;
    }
  }

  /** @throws DomainError as the command does; internal_error if the log cannot be written */
  async function begin(call: TryCall): Promise<Begun> {
    const { network_id, ip_address } = call.body;
    const { result: order } = await runWrite(backend, call, "discovery.try", {
      credential_id: call.params.id,
      network_id,
      ip_address,
    });
    const { type, id, name } = backend.authorOf(call);
    backend.log.audit("credential_trial_started", {
      ...order,
      by_type: type,
      by_id: id,
      by: name,
      request_id: call.requestId,
    });
    return {
      order,
      orderer: {
        type: type as Orderer["type"],
        id: id as string,
        role: "Admin",
        networkId: order.network_id,
      },
      name,
    };
  }

  async function tryOut(
    call: TryCall,
    { order, orderer, name }: Begun,
    signal: AbortSignal,
    onStep?: (step: TrialStep) => void,
  ): Promise<CredentialTrial> {
    const steps = await scans.tryCredential(order, orderer, signal, onStep);
    const trial = concluded(order, steps);
    backend.log.info("credential_tried", {
      ...order,
      by: name,
      is_working: trial.is_working,
      failed: steps.find(({ outcome }) => outcome === "Failed" || outcome === "Unclear")?.step,
      duration_ms: trial.duration_ms,
      request_id: call.requestId,
    });
    return trial;
  }

  /** Yields each step as it ends, then the whole result or the error that ended it. */
  async function* told(call: TryCall, begun: Begun, signal: AbortSignal): AsyncGenerator<Uint8Array> {
    const waiting: TrialStep[] = [];
    let isOver = false;
    let turn = Promise.withResolvers<void>();
    const trial = tryOut(call, begun, signal, (step) => {
      waiting.push(step);
      turn.resolve();
    });
    const over = () => {
      isOver = true;
      turn.resolve();
    };
    trial.then(over, over);
    for (;;) {
      for (let step = waiting.shift(); step !== undefined; step = waiting.shift())
        yield event("step", JSON.stringify(step));
      if (isOver) break;
      await turn.promise;
      turn = Promise.withResolvers<void>();
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
interface Begun {
  readonly order: TrialOrder;
  readonly orderer: Orderer;
  /** Actor's name, for the log. */
  readonly name: string;
}

function event(name: string, data: string): Uint8Array {
  return encoder.encode(`event: ${name}\ndata: ${data}\n\n`);
}

const encoder = new TextEncoder();
