// Recent successful searches in this browser, newest first, per user until sign-out.

import { signal } from "@preact/signals";
import { me } from "../session/me.ts";
import { keep, kept, RECENT } from "../url/kept.ts";

const QUESTIONS_MAX = 12;

/** Incremented by each update, so that readers notice it. */
const turn = signal(0);

/** As typed. */
export function recentQuestions(): readonly string[] {
  return turn.value < 0 ? [] : read();
}

export function rememberQuestion(words: string): void {
  const user = me.peek()?.id;
  if (user === undefined) return;
  const questions = [words, ...read().filter((each) => each !== words)].slice(0, QUESTIONS_MAX);
  keep(RECENT, JSON.stringify({ user, questions }));
  turn.value += 1;
}

/** @param questions complete new list; empty to clear */
export function setQuestions(questions: readonly string[]): void {
  const user = me.peek()?.id;
  keep(RECENT, questions.length === 0 || user === undefined ? null : JSON.stringify({ user, questions }));
  turn.value += 1;
}

/** The stored value may belong to another user or version. */
function read(): readonly string[] {
  try {
    const { user, questions } = JSON.parse(kept(RECENT) ?? "") as { user?: unknown; questions?: unknown };
    if (user !== me.value?.id || !Array.isArray(questions)) return [];
    return questions.filter((each): each is string => typeof each === "string");
  } catch {
    return [];
  }
}
