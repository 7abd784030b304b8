// What a user's console remembers wherever they sign in: views, pinned records. A small document of the appliance's; what
// only this browser needs is in url/kept.ts.

import { signal } from "@preact/signals";
import { api, rethrown } from "../api/client.ts";
import { Refusal, refusalOf } from "../api/refusal.ts";
import { signInText } from "../text/frame.ts";
import { ownValue } from "../text/own-value.ts";

type Preferences = Readonly<Record<string, unknown>>;

/** Undefined until they are there. */
export const preferences = signal<Preferences | undefined>(undefined);

let tag: string | null = null;

/** Another tab may have written meanwhile. */
const TRIES_MAX = 3;

/** Counts who has left: what was asked for one of them is nothing to the next. */
let turn = 0;

/** Under way. Whoever wants to know meanwhile waits for the same answer: a later one would be older than a write. */
let reading: Promise<void> | null = null;

/** Reads them. Where that fails there are none for now. */
export async function loadPreferences(): Promise<void> {
  await readPreferences().catch(() => undefined);
}

/** @throws Refusal also where whoever they are of has left */
function readPreferences(): Promise<void> {
  const own = reading ?? readNow();
  reading = own;
  const end = () => {
    if (reading === own) reading = null;
  };
  own.then(end, end);
  return own;
}

async function readNow(): Promise<void> {
  const asked = turn;
  const { data, error, response } = await api.GET("/api/auth/preferences", {}).catch(rethrown);
  if (data === undefined) throw refusalOf(response, error);
  assertThere(asked);
  tag = response.headers.get("etag");
  preferences.value = data.data as Preferences;
}

/** @throws Refusal where whoever asked has left */
function assertThere(asked: number): void {
  if (asked !== turn)
    throw new Refusal({ status: 0, code: "session_left", message: signInText.signedOutSince, requestId: null });
}

/**
 * Changes one of them; undefined takes it away. All of them are written at once, so that what the others are must be
 * known first.
 * @throws Refusal
 */
export async function setPreference(name: string, change: (last: unknown) => unknown): Promise<void> {
  const asked = turn;
  for (let tries = 1; ; tries += 1) {
    if (preferences.value === undefined || tag === null || reading !== null) await readPreferences();
    assertThere(asked);
    const { [name]: _last, ...others } = preferences.value ?? {};
    const value = change(ownValue(preferences.value, name));
    const body = value === undefined ? others : { ...others, [name]: value };
    const { data, error, response } = await api
      .PUT("/api/auth/preferences", {
        body: body as never,
        ...(tag === null ? {} : { params: { header: { "If-Match": tag } } }),
      })
      .catch(rethrown);
    assertThere(asked);
    if (data !== undefined) {
      tag = response.headers.get("etag");
      preferences.value = data.data as Preferences;
      return;
    }
    if (response.status !== 412 || tries === TRIES_MAX) throw refusalOf(response, error);
    preferences.value = undefined;
  }
}

/** Of somebody who has left. */
export function forgetPreferences(): void {
  turn += 1;
  reading = null;
  preferences.value = undefined;
  tag = null;
}
