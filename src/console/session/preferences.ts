// What a user's console remembers wherever they sign in: views, pinned records. A small document of the appliance's; what
// only this browser needs is in url/kept.ts.

import { signal } from "@preact/signals";
import { api, rethrown } from "../api/client.ts";
import { refusalOf } from "../api/refusal.ts";

type Preferences = Readonly<Record<string, unknown>>;

/** Undefined until they are there. */
export const preferences = signal<Preferences | undefined>(undefined);

let tag: string | null = null;

/** Another tab may have written meanwhile. */
const TRIES_MAX = 3;

/** Counts who has left: what was asked for one of them is nothing to the next. */
let turn = 0;

/** Reads them. Where that fails there are none for now. */
export async function loadPreferences(): Promise<void> {
  await readPreferences().catch(() => undefined);
}

/** @throws Refusal */
async function readPreferences(): Promise<void> {
  const asked = turn;
  const { data, error, response } = await api.GET("/api/auth/preferences", {}).catch(rethrown);
  if (data === undefined) throw refusalOf(response, error);
  if (asked !== turn) return;
  tag = response.headers.get("etag");
  preferences.value = data.data as Preferences;
}

/**
 * Changes one of them; undefined takes it away. All of them are written at once, so that what the others are must be
 * known first.
 * @throws Refusal
 */
export async function setPreference(name: string, change: (last: unknown) => unknown): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    if (preferences.value === undefined || tag === null) await readPreferences();
    const { [name]: last, ...others } = preferences.value ?? {};
    const value = change(last);
    const body = value === undefined ? others : { ...others, [name]: value };
    const { data, error, response } = await api
      .PUT("/api/auth/preferences", {
        body: body as never,
        ...(tag === null ? {} : { params: { header: { "If-Match": tag } } }),
      })
      .catch(rethrown);
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
  preferences.value = undefined;
  tag = null;
}
