// Trial of a credential as a stream: steps as they finish, then the result.

import type { components } from "#api";
import { api, asRefusal, isAborted } from "../api/client.ts";
import { EventReader } from "../api/event-stream.ts";
import { Refusal, refusalOf, unreachable } from "../api/refusal.ts";

export type Trial = components["schemas"]["CredentialTrial"];
export type TrialStep = Trial["steps"][number];

interface Asked {
  readonly network_id: string;
  readonly ip_address: string;
}

/**
 * @param onStep called for each finished step
 * @throws Refusal; the abort reason of the signal unchanged
 */
export async function followTrial(
  id: string,
  body: Asked,
  signal: AbortSignal,
  onStep: (step: TrialStep) => void,
): Promise<Trial> {
  const { data, error, response } = await api.POST("/api/v1/credentials/{id}/try", {
    params: { path: { id } },
    headers: { Accept: "text/event-stream" },
    body,
    signal,
    parseAs: "stream",
  });
  if (data === undefined || data === null) throw refusalOf(response, error);
  const events = new EventReader();
  const decoder = new TextDecoder();
  const reader = (data as ReadableStream<Uint8Array>).getReader();
  try {
    for (let piece = await reader.read(); !piece.done; piece = await reader.read())
      for (const { type, data: told } of events.read(decoder.decode(piece.value, { stream: true }))) {
        const said: unknown = JSON.parse(told);
        if (type === "step") onStep(said as TrialStep);
        else if (type === "trial") return said as Trial;
        else if (type === "refused") throw refused(said, response);
      }
  } catch (cause) {
    throw isAborted(cause) || cause instanceof Refusal ? cause : asRefusal(cause);
  } finally {
    reader.releaseLock();
  }
  throw unreachable(new Error("the answer broke off"));
}

/** Refusal in the stream, equivalent to one before the first step. */
function refused(said: unknown, { headers }: Response): Refusal {
  const { status } = said as { readonly status: number };
  return refusalOf(new Response(null, { status, headers }), said);
}
