// Leak detection in responses: words, addresses and ids that the caller must not see, and all secrets. Covers headers
// and body.

import type { ApiResponse } from "../appliance/client.ts";
import type { SentRequest } from "./call-context.ts";
import { type Caller, type Fixture, marksOf, ORGANIZATION_WORD, SECRET_WORD, SITES } from "./fixture.ts";
import type { Visibility } from "./oracle.ts";

const UUIDS = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi;
const SECRETS = new RegExp(`${SECRET_WORD}[\\w-]*`, "g");

/** Compiled expressions: a few serve many responses. */
const hiddenPatterns = new Map<string, RegExp>();

/** Recipient of a response: an admitted caller, or one that must learn nothing. */
type Viewer = Visibility & Pick<Caller, "refusal">;

/** Leaks in a response. Echoes of the caller's own request are allowed. */
export function leaksIn(fixture: Fixture, viewer: Viewer, request: SentRequest, response: ApiResponse): string[] {
  const content = `${[...response.headers].flat().join("\n")}\n${response.text}`;
  const known = `${decodeURIComponent(request.path ?? "")} ${JSON.stringify(request.body ?? "")}`.toLowerCase();
  const leaks = new Set<string>();
  const report = (text: string) => {
    // A trailing full stop belongs to the sentence.
    if (!known.includes(text.toLowerCase().replace(/\.$/, ""))) leaks.add(text);
  };
  for (const [text] of content.matchAll(hiddenMarks(fixture, viewer))) report(text);
  const ids = new Set(content.match(UUIDS));
  const records = ids.size === 0 ? undefined : fixture.oracle.known();
  for (const id of ids) {
    const record = records?.get(id.toLowerCase());
    if (record !== undefined && !mayKnow(fixture, viewer, record)) report(id);
  }
  // Secrets must not even be returned to their sender.
  for (const [text] of content.matchAll(SECRETS)) leaks.add(text);
  for (const secret of fixture.secrets) if (content.includes(secret)) leaks.add(`a secret: ${secret.slice(0, 8)}…`);
  return [...leaks];
}

/** Expression that matches every mark hidden from the viewer. */
function hiddenMarks(fixture: Fixture, viewer: Viewer): RegExp {
  const marks = SITES.filter((name) => !mayKnow(fixture, viewer, fixture.sites[name])).map(marksOf);
  if (viewer.refusal !== null || viewer.organizationId !== fixture.sites.near.organizationId)
    marks.push(`${ORGANIZATION_WORD}[\\w.-]*`);
  // An empty alternation would match everywhere.
  const source = marks.join("|") || "(?!)";
  const known = hiddenPatterns.get(source) ?? new RegExp(source, "gi");
  hiddenPatterns.set(source, known);
  return known;
}

function mayKnow(
  fixture: Fixture,
  viewer: Viewer,
  record: { readonly organizationId: string; readonly networkId: string | null },
): boolean {
  return viewer.refusal === null && fixture.oracle.canSee(viewer, { id: "", kind: "", versions: [], ...record });
}
