// Readable name of a session's User-Agent: browser and operating system. Pure.

/** Most specific first: nearly all contain Mozilla, and many contain Safari. */
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

/** @returns `Firefox 128 on Linux`; the raw header if unrecognized, which can be any text */
export function browserName(userAgent: string | null): string {
  if (userAgent === null || userAgent === "") return "unknown";
  for (const [pattern, name] of PROGRAMS) {
    const version = pattern.exec(userAgent)?.[1];
    if (version === undefined) continue;
    const [, system] = SYSTEMS.find(([systemPattern]) => systemPattern.test(userAgent)) ?? [];
    const program = `${name} ${version}`;
    return system === undefined ? program : `${program} on ${system}`;
  }
  return userAgent;
}
