// Signed-in user. Scripts cannot see the session cookie; a stored flag records its existence, so that a first visit
// sends no request that would be rejected.

import { effect, signal } from "@preact/signals";
import type { operations } from "#api";
import { api, asRefusal, type DataOf, read, sessionEnded, unwrap } from "../api/client.ts";
import { Refusal } from "../api/refusal.ts";
import { clearResponses } from "../api/response.ts";
import { isPast } from "../time/at.ts";
import { onStoredElsewhere, RECENT, readStored, writeStored } from "../url/local-storage.ts";
import { forgetPreferences, loadPreferences } from "./preferences.ts";

export type Me = DataOf<"/api/auth/me">;

const FLAG = "signed-in";

/** Undefined while unknown; null if signed out. */
export const me = signal<Me | null | undefined>(undefined);

/** Error of the request for the user, other than 401. */
export const meProblem = signal<Refusal | null>(null);

/** Whether an existing session ended, so that signing in returns to the page. */
export const sessionExpired = signal(false);

effect(() => {
  if (!sessionEnded.value) return;
  writeStored(FLAG, null);
  endSession();
});

function endSession(): void {
  sessionExpired.value = me.peek() !== null;
  clearSession(null);
}

/** @param next null if signed out; undefined if the user is about to be requested again */
function clearSession(next: null | undefined): void {
  forgetPreferences();
  clearResponses();
  me.value = next;
}

/**
 * Follows other tabs: a sign-out applies to all tabs, a sign-in to those on the sign-in page. A page in the
 * back-forward cache misses both events, so it requests the user when restored.
 */
export function followOtherTabs(): void {
  onStoredElsewhere(FLAG, (value) => {
    if (value === null && me.peek() !== null) endSession();
    else if (value !== null && me.peek() === null) enterSession().catch(() => undefined);
  });
  window.addEventListener("pageshow", ({ persisted }) => {
    if (!persisted) return;
    clearSession(undefined);
    void loadMe();
  });
}

/** Loads the signed-in user. */
export async function loadMe(): Promise<void> {
  meProblem.value = null;
  if (readStored(FLAG) === null) {
    me.value = null;
    return;
  }
  try {
    const { data } = await read("/api/auth/me").load();
    // Another tab may have signed out in the meantime.
    me.value = readStored(FLAG) === null ? null : data;
    if (me.peek() !== null) void loadPreferences();
  } catch (cause) {
    const refusal = asRefusal(cause);
    if (refusal.status !== 401) meProblem.value = refusal;
  }
}

/** Reloads the user, for example after a change of the organization. On failure, keeps the current data. */
export async function refreshMe(): Promise<void> {
  const previous = me.peek();
  const { data } = await read("/api/auth/me")
    .load()
    .catch(() => ({ data: previous }));
  // A sign-out may have happened in the meantime.
  if (me.peek() === previous) me.value = data;
}

/** @throws Refusal */
export async function signIn(email: string, password: string): Promise<void> {
  const previous = me.peek();
  await unwrap(api.POST("/api/auth/login", { body: { email, password } }));
  if (previous?.email !== email) clearResponses();
  await enterSession();
}

/** Request body of the set-up operation. */
export type Claim = operations["setUp"]["requestBody"]["content"]["application/json"];

/**
 * Creates the first organization, its network and its Owner, and opens the Owner's session, for `enterSession`.
 * @returns the id of the network
 * @throws Refusal
 */
export async function claimAppliance(claim: Claim): Promise<string> {
  const { network_id } = await unwrap(api.POST("/api/auth/setup", { body: claim }));
  clearResponses();
  return network_id;
}

const NO_COOKIE =
  "The browser did not store the session cookie. Over plain HTTP, it cannot replace a cookie set over HTTPS: use the https address, or allow cookies for this address.";

/** Enters a session that was just opened. @throws Refusal */
export async function enterSession(): Promise<void> {
  writeStored(FLAG, "yes");
  sessionEnded.value = false;
  await loadMe();
  if (me.peek() === null) throw new Refusal({ status: 401, code: "no_cookie", message: NO_COOKIE, requestId: null });
  sessionExpired.value = false;
}

/** @throws Refusal if the appliance could not be reached; the session then continues */
export async function signOut(): Promise<void> {
  await unwrap(api.POST("/api/auth/logout", {}));
  writeStored(FLAG, null);
  writeStored(RECENT, null);
  clearSession(null);
}

/** Whether the user is permitted to run an operation. @param operation OpenAPI operation id */
export function may(operation: keyof operations): boolean {
  return me.value?.permitted_operations.includes(operation) ?? false;
}

/** Whether the user is permitted and the page shows the current state: the past cannot be changed. */
export function mayNow(operation: keyof operations): boolean {
  return !isPast.value && may(operation);
}

/**
 * Whether the user may undo a transaction: below Admin, only their own. Only the appliance knows who owns a key, so
 * transactions by API keys are allowed here.
 */
export function mayRevert({ type, id }: { readonly type: string; readonly id: string | null }): boolean {
  const role = me.value?.effective_role;
  const isAdmin = role === "Owner" || role === "Admin";
  return may("revertTransaction") && (isAdmin || type === "ApiKey" || (type === "User" && id === me.value?.id));
}
