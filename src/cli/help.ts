// Help of the program and of each command, rendered from the command forms and the table of settings.

import { EXIT } from "./command.ts";
import { type Form, OPTIONS, type Option, variableOf } from "./config.ts";

/** All commands, handbook pages and exit statuses. */
export function helpOverview(
  forms: readonly Form[],
  topics: readonly { readonly topic: string; readonly summary: string }[],
): string {
  const width = Math.max(...forms.map((form) => form.name.length), ...topics.map(({ topic }) => topic.length));
  return [
    "netledger: a network inventory with full history.",
    "",
    "usage: netledger COMMAND [--flag VALUE …]",
    "",
    ...forms.map((form) => `  ${form.name.padEnd(width)}  ${form.summary}`),
    "",
    "netledger COMMAND --help lists a command's settings. Each is a flag or an environment variable; the flag wins.",
    "",
    "netledger help TOPIC prints a page of the handbook:",
    "",
    ...topics.map(({ topic, summary }) => `  ${topic.padEnd(width)}  ${summary.replaceAll("`", "")}`),
    "",
    "Exit status:",
    `  ${EXIT.done}  done`,
    `  ${EXIT.failed}  failed, or the data is from before version 0.2.0; the message says why`,
    `  ${EXIT.usage}  the command line or a variable is wrong`,
    `  ${EXIT.dataRefused}  the data is in use, damaged, from a newer version, without its key, or the clock is wrong`,
    `  ${EXIT.notListening}  it cannot listen on the address`,
    "",
  ].join("\n");
}

/** One command, or several with a common first word. */
export function helpOf(forms: readonly Form[]): string {
  return forms.map(commandHelp).join("\n");
}

function commandHelp(form: Form): string {
  const always: readonly Option<unknown>[] = form.always.map((name) => OPTIONS[name]);
  const options: readonly Option<unknown>[] = [...always, ...form.maybe.map((name) => OPTIONS[name])];
  const operand: Option<unknown> | null = form.operand === undefined ? null : OPTIONS[form.operand];
  const required = always.filter((option) => option.fallback === null);
  const usage = [
    "usage: netledger",
    form.name,
    ...required.map((option) => (option === operand ? `${option.value}` : `--${option.flag} ${option.value}`)),
    ...(options.length > required.length ? ["[--flag VALUE …]"] : []),
  ];
  const rows = options.map((option) => ({
    flag: option.isSecret
      ? "(variable)"
      : option === operand
        ? `${option.value}`
        : `--${option.flag}${option.value === null ? "" : ` ${option.value}`}`,
    variable: variableOf(option.flag),
    meaning: `${option.meaning}${suffix(option, required.includes(option))}`,
  }));
  const flagWidth = Math.max(0, ...rows.map((row) => row.flag.length));
  return [
    `netledger ${form.name}: ${form.summary}`,
    "",
    usage.join(" "),
    ...(rows.length > 0 ? [""] : []),
    ...rows.flatMap((row) => [`  ${row.flag.padEnd(flagWidth)}  ${row.variable}`, `      ${row.meaning}`]),
    "",
  ].join("\n");
}

function suffix(option: Option<unknown>, isRequired: boolean): string {
  if (isRequired) return " Required.";
  return option.fallback === null || option.value === null ? "" : ` Default: ${option.fallback}.`;
}
