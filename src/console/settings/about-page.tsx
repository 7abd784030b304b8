// Version and components of netledger, each with its licence and licence text, available offline.

import { useState } from "preact/hooks";
import { useAnswer } from "../api/answer.ts";
import { type DataOf, read } from "../api/client.ts";
import { Fact } from "../parts/facts.tsx";
import { Paged } from "../parts/paged.tsx";
import { Problem } from "../parts/problem.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { may } from "../session/me.ts";
import { settingsText } from "../text/settings.ts";
import { SettingsPage } from "./settings-page.tsx";

type Component = DataOf<"/api/v1/licences">["components"][number];

const LICENCES = read("/api/v1/licences");
const VERSION = read("/api/version");

export function AboutPage() {
  const version = useAnswer(VERSION);
  const licences = useAnswer(may("getLicences") ? LICENCES : null);
  return (
    <SettingsPage title={settingsText.tabs.about} operation="getLicences" reads={[VERSION.url, LICENCES.url]}>
      <section class="part">
        <h2>Program</h2>
        {version.problem !== undefined && <Problem problem={version.problem} again={version.again} />}
        <dl class="facts">
          <Fact name="Version">{version.data?.version}</Fact>
          <Fact name="Schema of the data">{version.data?.schema_version}</Fact>
          <Fact name="API">{version.data?.api_version}</Fact>
          <Fact name="More">
            <a href="/handbook/changes">Changes by version</a> ·{" "}
            <a href="/handbook/dependencies">What it is made of, and why</a>
          </Fact>
        </dl>
      </section>
      <section class="part">
        <h2>Licences</h2>
        <p class="prose">
          Everything that is in the program, with the text of its licence. The same as a bill of materials for other
          programs:{" "}
          <a href="/api/v1/bill-of-materials" download="">
            Bill of materials (CycloneDX)
          </a>
        </p>
        {licences.problem !== undefined && <Problem problem={licences.problem} again={licences.again} />}
        {licences.data === undefined && licences.problem === undefined && <Waiting />}
        {licences.data !== undefined && <Components all={licences.data.components} />}
      </section>
    </SettingsPage>
  );
}

function Components({ all }: { readonly all: readonly Component[] }) {
  return (
    <Paged rows={all} title="Licences" textOf={({ name, version, licence }) => `${name} ${version} ${licence ?? ""}`}>
      {(rows) => (
        <ul class="licences">
          {rows.map((component) => (
            <li key={`${component.name} ${component.version}`}>
              <Licence {...component} />
            </li>
          ))}
        </ul>
      )}
    </Paged>
  );
}

const PARTS: Readonly<Record<string, string>> = { server: "server", console: "console", runtime: "runtime" };

/** Renders the licence texts only when opened, since they are long. */
function Licence({ name, version, licence, part_of, texts }: Component) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        <bdi>{name}</bdi> <span class="aside">{version}</span>{" "}
        <span class="licence-id">{licence ?? "several licences: see its source"}</span>{" "}
        <span class="aside">{part_of.map((part) => PARTS[part]).join(", ")}</span>
      </summary>
      {isOpen && texts.length === 0 && <p class="aside">It brings no text of its own.</p>}
      {isOpen &&
        texts.map(({ title, text, is_standard }) => (
          <div key={title}>
            <p class="aside">
              {is_standard ? "It brings no text of its own. This is the standard text of its licence." : title}
            </p>
            {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be focusable */}
            <pre class="licence-text" tabIndex={0}>
              {text}
            </pre>
          </div>
        ))}
    </details>
  );
}
