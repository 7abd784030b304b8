// What a session's User-Agent is called by people: the program and the system that it names. Plain functions.

import { accountText } from "../text/account.ts";

/** The particular before the general: nearly all say that they are Mozilla, and many that they are Safari. */
const PROGRAMS = [
  [/\bEdg(?:e|A|iOS)?\/(\d+)/, "Edge"],
  [/\bOPR\/(\d+)/, "Opera"],
  [/\b(?:Firefox|FxiOS)\/(\d+)/, "Firefox"],
  [/\b(?:HeadlessChrome|Chromium|Chrome|CriOS)\/(\d+)/, "Chrome"],
  [/\bVersion\/(\d+)\S* (?:Mobile\/\S+ )?Safari\//, "Safari"],
] as const;

const SYSTEMS = [
  [/\bAndroid\b/, "Android"],
  [/\b(?:iPhone|iPad|iPod)\b/, "iOS"],
  [/\bWindows\b/, "Windows"],
  [/\bMac OS X\b/, "macOS"],
  [/\bCrOS\b/, "ChromeOS"],
  [/\bLinux\b/, "Linux"],
] as const;

/** @returns `Firefox 128 on Linux`; what it said itself where that is not known, which may be anything */
export function browserName(userAgent: string | null): string {
  if (userAgent === null || userAgent === "") return accountText.unknown;
  for (const [pattern, name] of PROGRAMS) {
    const version = pattern.exec(userAgent)?.[1];
    if (version === undefined) continue;
    const [, system] = SYSTEMS.find(([each]) => each.test(userAgent)) ?? [];
    const program = `${name} ${version}`;
    return system === undefined ? program : accountText.on(program, system);
  }
  return userAgent;
}
