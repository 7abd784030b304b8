// Version and components of netledger, each with its licence and licence text, available offline.

import { useState } from "preact/hooks";
import { useAnswer } from "../api/answer.ts";
import { type DataOf, read } from "../api/client.ts";
import { Fact } from "../parts/facts.tsx";
import { Paged } from "../parts/paged.tsx";
import { Problem } from "../parts/problem.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { may } from "../session/me.ts";
import { aboutText } from "../text/appliance.ts";
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
        <h2>{aboutText.program}</h2>
        {version.problem !== undefined && <Problem problem={version.problem} again={version.again} />}
        <dl class="facts">
          <Fact name={aboutText.version}>{version.data?.version}</Fact>
          <Fact name={aboutText.schema}>{version.data?.schema_version}</Fact>
          <Fact name={aboutText.api}>{version.data?.api_version}</Fact>
          <Fact name={aboutText.readMore}>
            <a href="/handbook/changes">{aboutText.changes}</a> ·{" "}
            <a href="/handbook/dependencies">{aboutText.dependencies}</a>
          </Fact>
        </dl>
      </section>
      <section class="part">
        <h2>{aboutText.licences}</h2>
        <p class="prose">
          {aboutText.licencesSay}{" "}
          <a href="/api/v1/bill-of-materials" download="">
            {aboutText.download}
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
    <Paged
      rows={all}
      title={aboutText.licences}
      textOf={({ name, version, licence }) => `${name} ${version} ${licence ?? ""}`}
    >
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

/** Renders the licence texts only when opened, since they are long. */
function Licence({ name, version, licence, part_of, texts }: Component) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        <bdi>{name}</bdi> <span class="aside">{version}</span>{" "}
        <span class="licence-id">{licence ?? aboutText.several}</span>{" "}
        <span class="aside">{part_of.map((part) => aboutText.parts[part]).join(", ")}</span>
      </summary>
      {isOpen && texts.length === 0 && <p class="aside">{aboutText.noText}</p>}
      {isOpen &&
        texts.map(({ title, text, is_standard }) => (
          <div key={title}>
            <p class="aside">{is_standard ? aboutText.standard : title}</p>
            {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be focusable */}
            <pre class="licence-text" tabIndex={0}>
              {text}
            </pre>
          </div>
        ))}
    </details>
  );
}
