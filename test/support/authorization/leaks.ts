// Finder of leaks in answers: words, addresses and ids out of the caller's reach, and anyone's secrets. Covers the
// status line, headers and body.

import type { Answer } from "../appliance/client.ts";
import type { Sent } from "./asking.ts";
import type { Sight } from "./oracle.ts";
import { type Caller, marksOf, ORGANIZATION_WORD, PLACES, SECRET_WORD, type World } from "./world.ts";

const UUIDS = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi;
const SECRETS = new RegExp(`${SECRET_WORD}[\\w-]*`, "g");

/** Compiled expressions: few, for many answers. */
const hiding = new Map<string, RegExp>();

/** Recipient of an answer: an admitted caller, or one that must learn nothing. */
type Eyes = Sight & Pick<Caller, "refusal">;

/** Echoes of the caller's own request are allowed. */
export function leaksIn(world: World, eyes: Eyes, sent: Sent, answer: Answer): string[] {
  const said = `${[...answer.headers].flat().join("\n")}\n${answer.text}`;
  const known = `${decodeURIComponent(sent.path ?? "")} ${JSON.stringify(sent.body ?? "")}`.toLowerCase();
  const leaks = new Set<string>();
  const found = (text: string) => {
    // A trailing full stop belongs to the sentence.
    if (!known.includes(text.toLowerCase().replace(/\.$/, ""))) leaks.add(text);
  };
  for (const [text] of said.matchAll(hiddenMarks(world, eyes))) found(text);
  const ids = new Set(said.match(UUIDS));
  const records = ids.size === 0 ? undefined : world.oracle.known();
  for (const id of ids) {
    const record = records?.get(id.toLowerCase());
    if (record !== undefined && !mayKnow(world, eyes, record)) found(id);
  }
  // Not even to the sender.
  for (const [text] of said.matchAll(SECRETS)) leaks.add(text);
  for (const secret of world.secrets) if (said.includes(secret)) leaks.add(`a secret: ${secret.slice(0, 8)}…`);
  return [...leaks];
}

/** Matches every mark outside this sight. */
function hiddenMarks(world: World, eyes: Eyes): RegExp {
  const marks = PLACES.filter((name) => !mayKnow(world, eyes, world.places[name])).map(marksOf);
  if (eyes.refusal !== null || eyes.organizationId !== world.places.near.organizationId)
    marks.push(`${ORGANIZATION_WORD}[\\w.-]*`);
  // An empty alternation would match everywhere.
  const source = marks.join("|") || "(?!)";
  const known = hiding.get(source) ?? new RegExp(source, "gi");
  hiding.set(source, known);
  return known;
}

function mayKnow(
  world: World,
  eyes: Eyes,
  record: { readonly organizationId: string; readonly networkId: string | null },
): boolean {
  return eyes.refusal === null && world.oracle.sees(eyes, { id: "", kind: "", versions: [], ...record });
}
