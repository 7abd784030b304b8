// Responses with a JSON body.

/** @param call whose headers the response has as well */
export function json(
  call: { readonly headers: Record<string, string> },
  body: string | ReadableStream<Uint8Array>,
): Response {
  return new Response(body, { headers: { ...call.headers, "content-type": "application/json" } });
}
