// Request that tries a credential and streams the steps as they finish, followed by the result.

import type { components } from "#api";
import { api, asRefusal, isAborted } from "../api/client.ts";
import { EventReader } from "../api/event-stream.ts";
import { Refusal, refusalOf, unreachable } from "../api/refusal.ts";

export type Trial = components["schemas"]["CredentialTrial"];
export type TrialStep = Trial["steps"][number];

/** @param onStep called for each finished step @throws Refusal, or the abort reason of the signal */
export async function followTrial(
  id: string,
  body: { readonly network_id: string; readonly ip_address: string },
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
    for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read())
      for (const { type, data: text } of events.read(decoder.decode(chunk.value, { stream: true }))) {
        const parsed: unknown = JSON.parse(text);
        if (type === "step") onStep(parsed as TrialStep);
        else if (type === "trial") return parsed as Trial;
        else if (type === "refused") throw refusalFrom(parsed, response);
      }
  } catch (cause) {
    throw isAborted(cause) || cause instanceof Refusal ? cause : asRefusal(cause);
  } finally {
    reader.releaseLock();
  }
  throw unreachable(new Error("the response was cut off"));
}

/** Converts a refusal in the stream to one like that of a refused request. */
function refusalFrom(parsed: unknown, { headers }: Response): Refusal {
  const { status } = parsed as { readonly status: number };
  return refusalOf(new Response(null, { status, headers }), parsed);
}
