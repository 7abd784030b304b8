// A user's preferences, shared by all browsers: views and pinned records, in a small document on the appliance. The
// settings of a single browser are in url/local-storage.ts.

import { signal } from "@preact/signals";
import { api, throwRefusal } from "../api/client.ts";
import { Refusal, refusalOf } from "../api/refusal.ts";
import { ownValue } from "../text/own-value.ts";

type Preferences = Readonly<Record<string, unknown>>;

/** Undefined until loaded. */
export const preferences = signal<Preferences | undefined>(undefined);

let tag: string | null = null;

/** Maximum attempts if other tabs write concurrently. */
const ATTEMPTS_MAX = 3;

/** Counts sign-outs: responses for a previous user are dropped. */
let session = 0;

/** Read in progress, shared by all callers: a second read could return data older than a write. */
let reading: Promise<void> | null = null;

/** Loads the preferences. On failure, they stay undefined. */
export async function loadPreferences(): Promise<void> {
  await readPreferences().catch(() => undefined);
}

/** @throws Refusal, including if the user has signed out */
function readPreferences(): Promise<void> {
  const request = reading ?? fetchPreferences();
  reading = request;
  const end = () => {
    if (reading === request) reading = null;
  };
  request.then(end, end);
  return request;
}

async function fetchPreferences(): Promise<void> {
  const startedIn = session;
  const { data, error, response } = await api.GET("/api/auth/preferences", {}).catch(throwRefusal);
  if (data === undefined) throw refusalOf(response, error);
  assertSameSession(startedIn);
  tag = response.headers.get("etag");
  preferences.value = data.data as Preferences;
}

/** @throws Refusal if the requesting user has signed out */
function assertSameSession(startedIn: number): void {
  if (startedIn !== session)
    throw new Refusal({ status: 0, code: "session_left", message: "You have signed out.", requestId: null });
}

/** Changes one preference; undefined removes it. Loads the others first, since the API replaces all. @throws Refusal */
export async function setPreference(name: string, change: (last: unknown) => unknown): Promise<void> {
  const startedIn = session;
  for (let attempt = 1; ; attempt += 1) {
    if (preferences.value === undefined || tag === null || reading !== null) await readPreferences();
    assertSameSession(startedIn);
    const { [name]: _last, ...others } = preferences.value ?? {};
    const value = change(ownValue(preferences.value, name));
    const body = value === undefined ? others : { ...others, [name]: value };
    const { data, error, response } = await api
      .PUT("/api/auth/preferences", {
        body: body as never,
        ...(tag === null ? {} : { params: { header: { "If-Match": tag } } }),
      })
      .catch(throwRefusal);
    assertSameSession(startedIn);
    if (data !== undefined) {
      tag = response.headers.get("etag");
      preferences.value = data.data as Preferences;
      return;
    }
    if (response.status !== 412 || attempt === ATTEMPTS_MAX) throw refusalOf(response, error);
    preferences.value = undefined;
  }
}

/** Drops the preferences on sign-out. */
export function forgetPreferences(): void {
  session += 1;
  reading = null;
  preferences.value = undefined;
  tag = null;
}
