// Who is signed in. The cookie is the browser's alone; that there was one is remembered, so that a first visit asks for
// nothing that would be refused.

import { effect, signal } from "@preact/signals";
import type { operations } from "#api";
import { forgetAnswers } from "../api/answer.ts";
import { api, asRefusal, type DataOf, done, read, sessionEnded } from "../api/client.ts";
import { Refusal } from "../api/refusal.ts";
import { signInText } from "../text/frame.ts";
import { isPast } from "../time/at.ts";
import { keep, kept, onKeptElsewhere, RECENT } from "../url/kept.ts";
import { forgetPreferences, loadPreferences } from "./preferences.ts";

export type Me = DataOf<"/api/auth/me">;

const NAME = "signed-in";

/** Undefined until it is known; null for nobody. */
export const me = signal<Me | null | undefined>(undefined);

/** Why it is not known, where the appliance did not say. */
export const meProblem = signal<Refusal | null>(null);

/** Whether a session ended that there was. Signing in leads back to where one was. */
export const wasCutOff = signal(false);

effect(() => {
  if (!sessionEnded.value) return;
  keep(NAME, null);
  cutOff();
});

function cutOff(): void {
  wasCutOff.value = me.peek() !== null;
  leave(null);
}

/** @param next undefined where it is asked anew who is signed in */
function leave(next: null | undefined): void {
  forgetPreferences();
  forgetAnswers();
  me.value = next;
}

/**
 * Follows other tabs of the browser: where one signs out, all do, and where one signs in, those at the sign-in page come
 * along. A page in the back-forward cache hears of neither, so that it asks once it is shown again.
 */
export function followOtherTabs(): void {
  onKeptElsewhere(NAME, (value) => {
    if (value === null && me.peek() !== null) cutOff();
    else if (value !== null && me.peek() === null) comeIn().catch(() => undefined);
  });
  window.addEventListener("pageshow", ({ persisted }) => {
    if (!persisted) return;
    leave(undefined);
    void findMe();
  });
}

/** Finds out who is signed in. */
export async function findMe(): Promise<void> {
  meProblem.value = null;
  if (kept(NAME) === null) {
    me.value = null;
    return;
  }
  try {
    const { data } = await read("/api/auth/me").load();
    // Another tab may have signed out meanwhile.
    me.value = kept(NAME) === null ? null : data;
    if (me.peek() !== null) void loadPreferences();
  } catch (cause) {
    const refusal = asRefusal(cause);
    if (refusal.status !== 401) meProblem.value = refusal;
  }
}

/** Reads it again, as when the organization has changed. Where that fails, what is known stays. */
export async function refreshMe(): Promise<void> {
  const before = me.peek();
  const { data } = await read("/api/auth/me")
    .load()
    .catch(() => ({ data: before }));
  // Somebody may have signed out meanwhile.
  if (me.peek() === before) me.value = data;
}

/** @throws Refusal */
export async function signIn(email: string, password: string): Promise<void> {
  const before = me.peek();
  await done(api.POST("/api/auth/login", { body: { email, password } }));
  if (before?.email !== email) forgetAnswers();
  await comeIn();
}

/** As the API takes it. */
export type Claim = operations["setUp"]["requestBody"]["content"]["application/json"];

/**
 * Makes the first organization, its network and its Owner, whose session is open from then on: `comeIn` shows it.
 * @returns the network
 * @throws Refusal
 */
export async function claimAppliance(claim: Claim): Promise<string> {
  const { network_id } = await done(api.POST("/api/auth/setup", { body: claim }));
  forgetAnswers();
  return network_id;
}

/** Of a session that was just opened. @throws Refusal */
export async function comeIn(): Promise<void> {
  keep(NAME, "yes");
  sessionEnded.value = false;
  await findMe();
  if (me.peek() === null)
    throw new Refusal({ status: 401, code: "no_cookie", message: signInText.noCookie, requestId: null });
  wasCutOff.value = false;
}

/** @throws Refusal where the appliance did not hear of it: the session goes on then */
export async function signOut(): Promise<void> {
  await done(api.POST("/api/auth/logout", {}));
  keep(NAME, null);
  keep(RECENT, null);
  leave(null);
}

/** Whether the one who is signed in may do this; nobody changes a backup. @param operation its id in the OpenAPI document */
export function may(operation: keyof operations): boolean {
  return me.value?.permitted_operations.includes(operation) ?? false;
}

/** Whether they may, and it is now that is shown: nothing is changed in the past. */
export function mayNow(operation: keyof operations): boolean {
  return !isPast.value && may(operation);
}

/**
 * Whether they may undo what somebody wrote: below Admin it is what they wrote themselves. Whose key one was only the
 * appliance knows.
 */
export function mayRevert({ type, id }: { readonly type: string; readonly id: string | null }): boolean {
  const role = me.value?.effective_role;
  const isAdmin = role === "Owner" || role === "Admin";
  return may("revertTransaction") && (isAdmin || type === "ApiKey" || (type === "User" && id === me.value?.id));
}
