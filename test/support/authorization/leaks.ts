// Finds in an answer what its caller must not see: words, addresses and ids of what is out of reach, and secrets,
// whosever they are. Looks at all of it: status line, headers, body.

import type { Answer } from "../appliance/client.ts";
import type { Sent } from "./asking.ts";
import type { Sight } from "./oracle.ts";
import { type Caller, marksOf, ORGANIZATION_WORD, PLACES, SECRET_WORD, type World } from "./world.ts";

const UUIDS = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi;

/** Whom an answer is for: a caller who was let in, or one who is to learn nothing at all. */
type Eyes = Sight & Pick<Caller, "refusal">;

/** What the caller itself sent may come back. */
export function leaksIn(world: World, eyes: Eyes, sent: Sent, answer: Answer): string[] {
  const said = `${[...answer.headers].flat().join("\n")}\n${answer.text}`;
  const known = `${decodeURIComponent(sent.path ?? "")} ${JSON.stringify(sent.body ?? "")}`.toLowerCase();
  const leaks = new Set<string>();
  const found = (text: string) => {
    // A sentence ends in a full stop.
    if (!known.includes(text.toLowerCase().replace(/\.$/, ""))) leaks.add(text);
  };
  for (const mark of hiddenMarks(world, eyes)) for (const [text] of said.matchAll(mark)) found(text);
  for (const [id] of said.matchAll(UUIDS)) {
    const record = world.oracle.find(id.toLowerCase());
    if (record !== undefined && !mayKnow(world, eyes, record)) found(id);
  }
  // Not even to whoever sent it.
  for (const [text] of said.matchAll(new RegExp(`${SECRET_WORD}[\\w-]*`, "g"))) leaks.add(text);
  for (const secret of world.secrets) if (said.includes(secret)) leaks.add(`a secret: ${secret.slice(0, 8)}…`);
  return [...leaks];
}

function hiddenMarks(world: World, eyes: Eyes): RegExp[] {
  const marks = PLACES.filter((name) => !mayKnow(world, eyes, world.places[name])).map(marksOf);
  if (eyes.refusal !== null || eyes.organizationId !== world.places.near.organizationId)
    marks.push(new RegExp(`${ORGANIZATION_WORD}[\\w.-]*`, "g"));
  return marks;
}

function mayKnow(
  world: World,
  eyes: Eyes,
  record: { readonly organizationId: string; readonly networkId: string | null },
): boolean {
  return eyes.refusal === null && world.oracle.sees(eyes, { id: "", kind: "", versions: [], ...record });
}
