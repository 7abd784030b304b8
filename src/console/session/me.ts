// Signed-in user. The session cookie is inaccessible to scripts; a stored flag records its existence, so that a first
// visit sends no request that would be rejected.

import { effect, signal } from "@preact/signals";
import type { operations } from "#api";
import { forgetAnswers } from "../api/answer.ts";
import { api, asRefusal, type DataOf, done, read, sessionEnded } from "../api/client.ts";
import { Refusal } from "../api/refusal.ts";
import { isPast } from "../time/at.ts";
import { keep, kept, onKeptElsewhere, RECENT } from "../url/kept.ts";
import { forgetPreferences, loadPreferences } from "./preferences.ts";

export type Me = DataOf<"/api/auth/me">;

const NAME = "signed-in";

/** Undefined while unknown; null if signed out. */
export const me = signal<Me | null | undefined>(undefined);

/** Error of the request for the user, other than 401. */
export const meProblem = signal<Refusal | null>(null);

/** Whether an existing session ended. Signing in returns to the page. */
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

/** @param next undefined if the user is requested again */
function leave(next: null | undefined): void {
  forgetPreferences();
  forgetAnswers();
  me.value = next;
}

/**
 * Follows other tabs: a sign-out applies to all tabs, a sign-in to those on the sign-in page. A page in the
 * back-forward cache misses both events, so it requests the user when restored.
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

/** Requests the signed-in user. */
export async function findMe(): Promise<void> {
  meProblem.value = null;
  if (kept(NAME) === null) {
    me.value = null;
    return;
  }
  try {
    const { data } = await read("/api/auth/me").load();
    // Another tab may have signed out in the meantime.
    me.value = kept(NAME) === null ? null : data;
    if (me.peek() !== null) void loadPreferences();
  } catch (cause) {
    const refusal = asRefusal(cause);
    if (refusal.status !== 401) meProblem.value = refusal;
  }
}

/** Requests the user again, such as after a change of the organization. On failure, keeps the current data. */
export async function refreshMe(): Promise<void> {
  const before = me.peek();
  const { data } = await read("/api/auth/me")
    .load()
    .catch(() => ({ data: before }));
  // A sign-out may have happened in the meantime.
  if (me.peek() === before) me.value = data;
}

/** @throws Refusal */
export async function signIn(email: string, password: string): Promise<void> {
  const before = me.peek();
  await done(api.POST("/api/auth/login", { body: { email, password } }));
  if (before?.email !== email) forgetAnswers();
  await comeIn();
}

/** Request body of the API. */
export type Claim = operations["setUp"]["requestBody"]["content"]["application/json"];

/**
 * Creates the first organization, its network and its Owner, and opens a session for the Owner, shown by `comeIn`.
 * @returns the network
 * @throws Refusal
 */
export async function claimAppliance(claim: Claim): Promise<string> {
  const { network_id } = await done(api.POST("/api/auth/setup", { body: claim }));
  forgetAnswers();
  return network_id;
}

/** Enters a session just opened. @throws Refusal */
export async function comeIn(): Promise<void> {
  keep(NAME, "yes");
  sessionEnded.value = false;
  await findMe();
  if (me.peek() === null)
    throw new Refusal({
      status: 401,
      code: "no_cookie",
      message:
        "The browser did not keep the session's cookie. Over plain HTTP a cookie of HTTPS is not replaced: use the address that starts with https, or allow cookies for this one.",
      requestId: null,
    });
  wasCutOff.value = false;
}

/** @throws Refusal if the appliance was not reached: the session then continues */
export async function signOut(): Promise<void> {
  await done(api.POST("/api/auth/logout", {}));
  keep(NAME, null);
  keep(RECENT, null);
  leave(null);
}

/** Whether the user is permitted to run an operation; backups are read-only. @param operation OpenAPI operation id */
export function may(operation: keyof operations): boolean {
  return me.value?.permitted_operations.includes(operation) ?? false;
}

/** Whether the user is permitted and the page shows the present: the past cannot be changed. */
export function mayNow(operation: keyof operations): boolean {
  return !isPast.value && may(operation);
}

/**
 * Whether the user may undo a transaction: below Admin only their own. Only the appliance knows the owner of a key, so
 * transactions of keys are allowed here.
 */
export function mayRevert({ type, id }: { readonly type: string; readonly id: string | null }): boolean {
  const role = me.value?.effective_role;
  const isAdmin = role === "Owner" || role === "Admin";
  return may("revertTransaction") && (isAdmin || type === "ApiKey" || (type === "User" && id === me.value?.id));
}
