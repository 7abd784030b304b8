// Preferences of a user, shared by all browsers: views, pinned records. A small document on the appliance; settings of
// a single browser are in url/kept.ts.

import { signal } from "@preact/signals";
import { api, rethrown } from "../api/client.ts";
import { Refusal, refusalOf } from "../api/refusal.ts";
import { ownValue } from "../text/own-value.ts";

type Preferences = Readonly<Record<string, unknown>>;

/** Undefined until loaded. */
export const preferences = signal<Preferences | undefined>(undefined);

let tag: string | null = null;

/** Retries after a concurrent write of another tab. */
const TRIES_MAX = 3;

/** Counts sign-outs: responses for a previous user are dropped. */
let turn = 0;

/** Read in progress, shared by all callers: a second read could return data older than a write. */
let reading: Promise<void> | null = null;

/** Loads the preferences. On failure, they stay undefined. */
export async function loadPreferences(): Promise<void> {
  await readPreferences().catch(() => undefined);
}

/** @throws Refusal, also if the user has signed out */
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

/** @throws Refusal if the requesting user has signed out */
function assertThere(asked: number): void {
  if (asked !== turn)
    throw new Refusal({ status: 0, code: "session_left", message: "You have signed out since.", requestId: null });
}

/**
 * Changes one preference; undefined removes it. The API writes the whole document, so the others must be loaded first.
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

/** Drops the preferences on sign-out. */
export function forgetPreferences(): void {
  turn += 1;
  reading = null;
  preferences.value = undefined;
  tag = null;
}
